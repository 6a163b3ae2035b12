package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"mergesafe/merge/campaign"
)

// The limits of requests.
const (
	maxBody   = 4 << 10
	maxEvents = 1000
)

func writeJSON(w http.ResponseWriter, code int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		code, b = http.StatusInternalServerError, *bytes.NewBufferString(`{"error": "the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(b.Bytes())
}

// state is the newest view, or the answer was given that there is none.
func (h *Handler) state(w http.ResponseWriter, r *http.Request) *view {
	v, err := h.feed.view(r.Context())
	if err == nil {
		err = v.Err
	}
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "the state of the campaign cannot be read: "+trim(err))
		return nil
	}
	return v
}

func (h *Handler) status(w http.ResponseWriter, r *http.Request) {
	if v := h.state(w, r); v != nil {
		writeJSON(w, http.StatusOK, v.Status)
	}
}

// Events is the answer of /api/events.
type Events struct {
	Events []campaign.Event `json:"events"`
	Next   int64            `json:"next"` // for after= of the next request
	More   bool             `json:"more"` // there may be more already
}

func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	after, err1 := number(r, "after", 0)
	limit, err2 := number(r, "limit", 100)
	if errors.Join(err1, err2) != nil || after < 0 || limit < 1 || limit > maxEvents {
		refuse(w, http.StatusBadRequest, "want after=N, the number of the last event that you have, and limit=N of 1 to "+strconv.Itoa(maxEvents))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	list, err := h.feed.source.Events(ctx, after, int(limit))
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "the events of the campaign cannot be read: "+trim(err))
		return
	}
	answer := Events{Events: append([]campaign.Event{}, list...), Next: after, More: len(list) >= int(limit)}
	if len(list) > 0 {
		answer.Next = list[len(list)-1].Number
	}
	writeJSON(w, http.StatusOK, answer)
}

func number(r *http.Request, name string, otherwise int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// errWish is a request that names a merge to what is of the whole campaign, or none to what is of one.
type errWish string

func (e errWish) Error() string { return string(e) }

// whole is an action on the whole campaign.
func whole(do func(context.Context) error) func(context.Context, string) error {
	return func(ctx context.Context, merge string) error {
		if merge != "" {
			return errWish("this is for the whole campaign, not for one merge: want no body")
		}
		return do(ctx)
	}
}

// one is an action on one merge.
func one(do func(context.Context, string) error) func(context.Context, string) error {
	return func(ctx context.Context, merge string) error {
		if merge == "" {
			return errWish(`want the merge: {"merge": "NAME"}`)
		}
		return do(ctx, merge)
	}
}

// action lets an operator who has the token do something.
func (h *Handler) action(do func(ctx context.Context, merge string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h.cross.Check(r); err != nil {
			refuse(w, http.StatusForbidden, "this request comes from a page of another site")
			return
		}
		if !h.mayAct(r) {
			w.Header().Set("WWW-Authenticate", "Bearer") // a browser does not ask for that by itself
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong: want Authorization: Bearer TOKEN")
			return
		}
		merge, err := wanted(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			code := http.StatusBadRequest
			if _, is := errors.AsType[*http.MaxBytesError](err); is {
				code = http.StatusRequestEntityTooLarge
			}
			refuse(w, code, `want {"merge": "NAME"} or no body: `+trim(err))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		if err := do(ctx, merge); err != nil {
			code := http.StatusConflict
			if _, is := errors.AsType[errWish](err); is {
				code = http.StatusBadRequest
			}
			refuse(w, code, trim(err))
			return
		}
		h.feed.refresh()
		w.WriteHeader(http.StatusNoContent)
	}
}

// wanted reads the merge that the body of a request names, or "" if there is no body.
func wanted(body io.Reader) (merge string, err error) {
	var fields map[string]string // a struct would take its names in any case
	d := json.NewDecoder(body)
	if err := d.Decode(&fields); err != nil && err != io.EOF {
		return "", err
	}
	for name := range fields {
		if name != "merge" {
			return "", fmt.Errorf("unknown field %q", name)
		}
	}
	if _, err := d.Token(); err != io.EOF {
		return "", cmp.Or(err, errors.New("there is more after its value"))
	}
	return fields["merge"], nil
}
