package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"mergesafe/gameid"
	"mergesafe/gameid/metrics"
)

const (
	maxCount = 10_000 // IDs in one answer
	maxBody  = 1 << 10
)

// server answers the requests.
type server struct {
	*http.ServeMux
	node  *gameid.Node
	ids   *gameid.Generator[any]    // one for all kinds: no two IDs of a node are the same
	kinds map[string]*atomic.Uint64 // how many IDs of a kind were given out
}

// newServer returns a server that gives out IDs of these kinds.
func newServer(node *gameid.Node, kinds []string) *server {
	s := &server{ServeMux: http.NewServeMux(), node: node, ids: gameid.NewGenerator[any](node)}
	s.kinds = make(map[string]*atomic.Uint64)
	for _, kind := range kinds {
		s.kinds[kind] = new(atomic.Uint64)
	}
	s.HandleFunc("POST /ids/{kind}", s.mint)
	s.HandleFunc("GET /healthz", s.health)
	s.HandleFunc("GET /metrics", s.metrics)
	return s
}

// countWord is in the body of a form, or in JSON, that says a count.
var countWord = regexp.MustCompile(`\bcount\b`)

// mint answers POST /ids/{kind}.
func (s *server) mint(w http.ResponseWriter, r *http.Request) {
	kind := r.PathValue("kind")
	given, known := s.kinds[kind]
	if !known {
		refuse(w, r, http.StatusNotFound, "the kind %.40q is not given out here: want one of %s", kind,
			strings.Join(slices.Sorted(maps.Keys(s.kinds)), ", "))
		return
	}
	count, err := countOf(r)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "%v", err)
		return
	}
	// Clients may send a body always. It means nothing, so it must not say how many they want.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch {
	case err != nil:
		refuse(w, r, http.StatusRequestEntityTooLarge, "the body has more than %d bytes or is incomplete: want none", maxBody)
		return
	case r.URL.RawQuery == "" && countWord.Match(body):
		refuse(w, r, http.StatusBadRequest, "count is in the body: want it in the address, /ids/%s?count=N", kind)
		return
	}
	ids := make([]gameid.Of[any], count)
	if err := s.ids.Fill(ids); err != nil {
		s.unavailable(w, r, err)
		return
	}
	given.Add(uint64(count))
	answer(w, r, http.StatusOK, "ids", ids)
}

func countOf(r *http.Request) (int, error) {
	if r.URL.RawQuery == "" {
		return 1, nil
	}
	query := r.URL.Query()
	if len(query) != 1 || len(query["count"]) != 1 {
		return 0, errors.New("want no parameter but count, and that once")
	}
	given := query.Get("count")
	count, err := strconv.Atoi(given)
	if err != nil || count < 1 || count > maxCount {
		return 0, fmt.Errorf("count is %.40q: want 1 to %d", given, maxCount)
	}
	return count, nil
}

// unavailable is the answer if the node gives no IDs. The reason may name hosts,
// which game servers of the same world may know; it never has a password.
func (s *server) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if s.node.Err() == nil { // it may recover
		w.Header().Set("Retry-After", "1")
	}
	refuse(w, r, http.StatusServiceUnavailable, "%v", err)
}

// health answers GET /healthz: 200 if the node has its lease and time left to
// make IDs of, else 503 with the reason.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	stats := s.node.Stats()
	err := cmp.Or(s.node.Err(), metrics.Health(stats))
	if err != nil {
		refuse(w, r, http.StatusServiceUnavailable, "%v", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"status": "ok", "server": stats.Server, "lease": stats.Lease})
}

// metrics answers GET /metrics in the text format of Prometheus.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	stats := s.node.Stats()
	stats.Minted = make(map[string]uint64)
	for kind, given := range s.kinds {
		stats.Minted[kind] = given.Load()
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	metrics.WriteText(w, stats)
}

// answer sends v as text, if the client asks for that, or as a member of a JSON object.
// It sends the length, so that a client can recognise an answer that was cut off.
func answer(w http.ResponseWriter, r *http.Request, status int, member string, v any) {
	var body []byte
	contentType := "text/plain; charset=utf-8"
	if ids, are := v.([]gameid.Of[any]); !strings.HasPrefix(strings.ToLower(r.Header.Get("Accept")), "text/plain") {
		contentType = "application/json"
		body, _ = json.Marshal(map[string]any{member: v}) // valid IDs and texts, so there is no error
		body = append(body, '\n')
	} else if are {
		body = make([]byte, 0, 21*len(ids))
		for _, id := range ids {
			body, _ = id.AppendText(body)
			body = append(body, '\n')
		}
	} else {
		body = fmt.Appendln(nil, v)
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // whether the client takes it is the client's business
}

func refuse(w http.ResponseWriter, r *http.Request, status int, format string, args ...any) {
	answer(w, r, status, "error", fmt.Sprintf(format, args...))
}
