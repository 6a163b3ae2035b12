package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mergesafe/gameid"
)

const (
	maxCount       = 10_000 // IDs in one answer
	maxBody        = 1 << 10
	mintTimeout    = 2 * time.Second // for a node that waits for the clock or the registry
	requestTimeout = 5 * time.Second
)

// server answers the requests.
type server struct {
	node   *gameid.Node
	ids    *gameid.Generator[any] // one for all kinds: the node keeps their IDs apart anyway
	kinds  map[string]*atomic.Uint64
	names  []string // of the kinds, in the order of the command line
	failed atomic.Uint64
	// failing tells that the last IDs that were asked for could not be made, which is
	// said in the log once.
	failing atomic.Bool
	log     *slog.Logger
	mux     *http.ServeMux
	rooms   sync.Pool
}

// room is where one answer is made.
type room struct {
	ids  []gameid.Of[any]
	body []byte
}

func newServer(node *gameid.Node, kinds []string, log *slog.Logger) *server {
	s := &server{node: node, ids: gameid.NewGenerator[any](node), kinds: make(map[string]*atomic.Uint64), names: kinds, log: log, mux: http.NewServeMux()}
	for _, kind := range kinds {
		s.kinds[kind] = new(atomic.Uint64)
	}
	s.rooms.New = func() any { return new(room) }
	s.mux.HandleFunc("POST /ids/{kind}", s.mint)
	s.mux.HandleFunc("GET /healthz", s.health)
	s.mux.HandleFunc("GET /metrics", s.metrics)
	return s
}

// ServeHTTP answers a request. A path or a method that is not known gets an error in the form of
// all others, JSON unless the client prefers text.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	plain := &discarded{header: w.Header()}
	handler.ServeHTTP(plain, r) // which sets Allow
	if plain.status == http.StatusMethodNotAllowed {
		s.refuse(w, r, plain.status, "%s is not allowed here: want %s", r.Method, w.Header().Get("Allow"))
		return
	}
	s.refuse(w, r, http.StatusNotFound, "there is no %.80q here: want /ids/{kind}, /healthz or /metrics", r.URL.Path)
}

// discarded takes an answer of which only the status and the header are wanted.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) WriteHeader(status int)      { d.status = status }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }

// mint answers POST /ids/{kind}.
func (s *server) mint(w http.ResponseWriter, r *http.Request) {
	counter, known := s.kinds[r.PathValue("kind")]
	if !known {
		s.refuse(w, r, http.StatusNotFound, "the kind %.40q is not given out here: want one of %s", r.PathValue("kind"), strings.Join(s.names, ", "))
		return
	}
	count, err := countOf(r)
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, "%v", err)
		return
	}
	// A body means nothing, but clients that always send one are fine, unless they
	// mean it.
	if r.ContentLength != 0 {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			s.refuse(w, r, http.StatusRequestEntityTooLarge, "the body has more than %d bytes or is incomplete: want none", maxBody)
			return
		}
		if r.URL.RawQuery == "" && countWord.Match(body) {
			s.refuse(w, r, http.StatusBadRequest, "count is in the body, which is not read: want it in the address, /ids/%s?count=N", r.PathValue("kind"))
			return
		}
	}
	in := s.rooms.Get().(*room)
	defer s.rooms.Put(in)
	if cap(in.ids) < count {
		in.ids = make([]gameid.Of[any], count)
	}
	ids := in.ids[:count]
	ctx, cancel := context.WithTimeout(r.Context(), mintTimeout)
	defer cancel()
	if err := s.ids.FillContext(ctx, ids); err != nil {
		s.unavailable(w, r, err)
		return
	}
	if s.failing.Load() && s.failing.CompareAndSwap(true, false) {
		s.log.Info("IDs can be made again")
	}
	counter.Add(uint64(count))
	if wantsText(r) {
		in.body = appendText(in.body[:0], ids)
		answer(w, http.StatusOK, "text/plain; charset=utf-8", in.body)
		return
	}
	in.body = appendJSON(in.body[:0], ids)
	answer(w, http.StatusOK, "application/json", in.body)
}

// countWord is in the body of a form, or in JSON, that says a count.
var countWord = regexp.MustCompile(`\bcount\b`)

func countOf(r *http.Request) (int, error) {
	if r.URL.RawQuery == "" {
		return 1, nil
	}
	query := r.URL.Query()
	given := query["count"]
	if len(query) != 1 || len(given) != 1 {
		return 0, errors.New("want no parameter but count, and that once")
	}
	count, err := strconv.Atoi(given[0])
	if err != nil || count < 1 || count > maxCount {
		return 0, fmt.Errorf("count is %.40q: want 1 to %d", given[0], maxCount)
	}
	return count, nil
}

// A valid ID always has a text.

func appendText(b []byte, ids []gameid.Of[any]) []byte {
	for _, id := range ids {
		b, _ = id.AppendText(b)
		b = append(b, '\n')
	}
	return b
}

func appendJSON(b []byte, ids []gameid.Of[any]) []byte {
	b = append(b, `{"ids":[`...)
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b, _ = id.AppendText(b)
		b = append(b, '"')
	}
	return append(b, "]}\n"...)
}

// wantsText reports whether a client prefers text/plain to JSON. Between equals JSON is the
// answer.
func wantsText(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return quality(accept, "text", "plain") > quality(accept, "application", "json")
}

// quality is how much a client wants a type, from 0 to 1. The most specific range that matches
// counts: the type itself, then text/*, then */*.
func quality(accept, major, minor string) float64 {
	best, q := 0, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		rank := map[string]int{"*/*": 1, major + "/*": 2, major + "/" + minor: 3}[name]
		if rank <= best {
			continue
		}
		best, q = rank, 1
		if given, has := parameters["q"]; has {
			if q, err = strconv.ParseFloat(given, 64); err != nil {
				q = 0
			}
		}
	}
	return q
}

// unavailable is the answer if the node gives no IDs. The reason may name hosts,
// which game servers of the same world may know; it never has a password.
func (s *server) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no IDs could be made within %s", mintTimeout)
		stats := s.node.Stats()
		if why := s.reason(stats); why != nil {
			err = fmt.Errorf("%w: %w", err, why)
		} else if stats.Left <= 0 {
			err = fmt.Errorf("%w: the database has not answered yet", err)
		}
	}
	if s.node.Err() == nil { // it may recover
		w.Header().Set("Retry-After", "1")
		if r.Context().Err() == nil && s.failing.CompareAndSwap(false, true) {
			s.log.Warn("no IDs can be made now", "err", err)
		}
	}
	s.refuse(w, r, http.StatusServiceUnavailable, "%v", err)
}

func (s *server) refuse(w http.ResponseWriter, r *http.Request, status int, format string, args ...any) {
	s.failed.Add(1)
	reason := fmt.Sprintf(format, args...)
	if wantsText(r) {
		answer(w, status, "text/plain; charset=utf-8", []byte(reason+"\n"))
		return
	}
	answerJSON(w, status, map[string]string{"error": reason})
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	answer(w, status, "application/json", append(body, '\n'))
}

// answer sends a body with its length, so that a client can tell one that was cut off.
func answer(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // whether the client takes it is the client's business
}
