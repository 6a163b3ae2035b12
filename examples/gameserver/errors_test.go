package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/numbers"
)

func TestProblemOf(t *testing.T) {
	const again, look = "nothing was changed: try again", "the change may have been made"
	cause := errors.New("dial tcp 10.0.0.5:3306")
	for _, tt := range []struct {
		err    error
		status int
		detail string // part of it
	}{
		{&entity.FieldError{Entity: "player", Field: "name", Reason: "is missing"}, 400, "name is missing"},
		{newProblem(404, "id", "there is no such thing"), 404, "there is no such thing"},
		{&gameid.ExhaustedError{Server: 1, Cause: cause}, 503, again},
		{&gameid.LostError{Server: 1}, 503, again},
		{gameid.ErrClosed, 503, again},
		{&numbers.Error{Sequence: "player", Err: fmt.Errorf("%w: %w", store.ErrUnavailable, cause)}, 503, again},
		{&numbers.Error{Sequence: "player", Err: store.ErrOutcomeUnknown}, 503, again}, // unknown is which numbers are lost
		{fmt.Errorf("%w: %w", store.ErrUnavailable, cause), 503, again},
		{fmt.Errorf("%w: %w", store.ErrRetryable, cause), 503, again},
		{context.DeadlineExceeded, 503, again},
		// Never "nothing was changed" when that is not known.
		{fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, store.ErrUnavailable), 503, look},
		{fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, context.DeadlineExceeded), 503, look},
		{&store.DuplicateError{Table: "players", Key: "PRIMARY"}, 500, "it was logged"},
		{store.ErrInvalid, 500, "it was logged"},
		{cause, 500, "it was logged"},
	} {
		out := httptest.NewRecorder()
		p := problemOf(fmt.Errorf("wrapped: %w", tt.err))
		p.write(out)
		if out.Code != tt.status || !strings.Contains(p.Detail, tt.detail) {
			t.Errorf("%v: %d %s, want %d with %q", tt.err, out.Code, out.Body, tt.status, tt.detail)
		}
		if retry := out.Header().Get("Retry-After"); (retry != "") != (tt.status == 503) {
			t.Errorf("%v: Retry-After is %q", tt.err, retry)
		}
		if strings.Contains(out.Body.String(), "10.0.0.5") {
			t.Errorf("%v: the client learns the cause: %s", tt.err, out.Body)
		}
	}
}

// Only the key that was meant is the client's doing. An ID that is there
// already would be a bug, and must not pass for a taken name.
func TestConflict(t *testing.T) {
	taken := newProblem(409, "name", "taken")
	for _, tt := range []struct {
		table, key string
		taken      bool
	}{{"players", "name", true}, {"players", "PRIMARY", false}, {"guilds", "name", false}} {
		err := error(&store.DuplicateError{Table: tt.table, Key: tt.key})
		if got := conflict(fmt.Errorf("wrapped: %w", err), "players", "name", taken); (got == taken) != tt.taken {
			t.Errorf("%s.%s: %v", tt.table, tt.key, got)
		}
	}
}
