package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/numbers"
)

// problem is an error as the client sees it, in the form of RFC 9457.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`

	// Field names what in the request is wrong, if it is one thing: a field of
	// the body such as "items[2].count", or the "id" of the path.
	Field string `json:"field,omitempty"`
}

func newProblem(status int, field, format string, args ...any) *problem {
	return &problem{Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, args...), Field: field}
}

func (p *problem) Error() string { return p.Detail }

func (p *problem) write(w http.ResponseWriter) {
	if p.Status == http.StatusServiceUnavailable && p != errNoKey {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, "application/problem+json", p.Status, p) // plain strings: no error
}

// problemOf decides what the client gets to know of an error. What it does not
// know is an internal error, of which the client learns no more.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*entity.FieldError](err); ok {
		return newProblem(http.StatusBadRequest, e.Field, "%s %s", e.Field, e.Reason)
	}
	if _, ok := errors.AsType[*numbers.Error](err); ok { // whatever its cause: no player was made yet
		return newProblem(http.StatusServiceUnavailable, "", "no player numbers are left for now, and nothing was changed: try again")
	}
	lost, _ := errors.AsType[*gameid.LostError](err)
	exhausted, _ := errors.AsType[*gameid.ExhaustedError](err)
	switch {
	case errors.Is(err, store.ErrOutcomeUnknown):
		return newProblem(http.StatusServiceUnavailable, "", "the database did not answer; the change may have been made: look before you send it again")
	case lost != nil, exhausted != nil, errors.Is(err, gameid.ErrClosed):
		return newProblem(http.StatusServiceUnavailable, "", "no new IDs can be made now, and nothing was changed: try again")
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrRetryable):
		return newProblem(http.StatusServiceUnavailable, "", "the database is not available, and nothing was changed: try again")
	case errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusServiceUnavailable, "", "it took longer than %s, and nothing was changed: try again", requestTimeout)
	}
	return newProblem(http.StatusInternalServerError, "", "an error in the server; it was logged")
}

// conflict turns the duplicate of one unique key into an answer to the client,
// and leaves every other error as it is.
func conflict(err error, table, key string, p *problem) error {
	if d, ok := errors.AsType[*store.DuplicateError](err); ok && d.Table == table && d.Key == key {
		return p
	}
	return err
}

// problemWriter gives the errors of http.ServeMux (404, 405) the form of all
// others. Redirects pass.
type problemWriter struct {
	http.ResponseWriter
	request *http.Request
	failed  bool
}

func (w *problemWriter) WriteHeader(status int) {
	switch {
	case status == http.StatusMethodNotAllowed:
		w.fail(newProblem(status, "", "%s is not allowed here, want %s", w.request.Method, w.Header().Get("Allow")))
	case status >= 400:
		w.fail(newProblem(status, "", "there is nothing at %s", w.request.URL.EscapedPath()))
	default:
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *problemWriter) fail(p *problem) {
	w.failed = true
	p.write(w.ResponseWriter)
}

func (w *problemWriter) Write(b []byte) (int, error) {
	if w.failed {
		return len(b), nil // the text that ours replaces
	}
	return w.ResponseWriter.Write(b)
}
