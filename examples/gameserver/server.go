package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	nodemetrics "mergesafe/gameid/metrics"
	"mergesafe/store"
	"mergesafe/store/numbers"
)

const (
	maxBody        = 64 << 10 // bytes of a request's body
	maxLoot        = 1000     // items in one call
	requestTimeout = 10 * time.Second
	healthTimeout  = time.Second
)

// server answers the requests of one world.
type server struct {
	db      *store.DB
	node    *gameid.Node
	players *gameid.Generator[entity.Player]
	items   *gameid.Generator[entity.Item]
	guilds  *gameid.Generator[entity.Guild]
	numbers *numbers.Sequence
	public  *publicIDs // nil without a key: then nothing is served to players
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	mux     *http.ServeMux
}

// newServer returns the server of a world. Without keys, public is nil.
func newServer(db *store.DB, node *gameid.Node, numbers *numbers.Sequence, public *publicIDs, name string, now func() time.Time, log *slog.Logger) *server {
	s := &server{
		db:      db,
		node:    node,
		players: gameid.NewGenerator[entity.Player](node),
		items:   gameid.NewGenerator[entity.Item](node),
		guilds:  gameid.NewGenerator[entity.Guild](node),
		numbers: numbers,
		public:  public,
		now:     now,
		log:     log,
		metrics: newMetrics(db, node, public, name),
		mux:     http.NewServeMux(),
	}
	s.metrics.registry.MustRegister(collector(func() []nodemetrics.Metric { return numbersMetrics(numbers.Stats()) }))
	for pattern, answer := range map[string]endpoint{
		"POST /players":             s.createPlayer,
		"GET /players":              s.findPlayer,
		"GET /players/{id}":         s.player,
		"POST /players/{id}/items":  s.giveLoot,
		"POST /guilds":              s.foundGuild,
		"GET /guilds/{id}":          s.guild,
		"POST /guilds/{id}/members": s.joinGuild,
	} {
		s.mux.HandleFunc(pattern, s.serve(s.withPublicIDs(answer)))
	}
	// What follows is for operators.
	s.mux.HandleFunc("GET /healthz", s.serve(s.health))
	s.mux.Handle("GET /metrics", s.metrics.handler())
	return s
}

// endpoint answers one kind of request. It writes nothing itself, so that
// whatever goes wrong in it can still be told to the client.
type endpoint func(r *http.Request) (reply, error)

// reply is the answer to a request that succeeded.
type reply struct {
	status   int
	location string // of what was made, if something was
	body     any    // becomes JSON
}

// withPublicIDs refuses what is for players while there is no key: it could be
// answered only with real IDs.
func (s *server) withPublicIDs(answer endpoint) endpoint {
	return func(r *http.Request) (reply, error) {
		if s.public == nil {
			return reply{}, errNoKey
		}
		return answer(r)
	}
}

func (s *server) serve(answer endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		out, err := answer(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if out.location != "" {
			w.Header().Set("Location", out.location)
		}
		if err := writeJSON(w, "application/json", out.status, out.body); err != nil {
			s.fail(w, r, err)
		}
	}
}

// fail tells the client what went wrong, and the log if it is our fault.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	switch {
	case p == errNoKey: // it was said at the start
	case r.Context().Err() == context.Canceled:
		// The client is gone: nobody hears us, and nothing of ours is wrong.
		s.log.Debug("client gone", "method", r.Method, "path", r.URL.Path, "err", err)
	case p.Status == http.StatusServiceUnavailable:
		s.log.Warn("unavailable", "method", r.Method, "path", r.URL.Path, "err", err)
	case p.Status >= 500:
		s.log.Error("internal error", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	p.write(w)
}

// ServeHTTP bounds, counts and logs each request, and answers what fits no
// endpoint.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	started := time.Now()
	out := &recorder{ResponseWriter: w}
	s.metrics.inFlight.Inc()
	defer func() {
		s.metrics.inFlight.Dec()
		abort := s.recovered(out, r, recover())
		took := time.Since(started)
		s.metrics.observe(r, out.status, took)
		s.log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", out.status, "took", took)
		if abort {
			panic(http.ErrAbortHandler)
		}
	}()
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.mux.ServeHTTP(&problemWriter{ResponseWriter: out, request: r}, r)
		return
	}
	s.mux.ServeHTTP(out, r)
}

// recovered deals with a panic in a handler: it ends the request, not the
// other players' games, and is logged with its stack. It reports whether the
// connection has to be cut, because half an answer was written.
func (s *server) recovered(out *recorder, r *http.Request, cause any) (abort bool) {
	if cause == nil {
		return false
	}
	if cause == http.ErrAbortHandler {
		return true
	}
	s.metrics.panics.Inc()
	s.log.Error("panic", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	if out.status != 0 {
		return true
	}
	problemOf(nil).write(out)
	return false
}

// recorder remembers the status of an answer: 0 as long as there is none.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(b)
}

func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
