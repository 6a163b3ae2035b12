package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
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
func handler(t *testing.T) (*server, *gameid.Node) {
	t.Helper()
	node, err := gameid.OpenNode(t.Context(), 7, gameidtest.NewMemory(), gameid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	return newServer(node, []string{"player", "item"}), node
}

func do(s *server, method, path, accept, body string) *httptest.ResponseRecorder {
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
		{"/ids/player", "Text/Plain; charset=utf-8", "", "text/plain; charset=utf-8", 1},
		{"/ids/player", "text/plain, application/json", "", "text/plain; charset=utf-8", 1},
		{"/ids/player", "application/json, text/plain, */*", "", "application/json", 1}, // what it asks for first
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
	for _, want := range []string{`gameid_minted_total{kind="player"} 7`, `gameid_minted_total{kind="item"} 11100`,
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
	s := newServer(node, []string{"item"})
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

// The commands in docs/other-languages.md work as they are written, and answer in
// the form that stands below them.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/other-languages.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := handler(t)
	form := func(answer string) string {
		return regexp.MustCompile(`[0-9a-f]{20}`).ReplaceAllString(strings.TrimSpace(answer), "ID")
	}
	ran := 0
	for _, c := range regexp.MustCompile(`(?m)^curl (.*)\n# (.*)$`).FindAllStringSubmatch(string(page), -1) {
		request := httptest.NewRequest("GET", regexp.MustCompile(`http://[^ ']+`).FindString(c[1]), nil)
		if strings.Contains(c[1], "-X POST") {
			request.Method = "POST"
		}
		if strings.Contains(c[1], "-H 'Accept: text/plain'") {
			request.Header.Set("Accept", "text/plain")
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request)
		if w.Code != 200 || form(w.Body.String()) != form(c[2]) {
			t.Errorf("curl %s: %d %s, the page has %s", c[1], w.Code, w.Body, c[2])
		}
		ran++
	}
	// What the programs in other languages ask for.
	for _, url := range regexp.MustCompile(`"(http://[^"]*/ids/[^"]*)"`).FindAllStringSubmatch(string(page), -1) {
		request, w := httptest.NewRequest("POST", url[1], nil), httptest.NewRecorder()
		request.Header.Set("Accept", "text/plain")
		if s.ServeHTTP(w, request); w.Code != 200 || w.Body.Len() != 21*1000 {
			t.Errorf("%s: %d, %d bytes", url[1], w.Code, w.Body.Len())
		}
		ran++
	}
	if ran != 3+5 {
		t.Errorf("%d commands found, want 8", ran)
	}
}

// The program serves at both its addresses. A second one for its world is refused, and leaves the first one's socket
// alone. When another process has taken over the server, the program says so until it is stopped, and ends with an error.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	o := options{gameDSN: "sqlite:" + dir + "/game.db", server: 7, listen: "127.0.0.1:0", socket: dir + "/s", kinds: []string{"item"}}
	left := storetest.First(net.Listen("unix", o.socket)).(*net.UnixListener) // as a process that was killed leaves its own
	left.SetUnlinkOnClose(false)
	left.Close()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	serving, ended := make(chan net.Addr, 2), make(chan error, 1)
	go func() { ended <- run(ctx, o, func(at net.Addr) { serving <- at }) }()
	clients := make(map[string]*http.Client)
	for range 2 {
		select {
		case at := <-serving:
			clients[at.Network()] = clientOf(at)
		case err := <-ended:
			t.Fatal(err)
		}
	}
	if err := run(ctx, o, func(net.Addr) { t.Error("a second process serves") }); err == nil || !strings.Contains(err.Error(), "server 7 is already running") {
		t.Errorf("a second process: %v", err)
	}
	ask := func(network, method, path string) (status int, text string, header http.Header) {
		request := storetest.First(http.NewRequest(method, "http://idserver"+path, nil))
		response, err := clients[network].Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode, string(storetest.First(io.ReadAll(response.Body))), response.Header
	}
	for _, network := range []string{"tcp", "unix"} {
		status, text, _ := ask(network, "POST", "/ids/item")
		if ids, err := idsIn(text); status != 200 || err != nil || len(ids) != 1 || ids[0].Server() != 7 {
			t.Errorf("%s: %d %s", network, status, text)
		}
	}
	if info, err := os.Stat(o.socket); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket: %v, %v", info, err)
	}

	registry := storetest.World(storetest.Open(t, o.gameDSN))
	thief := gameid.Holder{Token: "another", Host: "host-b", PID: 4711, Program: "thief", Since: time.Now()}
	storetest.Await(t, "the lease is taken away", func() bool { // a renewal may come between
		row := storetest.First(registry.Load(t.Context(), 7))
		return storetest.First(registry.CompareAndSet(t.Context(), 7, row, gameid.Claim{Reserved: row.Reserved, Holder: thief, Lease: time.Minute}))
	})
	storetest.Await(t, "the program notices", func() bool {
		status, _, _ := ask("unix", "POST", "/ids/item")
		return status == http.StatusServiceUnavailable
	})
	for method, path := range map[string]string{"POST": "/ids/item", "GET": "/healthz"} {
		status, text, header := ask("tcp", method, path)
		if status != http.StatusServiceUnavailable || !strings.Contains(text, "thief (pid 4711) on host-b") || header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s %v", path, status, text, header)
		}
	}
	if _, text, _ := ask("tcp", "GET", "/metrics"); !strings.Contains(text, `gameid_lease_state{state="lost"} 1`) {
		t.Errorf("metrics:\n%s", text)
	}
	stop()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "thief (pid 4711)") {
		t.Errorf("it ends with %v", err)
	}
}

func clientOf(at net.Addr) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, at.Network(), at.String())
	}}}
}
