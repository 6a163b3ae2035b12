package answers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// handler is a server on a node whose registry is in memory.
func handler(t *testing.T) (*Server, *gameid.Node) {
	t.Helper()
	node, err := gameid.OpenNode(t.Context(), 7, gameidtest.NewMemory(), gameid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	return New(node, []string{"player", "item"}, slog.New(slog.DiscardHandler)), node
}

func do(s *Server, method, path, accept, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Accept", accept)
	s.ServeHTTP(w, r)
	return w
}

func TestMint(t *testing.T) {
	s, _ := handler(t)
	var last gameid.ID
	for _, c := range []struct {
		path, accept, body, contentType string
		count                           int
	}{
		{"/ids/player", "", "", "application/json", 1},
		{"/ids/player?count=1", "*/*", "", "application/json", 1},
		{"/ids/player", "", "account=5", "application/json", 1},
		{"/ids/item?count=100", "application/json", "{}", "application/json", 100},
		{"/ids/item?count=10000", "", strings.Repeat("x", maxBody), "application/json", 10000},
		{"/ids/player", "text/plain", "", "text/plain; charset=utf-8", 1},
		{"/ids/item?count=1000", "text/plain", "", "text/plain; charset=utf-8", 1000},
	} {
		w := do(s, "POST", c.path, c.accept, c.body)
		ids, err := idsIn(w.Body.String())
		if w.Code != 200 || err != nil || len(ids) != c.count || w.Header().Get("Content-Type") != c.contentType {
			t.Errorf("%s: %d %s, %d IDs, %v", c.path, w.Code, w.Header().Get("Content-Type"), len(ids), err)
		}
		for _, id := range ids {
			if id.Compare(last) <= 0 || id.Server() != 7 {
				t.Fatalf("%s: %s came after %s", c.path, id, last)
			}
			last = id
		}
	}
	metrics := do(s, "GET", "/metrics", "", "").Body.String()
	for _, want := range []string{`gameid_minted_total{kind="player"} 4`, `gameid_minted_total{kind="item"} 11100`,
		`gameid_lease_state{state="held"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %q:\n%s", want, metrics)
		}
	}
	if w := do(s, "GET", "/healthz", "", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"status":"ok"`) {
		t.Errorf("health: %d %s", w.Code, w.Body)
	}
}

func TestRefused(t *testing.T) {
	s, _ := handler(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/ids/guild", "", 404, `the kind \"guild\" is not given out here: want one of item, player`},
		{"POST", "/ids/player?count=0", "", 400, "want 1 to 10000"},
		{"POST", "/ids/player?count=-1", "", 400, "want 1 to 10000"},
		{"POST", "/ids/player?count=10001", "", 400, "want 1 to 10000"},
		{"POST", "/ids/player?count=99999999999999999999", "", 400, "want 1 to 10000"},
		{"POST", "/ids/player?count=", "", 400, "want 1 to 10000"},
		{"POST", "/ids/player?count=1&count=2", "", 400, "want no parameter but count"},
		{"POST", "/ids/player?n=5", "", 400, "want no parameter but count"},
		{"POST", "/ids/player", "count=5", 400, "/ids/player?count=N"},
		{"POST", "/ids/player", "a=1&count=5", 400, "/ids/player?count=N"},
		{"POST", "/ids/player", `{"count": 5}`, 400, "/ids/player?count=N"},
		{"POST", "/ids/player", strings.Repeat("x", maxBody+1), 413, "the body has more than 1024 bytes"},
		{"GET", "/ids/player", "", 405, "Method Not Allowed"},
		{"POST", "/ids/", "", 404, "not found"},
		{"POST", "/", "", 404, "not found"},
	} {
		w := do(s, c.method, c.path, "", c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, w.Code, w.Body, c.status, c.want)
		}
		if ids, _ := idsIn(w.Body.String()); len(ids) > 0 {
			t.Errorf("%s %s gave IDs out", c.method, c.path)
		}
	}
	const want = "the kind \"x\" is not given out here: want one of item, player\n"
	if w := do(s, "POST", "/ids/x", "text/plain", ""); w.Body.String() != want {
		t.Errorf("as text: %q", w.Body)
	}
}

// The answer is text if the client asks for that first.
func TestAccept(t *testing.T) {
	s, _ := handler(t)
	for accept, text := range map[string]bool{
		"":                                  false,
		"*/*":                               false,
		"text/plain":                        true,
		"Text/Plain; charset=utf-8":         true,
		"text/plain, application/json":      true,
		"application/json, text/plain, */*": false,
	} {
		w := do(s, "POST", "/ids/player", accept, "")
		if got := strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain"); w.Code != 200 || got != text {
			t.Errorf("Accept: %q: %d %s", accept, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

// A node that has ended gives nothing out, and the answer says why.
func TestNodeEnded(t *testing.T) {
	s, node := handler(t)
	node.Fail(errors.New("this world also runs elsewhere"))
	for _, accept := range []string{"text/plain", "application/json"} {
		w := do(s, "POST", "/ids/player?count=5", accept, "")
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "this world also runs elsewhere") || w.Header().Get("Retry-After") != "" {
			t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
		}
	}
	w := do(s, "GET", "/healthz", "", "")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "this world also runs elsewhere") {
		t.Errorf("health: %d %s", w.Code, w.Body)
	}
	metrics := do(s, "GET", "/metrics", "", "").Body.String()
	if !strings.Contains(metrics, `gameid_lease_state{state="lost"} 1`) {
		t.Errorf("metrics:\n%s", metrics)
	}
}

// away is a registry that can be out of reach.
type away struct {
	*gameidtest.Memory
	now atomic.Bool
}

func (a *away) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	if a.now.Load() {
		return false, errors.New("the database is away")
	}
	return a.Memory.CompareAndSet(ctx, server, row, c)
}

// Without its database a node comes to the end of what it reserved. Then the answer
// says so, and that it is worth to ask again; and when the database is back, there are
// IDs again.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	registry := &away{Memory: gameidtest.NewMemory()}
	node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) {
		return gameid.OpenNode(t.Context(), 7, registry, o.Options)
	}, 100*time.Millisecond)
	defer node.Close()
	var log bytes.Buffer // the requests come one after another
	s := New(node, []string{"item"}, slog.New(slog.NewTextHandler(&log, nil)))
	do(s, "POST", "/ids/item?count=10", "", "")
	registry.now.Store(true)
	var w *httptest.ResponseRecorder
	storetest.Await(t, "the reservation ends", func() bool {
		w = do(s, "POST", "/ids/item?count=10", "text/plain", "")
		return w.Code != 200
	})
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the database is away") || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := do(s, "GET", "/healthz", "", ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the database is away") {
		t.Errorf("health: %d %s", w.Code, w.Body)
	}
	registry.now.Store(false)
	storetest.Await(t, "IDs again", func() bool {
		return do(s, "POST", "/ids/item?count=10", "text/plain", "").Code == 200
	})
	storetest.Await(t, "healthy again", func() bool { return do(s, "GET", "/healthz", "", "").Code == 200 })
	do(s, "POST", "/ids/item?count=10", "", "")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "no IDs can be made now") || !strings.Contains(lines[0], "the database is away") || !strings.Contains(lines[1], "IDs can be made again") {
		t.Errorf("the log: %q", lines)
	}
}

// idsIn returns the IDs of an answer in either form.
func idsIn(answer string) (ids []gameid.ID, err error) {
	var object struct{ IDs []gameid.ID }
	if strings.HasPrefix(answer, "{") {
		err := json.Unmarshal([]byte(answer), &object)
		return object.IDs, err
	}
	for line := range strings.Lines(answer) {
		id, err := gameid.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil || !strings.HasSuffix(line, "\n") {
			return ids, fmt.Errorf("%.40q is not a line with an ID: %v", line, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
