package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"mergesafe/merge/progress"
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
	Events []progress.Event `json:"events"`
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
	answer := Events{Events: append([]progress.Event{}, list...), Next: after, More: len(list) >= int(limit)}
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

// wish is the body of a request that asks for an action.
type wish struct {
	Merge string `json:"merge"` // to skip
}

// action lets an operator who has the token do something.
func (h *Handler) action(do func(ctx context.Context, merge string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h.cross.Check(r); err != nil {
			refuse(w, http.StatusForbidden, "this request comes from the page of another site")
			return
		}
		if !h.mayAct(r) {
			w.Header().Set("WWW-Authenticate", "Bearer") // a browser does not ask for that by itself
			refuse(w, http.StatusUnauthorized, "the token is missing or wrong: want Authorization: Bearer TOKEN")
			return
		}
		var want wish
		body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		body.DisallowUnknownFields()
		if err := body.Decode(&want); err != nil && err != io.EOF {
			code := http.StatusBadRequest
			if _, is := errors.AsType[*http.MaxBytesError](err); is {
				code = http.StatusRequestEntityTooLarge
			}
			refuse(w, code, `want {"merge": "NAME"} or no body: `+trim(err))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		if err := do(ctx, want.Merge); err != nil {
			refuse(w, http.StatusConflict, trim(err))
			return
		}
		h.feed.refresh()
		w.WriteHeader(http.StatusNoContent)
	}
}
