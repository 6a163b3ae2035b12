package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/merge/campaign"
)

// frame is one event of a stream, as a browser understands it.
type frame struct {
	id, event string
	message   message
}

// stream is one page that listens.
type stream struct {
	t      *testing.T
	lines  *bufio.Scanner
	header http.Header
	close  func()
}

// pipe is a connection without a network.
type pipe struct {
	*io.PipeWriter
	header http.Header
}

func (p pipe) Header() http.Header { return p.header }
func (p pipe) WriteHeader(int)     {}
func (p pipe) Flush()              {}

func listen(t *testing.T, h http.Handler, query string, headers ...string) *stream {
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/live"+query, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	from, to := io.Pipe()
	ended := make(chan struct{})
	p := pipe{to, http.Header{}}
	go func() {
		defer close(ended)
		h.ServeHTTP(p, r)
		to.Close()
	}()
	s := &stream{t: t, lines: bufio.NewScanner(from), header: p.header}
	s.lines.Buffer(nil, 4<<20)
	s.close = sync.OnceFunc(func() { cancel(); from.Close(); <-ended })
	return s
}

// next is the next event; a zero frame at the end of the stream.
func (s *stream) next() (f frame) {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && f.event != "":
			return f
		case line == "":
			f = frame{}
		case name == "id":
			f.id = value
		case name == "event":
			f.event = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &f.message); err != nil {
				s.t.Errorf("%v: %q", err, line)
			}
		case name != "" && name != "retry":
			s.t.Errorf("the line %q is of no event", line)
		}
	}
	return frame{}
}

func names(f frame) []string { return slices.Sorted(maps.Keys(f.message.Parts)) }

// A page is sent everything at first, then what changed, and else a sign of life.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := night(t, 60)
		h := New(book, Options{})
		s := listen(t, h, "")
		defer s.close()
		first := s.next()
		if len(first.message.Parts) != len(partIDs) || first.message.Now != "2026-11-21T03:12:05Z" {
			t.Errorf("at first: %q as of %s", names(first), first.message.Now)
		}
		if s.header.Get("Content-Type") != "text/event-stream" || s.header.Get("X-Accel-Buffering") != "no" || !strings.Contains(s.header.Get("Cache-Control"), "no-transform") {
			t.Errorf("proxies may hold it back: %v", s.header)
		}
		began := time.Now()
		if f := s.next(); f.message.Parts != nil || time.Since(began) != 5*time.Second {
			t.Errorf("while nothing changed: %q, after %v", names(f), time.Since(began))
		}
		book.happens("verified", "eu-w1", "again")
		changed := s.next()
		if got := names(changed); !slices.Equal(got, []string{"events"}) || time.Since(began) > 7*time.Second {
			t.Errorf("after an event: %q, after %v", got, time.Since(began))
		}
		// Who comes back is sent what it does not have: nothing, or all that changed since.
		s.close()
		book.change(func(s *campaign.Status) { s.Merges[26].Done += 100_000; s.Paused = true })
		time.Sleep(2 * time.Second)
		for since, want := range map[string][]string{
			first.id: {"events", "head", "now"}, changed.id: {"head", "now"}, "other-7": slices.Sorted(slices.Values(partIDs)), "nonsense\r\n": slices.Sorted(slices.Values(partIDs)),
		} {
			back := listen(t, h, "", "Last-Event-ID", since)
			if got := names(back.next()); !slices.Equal(got, want) {
				t.Errorf("after %q: %q, want %q", since, got, want)
			}
			back.close()
		}
		byQuery := listen(t, h, "?after="+changed.id)
		if got := names(byQuery.next()); len(got) != 2 {
			t.Errorf("?after: %q", got)
		}
		byQuery.close()
		// A page of another program, or with other parts, is loaded anew.
		other := listen(t, h, "?shape=other")
		if f := other.next(); f.event != "reload" {
			t.Errorf("a page of another shape: %+v", f)
		}
		other.close()
	})
}

// While the state cannot be read the page hears why, and of the time that it still shows.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := night(t, 3)
		h := New(book, Options{})
		s := listen(t, h, "")
		defer s.close()
		s.next()
		book.mu.Lock()
		book.away = errors.New("disk I/O error")
		book.status.Now = noon.Add(time.Hour)
		book.mu.Unlock()
		if f := s.next(); f.message.Error != "disk I/O error" || f.message.Now != "2026-11-21T03:12:05Z" || f.message.Parts != nil {
			t.Errorf("%+v", f)
		}
		if w := ask(h, "GET", "/api/status", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "disk I/O error") {
			t.Errorf("/api/status: %d %s", w.Code, w.Body)
		}
		if w := ask(h, "GET", "/metrics", ""); !strings.Contains(w.Body.String(), "fleet_state_readable 0\n") {
			t.Errorf("/metrics: %s", w.Body)
		}
		page := ask(h, "GET", "/", "").Body.String()
		if !strings.Contains(page, "disk I/O error") || !strings.Contains(page, "eu-w1") || !strings.Contains(page, "03:12:05Z</time>") {
			t.Errorf("the page says nothing of it: %s", page)
		}
		book.mu.Lock()
		book.away = nil
		book.mu.Unlock()
		time.Sleep(time.Second)
		if f := s.next(); f.message.Error != "" || f.message.Now != "2026-11-21T04:12:05Z" {
			t.Errorf("afterwards: %+v", f)
		}
		none := night(t, 1)
		none.away = errors.New("no state")
		if code := ask(New(none, Options{}), "GET", "/", "").Code; code != 200 {
			t.Errorf("a page without a state yet: %d", code)
		}
	})
}

// However many look on, the state is read once a second.
func TestReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := night(t, 3)
		h := New(book, Options{viewers: 50})
		for range 50 {
			s := listen(t, h, "")
			defer s.close()
			go func() {
				for s.next().event != "" {
				}
			}()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if w := ask(h, "GET", "/live", ""); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("the 51st stream: %d", w.Code)
		}
		if w := ask(h, "GET", "/", ""); w.Code != 200 {
			t.Errorf("the page without a stream: %d", w.Code)
		}
		book.mu.Lock()
		defer book.mu.Unlock()
		if book.reads < 10 || book.reads > 12 {
			t.Errorf("%d reads in 10 seconds", book.reads)
		}
	})
}

// stuck is a connection to a browser that takes nothing.
type stuck struct {
	pipe
	mu       sync.Mutex
	deadline time.Time
}

func (s *stuck) SetWriteDeadline(at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = at
	return nil
}

func (s *stuck) Write([]byte) (int, error) {
	s.mu.Lock()
	left := time.Until(s.deadline)
	s.mu.Unlock()
	time.Sleep(left)
	return 0, errors.New("timeout")
}

// A browser that takes nothing is given up, and its seat is free again.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(night(t, 3), Options{viewers: 1})
		began := time.Now()
		h.ServeHTTP(&stuck{pipe: pipe{header: http.Header{}}}, httptest.NewRequest("GET", "http://localhost/live", nil))
		if d := time.Since(began); d != slow {
			t.Errorf("it was waited for %v", d)
		}
		s := listen(t, h, "")
		defer s.close()
		if s.next().event != "parts" {
			t.Error("its seat is taken still")
		}
	})
}

// When the program ends, every page is sent the last state, and no goroutine stays.
func TestServe(t *testing.T) {
	book := night(t, 3)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, l, New(book, Options{every: time.Hour}), log.New(io.Discard, "", 0)) }()
	site := "http://" + l.Addr().String()
	client := &http.Client{Transport: &http.Transport{}}
	var streams []*stream
	for range 20 {
		answer, err := client.Get(site + "/live")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		s := &stream{t: t, lines: bufio.NewScanner(answer.Body)}
		s.lines.Buffer(nil, 4<<20)
		s.next()
		streams = append(streams, s)
	}
	// Headers without an end are refused.
	request, _ := http.NewRequest("GET", site, nil)
	request.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	if answer, err := client.Do(request); err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("long headers: %v, %v", answer, err)
	}
	book.change(func(s *campaign.Status) { s.Doing, s.Name = "", "the end" })
	cancel()
	for _, s := range streams {
		if f := s.next(); !strings.Contains(f.message.Parts["head"], "the end") {
			t.Errorf("the last message: %q", f.message.Parts)
		}
		if f := s.next(); f.event != "" {
			t.Errorf("there is another one: %+v", f)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	// What Serve waited for has ended; the goroutines that said so may have a last step to go.
	stacks := make([]byte, 1<<20)
	for start := time.Now(); ; runtime.Gosched() {
		all := string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(all, "merge/live.(*Handler)") && !strings.Contains(all, "merge/live.Serve") {
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatal(all)
		}
	}
}

// A server ends requests that take long, but no stream.
func TestReadTimeout(t *testing.T) {
	h := New(night(t, 3), Options{every: 10 * time.Millisecond, beat: 10 * time.Millisecond})
	site := httptest.NewUnstartedServer(h)
	site.Config.ReadTimeout, site.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	site.Start()
	defer site.Close()
	defer h.Close()
	answer, err := http.Get(site.URL + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	s := &stream{t: t, lines: bufio.NewScanner(answer.Body)}
	s.lines.Buffer(nil, 4<<20)
	for range 20 { // of 10 ms
		if s.next().event == "" {
			t.Fatal("the stream ended")
		}
	}
}
