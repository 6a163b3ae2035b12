package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/gameid/metrics"
	"mergesafe/store"
)

const (
	requestTimeout = 10 * time.Second
	maxBody        = 64 << 10 // bytes
	maxDepth       = 8        // levels of a body cost more memory than its bytes
)

// routes are the requests that the server answers.
func (g *game) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /players", post(g.createPlayer))
	mux.Handle("GET /players/{id}", get(g.player))
	mux.Handle("GET /players", get(g.player)) // ?name= or ?number=
	mux.Handle("POST /items", post(g.giveItems))
	mux.Handle("POST /trades", post(g.trade))
	mux.Handle("POST /guilds", post(g.foundGuild))
	mux.Handle("POST /guild_members", post(g.joinGuild))
	mux.Handle("GET /guilds/{id}/members", get(g.members))
	mux.Handle("GET /healthz", get(g.health))
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", metrics.ContentType)
		metrics.WriteText(w, g.node.Stats())
	})
	return mux
}

func (g *game) health(r *http.Request) (any, error) {
	if err := errors.Join(metrics.Health(g.node.Stats()), g.db.Ping(r.Context())); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return map[string]string{"status": "ok"}, nil
}

// post answers a request whose body is a T.
func post[T any](answer func(ctx context.Context, in T) (any, error)) http.Handler {
	return get(func(r *http.Request) (any, error) {
		in, err := decode[T](r.Body)
		if err != nil {
			return nil, err
		}
		return answer(r.Context(), in)
	})
}

func get(answer func(r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		status := http.StatusOK
		out, err := answer(r.WithContext(ctx))
		if err != nil {
			p := problemOf(err)
			status, out = p.status, map[string]string{"error": p.text}
			if status >= 500 && r.Context().Err() == nil {
				slog.Error("request", "method", r.Method, "path", r.URL.Path, "err", err)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(out)
	})
}

// decode reads a JSON object that has fields of T and no others.
func decode[T any](body io.Reader) (in T, err error) {
	text, err := io.ReadAll(body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return in, &problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody)}
	}
	if err == nil {
		err = exact(json.NewDecoder(bytes.NewReader(text)), 0)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err == nil {
		err = d.Decode(&in)
	}
	if _, end := d.Token(); err == nil && end != io.EOF {
		err = errors.New("it continues after its end")
	}
	if err != nil {
		err = badRequest(fmt.Errorf("the body: %w", err))
	}
	return in, err
}

// exact reads a value and refuses what encoding/json takes: a name in other letters, such as "NAME" or "itemſ", a
// name that comes twice, and any depth.
func exact(d *json.Decoder, depth int) error {
	token, err := d.Token()
	begin, nested := token.(json.Delim)
	if err != nil || !nested {
		return err
	}
	if depth == maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	names := make(map[any]bool)
	for d.More() {
		if begin == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if strings.Trim(name.(string), "abcdefghijklmnopqrstuvwxyz_") != "" || names[name] {
				return fmt.Errorf("field %q is unknown, or comes twice", name)
			}
			names[name] = true
		}
		if err := exact(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token() // its end
	return err
}

// problem is an error that the client is told.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

func badRequest(err error) error { return &problem{http.StatusBadRequest, err.Error()} }

// idIn returns the ID in the path.
func idIn[E any](r *http.Request) (id gameid.Of[E], err error) {
	if id, err = gameid.ParseOf[E](r.PathValue("id")); err != nil {
		err = badRequest(err)
	}
	return id, err
}

// taken is what a key that exists already means to a client. An ID that exists would be a bug, and is not here.
var taken = map[string]string{
	"players.name":          "a player has this name",
	"guilds.name":           "a guild has this name",
	"guild_members.PRIMARY": "the player is in a guild already",
}

// problemOf is what the client is told of an error: never its text, which may have addresses.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*entity.FieldError](err); ok {
		return &problem{http.StatusBadRequest, e.Field + " " + e.Reason}
	}
	if e, ok := errors.AsType[*store.DuplicateError](err); ok && taken[e.Table+"."+e.Key] != "" {
		return &problem{http.StatusConflict, taken[e.Table+"."+e.Key]}
	}
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrForeignKey):
		return &problem{http.StatusNotFound, "there is no such player, item or guild"}
	case errors.Is(err, store.ErrOutcomeUnknown):
		return &problem{http.StatusServiceUnavailable, "the change may have been made: look before you send it again"}
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrRetryable), errors.Is(err, context.DeadlineExceeded):
		return &problem{http.StatusServiceUnavailable, "nothing was changed: try again"}
	}
	return &problem{http.StatusInternalServerError, "an error in the server; it was logged"}
}
