package live

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/browsertest"
	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/merge/campaign"
)

// quick is for pages that are looked at while they change: silence is 600 ms.
func quick(b *book) Options {
	return Options{
		File: "campaign.toml", Control: b, Token: token, every: 50 * time.Millisecond, beat: 200 * time.Millisecond,
	}
}

// TestBrowser looks at pages in a headless Chromium. LIVE_SHOTS names a folder to keep the
// screenshots in.
func TestBrowser(t *testing.T) {
	servertest.NotShort(t)
	b := browsertest.Start(t)
	for _, tt := range []struct {
		name string
		test func(t *testing.T, b *browsertest.Browser)
	}{
		{"looks", testLooks}, {"columns", testColumns}, {"paper", testPaper}, {"changes", testChanges}, {"away", testGone}, {"buffered", testBuffered}, {"keyboard", testKeyboard}, {"scriptless", testScriptless},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b.Requests, b.Complaints = nil, nil
			b.Screen(t, 1280, "light")
			tt.test(t, b)
		})
	}
}

// keep keeps a screenshot, if one is wanted.
func keep(t *testing.T, b *browsertest.Browser) {
	if os.Getenv("LIVE_SHOTS") != "" {
		b.Shot(t, "LIVE_SHOTS")
	}
}

// served is a page for one test.
func served(t *testing.T, b *book, o Options, wrap func(http.Handler) http.Handler) string {
	h := New(b, o)
	var handler http.Handler = h
	if wrap != nil {
		handler = wrap(h)
	}
	site := httptest.NewServer(handler)
	t.Cleanup(func() { h.Close(); site.CloseClientConnections(); site.Close() })
	return site.URL
}

// seenPage is what a page says of itself.
type seenPage struct {
	Overflow int      // pixels by which it is wider than the screen
	Cut      []string // elements of which a part is not seen
	Dark     bool
	Styled   bool
	Worlds   int
	Merges   int
	Failures int
}

const seen = `(document.querySelectorAll('details').forEach(d => d.open = true), {
  Overflow: document.documentElement.scrollWidth - innerWidth,
  Cut: [...document.querySelectorAll('main *')].filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && !e.closest('.name, .hidden')).map(e => e.outerHTML.slice(0, 80)),
  Dark: getComputedStyle(document.body).backgroundColor.match(/\d+/g).every(c => c < 64),
  Styled: getComputedStyle(document.body).margin == '0px',
  Worlds: document.querySelectorAll('.map li').length + document.querySelectorAll('.map i').length,
  Merges: document.querySelectorAll('[id^=m]:not(#merges)').length,
  Failures: document.querySelectorAll('.problem.fail').length,
})`

// 400 worlds in 60 merges, names that are long, and the export: nothing is cut on a telephone
// or on a desk, by day or night.
func testLooks(t *testing.T, b *browsertest.Browser) {
	long := night(t, 4)
	for i := range long.status.Merges {
		m := &long.status.Merges[i]
		name := strings.Repeat("W", 120)
		m.Worlds, m.Problem, m.Reports = []string{m.Name() + name, name, name, name}, strings.Repeat("x", 500), []string{name + ".html"}
		m.Advice = []string{"fleet undo campaign.toml " + name, name}
	}
	long.status.Merges[1].Phase, long.status.Merges[2].Phase, long.status.Merges[3].Phase = campaign.Failed, campaign.Waiting, campaign.Copying
	exported := filepath.Join(t.TempDir(), "night.html")
	writeRecord(t, exported, night(t, 60))
	all := map[string]string{"night": served(t, night(t, 60), quick(night(t, 1)), nil), "long": served(t, long, quick(long), nil), "record": "file://" + exported}
	for name, want := range map[string]seenPage{
		"night": {Worlds: 400, Merges: 60, Failures: 2}, "long": {Worlds: 16, Merges: 4, Failures: 1}, "record": {Failures: 1},
	} {
		want.Styled, want.Cut = true, []string{}
		for _, width := range []int{390, 1400} {
			for _, scheme := range []string{"light", "dark"} {
				if name == "long" && (width > 600 || scheme == "dark") {
					continue
				}
				t.Run(fmt.Sprintf("%s-%d-%s", name, width, scheme), func(t *testing.T) {
					b.Screen(t, width, scheme)
					b.Open(t, all[name])
					keep(t, b)
					var got seenPage
					b.Eval(t, seen, &got)
					want.Dark = scheme == "dark"
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}
	}
	if len(b.Complaints) > 0 {
		t.Errorf("the browser complains: %q", b.Complaints)
	}
}

// Next and Ended share the width of a desk; one without the other takes all of it.
func testColumns(t *testing.T, b *browsertest.Browser) {
	both, ended, next := night(t, 60), night(t, 60), night(t, 60)
	for i := range ended.status.Merges {
		ended.status.Merges[i].Phase, ended.status.Merges[i].Active = campaign.Verified, false
		next.status.Merges[i].Phase, next.status.Merges[i].Active = campaign.Waiting, false
	}
	ended.status.Doing, next.status.Doing = "", ""
	for name, c := range map[string]struct {
		of   *book
		want []bool // whether Next and Ended are as wide as the page; those that are there
	}{"both": {both, []bool{false, false}}, "ended": {ended, []bool{true}}, "next": {next, []bool{true}}} {
		t.Run(name, func(t *testing.T) {
			b.Open(t, served(t, c.of, quick(c.of), nil))
			keep(t, b)
			var got []bool
			b.Eval(t, `['next', 'ended'].map(id => document.getElementById(id)).filter(e => e.querySelector('h2')).map(e => e.clientWidth == document.getElementById('head').offsetWidth)`, &got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// On paper, the page for those who were not there has no number in two lines, and unfolds who was
// renamed.
func testPaper(t *testing.T, b *browsertest.Browser) {
	file := filepath.Join(t.TempDir(), "night.html")
	writeRecord(t, file, night(t, 60))
	b.Screen(t, 680, "light") // A4 within its margins
	b.Call(t, "Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	defer b.Call(t, "Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	b.Open(t, "file://"+file)
	keep(t, b)
	var got []int
	b.Eval(t, `(high => [[...document.querySelectorAll('.record td.n, .record td[data-label=first]')].filter(e => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects().length && r.getBoundingClientRect().height > high }).length,
	  [...document.querySelectorAll('#renames table')].filter(e => !e.checkVisibility()).length, Math.max(0, document.documentElement.scrollWidth - innerWidth)])(1.5 * parseFloat(getComputedStyle(document.body).lineHeight))`, &got)
	if !slices.Equal(got, []int{0, 0, 0}) {
		t.Errorf("numbers and worlds in two lines, renames that are hidden, pixels too wide: %v", got)
	}
}

func writeRecord(t *testing.T, file string, of *book) {
	t.Helper()
	of.status.Doing = ""
	record := &Record{Status: &of.status, Events: of.events, Program: "fleet v1", Plan: func(m string) (*merge.Plan, error) {
		return &merge.Plan{Renames: []merge.Rename{{Source: "eu-w2", Table: "characters", Column: "name", Old: "Aria", New: "Aria-2"}, {Source: "eu-w3", Table: "guild", Column: "name", Old: "Nightwatch", New: "Nightwatch-3"}}}, nil
	}}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := record.WriteHTML(f); err != nil {
		t.Fatal(err)
	}
}

// What happens comes to the page by itself, and leaves alone what is not concerned: the focus,
// what was unfolded, and what was told before. After a reload it is the same.
func testChanges(t *testing.T, b *browsertest.Browser) {
	book := night(t, 60)
	b.Open(t, served(t, book, quick(book), nil))
	b.Eval(t, `(document.querySelector('#next details').open = true, document.querySelector('#next details button').focus(), window.mine = document.activeElement.dataset.merge, window.failed = document.querySelector('.problem'), true)`, nil)
	book.change(func(s *campaign.Status) {
		s.Merges[25].Phase, s.Merges[25].Active = campaign.Verified, false
		s.Merges[26].Phase, s.Merges[26].Problem = campaign.Failed, "out of room"
		s.Merges[30].Phase, s.Merges[30].Active = campaign.Copying, true
	})
	const changed = `document.title.startsWith('23/60 MERGING') && document.querySelector('#failures').textContent.includes('out of room') && document.querySelector('#now #m31') && document.querySelector('#ended #m26')`
	b.Await(t, changed)
	var kept bool
	b.Eval(t, `document.activeElement.dataset.merge === mine && mine && document.querySelector('#next details').open && document.querySelector('.problem') === failed && document.getElementById('failures').getAttribute('aria-live') == 'assertive'`, &kept)
	if !kept {
		t.Error("what did not change was replaced")
	}
	var before, after string
	const text = `document.querySelector('main').innerText`
	b.Eval(t, `(document.querySelectorAll('details').forEach(d => d.open = false), `+text+`)`, &before)
	b.Call(t, "Page.reload", nil, nil)
	b.Await(t, `document.readyState == 'complete' && typeof mine == 'undefined' && `+changed)
	b.Eval(t, text, &after)
	if before != after {
		t.Errorf("after a reload (-before +after):\n%s", cmp.Diff(before, after))
	}
	// Marks of times and counts of elements do not grow.
	var twice int
	b.Eval(t, `[...document.querySelectorAll('[id]')].length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size`, &twice)
	if twice != 0 {
		t.Errorf("%d elements are there twice", twice)
	}
}

// If the program is away the page says since when, and that what it shows is of then. When the
// program is back, also as another process, the page is true again by itself.
func testGone(t *testing.T, b *browsertest.Browser) {
	book := night(t, 60)
	start := func(address string) (string, func()) {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Serve(ctx, l, New(book, quick(book)), log.New(io.Discard, "", 0)) }()
		return l.Addr().String(), func() { cancel(); <-ended }
	}
	address, stop := start("127.0.0.1:0")
	b.Open(t, "http://"+address)
	b.Await(t, `performance.getEntriesByType('resource').length > 2`)
	stop()
	b.Await(t, `document.getElementById('connection').textContent == 'Not connected since 03:12:05Z. What you see is from then.'`)
	keep(t, b)
	book.change(func(s *campaign.Status) { s.Now, s.Paused = noon.Add(time.Hour), true })
	_, stop = start(address)
	defer stop()
	b.Await(t, `document.getElementById('connection').textContent == '' && document.querySelector('.verdict').textContent == 'PAUSED' && document.getElementById('asof').textContent == '2026-11-21T04:12:05Z'`)
}

// Behind a proxy that holds events back, the page is read instead.
func testBuffered(t *testing.T, b *browsertest.Browser) {
	book := night(t, 60)
	b.Open(t, served(t, book, quick(book), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/live" {
				w.WriteHeader(200)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			}
			h.ServeHTTP(w, r)
		})
	}))
	b.Await(t, `document.getElementById('connection').textContent.startsWith('Events do not come through')`)
	book.change(func(s *campaign.Status) { s.Paused = true })
	b.Await(t, `document.querySelector('.verdict').textContent == 'PAUSED' && document.getElementById('connection').className == ''`)
}

// All that a mouse can do, a keyboard can: what has the focus is seen, and a question keeps it.
func testKeyboard(t *testing.T, b *browsertest.Browser) {
	book := night(t, 60)
	b.Open(t, served(t, book, quick(book), nil))
	var order []string
	for range 9 {
		b.Press(t, "Tab")
		var at string
		b.Eval(t, `(e => (getComputedStyle(e).outlineStyle == 'none' ? 'not seen: ' : '') + e.innerText.replace(/\s+/g, ' ').trim())(document.activeElement)`, &at)
		order = append(order, at)
	}
	// There is no command to copy while a process has the lock.
	if want := []string{"Pause", "apply", "Skip eu-w50", "plan", "Skip eu-w78", "Skip eu-w211", "Skip eu-w218", "Skip eu-w225", "Skip eu-w232"}; !slices.Equal(order, want) {
		t.Errorf("the keyboard goes to %q, want %q", order, want)
	}
	b.Eval(t, `document.getElementById('hold').focus()`, nil)
	b.Press(t, "Enter")
	b.Await(t, `document.getElementById('ask').open && document.activeElement.id == 'token'`)
	b.Call(t, "Input.insertText", map[string]any{"text": "wrong"}, nil)
	b.Press(t, "Enter")
	b.Await(t, `document.getElementById('question').textContent.startsWith('That was not the token') && document.activeElement.id == 'token'`)
	keep(t, b)
	b.Call(t, "Input.insertText", map[string]any{"text": token}, nil)
	b.Press(t, "Enter")
	b.Await(t, `document.querySelector('.verdict').textContent == 'PAUSED' && document.activeElement.id == 'hold' && document.activeElement.textContent == 'Resume'`)
	// The token is kept: another action asks only whether.
	b.Press(t, "Enter")
	b.Await(t, `document.getElementById('ask').open && document.activeElement.id == 'yes' && document.getElementById('secret').hidden`)
	b.Press(t, "Escape")
	b.Await(t, `!document.getElementById('ask').open`)
	b.Eval(t, `(document.getElementById('answer').textContent = '', document.querySelector('#m8 [data-do=skip]').focus())`, nil)
	b.Press(t, "Enter")
	b.Await(t, `document.getElementById('ask').open`)
	b.Press(t, "Enter")
	b.Await(t, `document.getElementById('answer').textContent.startsWith('Done')`)
	if got, want := book.asked(), []string{"pause", "skip eu-w50"}; !slices.Equal(got, want) {
		t.Errorf("the campaign was told to %q, want %q", got, want)
	}
	var stored []string
	b.Eval(t, `[Object.keys(localStorage).join(), document.cookie, location.href.includes('correct') ? 'address' : '']`, &stored)
	if strings.Join(stored, "") != "" {
		t.Errorf("the token is kept elsewhere: %q", stored)
	}
}

// Without a script the page is all there, has no buttons that do nothing, and is loaded anew.
func testScriptless(t *testing.T, b *browsertest.Browser) {
	book := night(t, 60)
	b.Call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.Call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.Open(t, served(t, book, quick(book), nil))
	var got []any
	b.Eval(t, `[document.querySelector('noscript meta').httpEquiv, document.querySelectorAll('[id^=m]').length, [...document.querySelectorAll('button')].filter(b => b.checkVisibility()).length]`, &got)
	if diff := cmp.Diff([]any{"refresh", 60.0, 0.0}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
