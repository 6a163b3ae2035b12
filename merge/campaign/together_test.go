// These tests have goroutines that meet, so they run with the race detector. The files that are not built with it have
// none of their own.
package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
)

// While the campaign is paused nothing is written; a merge that is skipped while it runs stops
// between two batches, and is completed later by its name.
func TestPauseAndSkip(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 2000, 3, 3)
	b := p.book("", "w1 w2", "w3 w4")
	planned(t, b, p.options())
	wish := opened(t, b.file) // as another process would
	o := p.options()
	var batches atomic.Int64
	o.Work.Pause = func(ctx context.Context) error {
		if batches.Add(1) == 1 {
			must(t, wish.Pause(t.Context()))
			await(t, "the wish is seen", func() bool { return strings.Contains(statusOf(t, wish).Waits, "paused") })
		}
		return nil
	}
	ended := make(chan error)
	go func() { _, err := Apply(t.Context(), b, o); ended <- err }()
	await(t, "it waits", func() bool { return strings.Contains(statusOf(t, wish).Waits, "paused") })
	s := statusOf(t, wish)
	if s.Doing != "apply" || !s.Paused || !s.Merges[0].Active || s.Merges[0].Phase != Copying {
		t.Errorf("got %+v", s)
	}
	n := batches.Load()
	must(t, wish.Skip(t.Context(), "w1"))
	await(t, "it is skipped", func() bool { return strings.HasPrefix(phases(t, wish), "w1 skipped") })
	if batches.Load() != n {
		t.Errorf("%d batches while it was paused", batches.Load()-n)
	}
	must(t, wish.Resume(t.Context()))
	must(t, <-ended)
	if got := phases(t, b); got != "w1 skipped, w3 verified" {
		t.Errorf("got %s", got)
	}
	if m := statusOf(t, b).Merges[0]; !strings.Contains(m.Problem, "its new database is not open") {
		t.Errorf("got %+v", m)
	}
	must(t, second(Apply(t.Context(), b, p.options()))) // leaves it alone
	if got := phases(t, b); got != "w1 skipped, w3 verified" {
		t.Errorf("got %s", got)
	}
	o = p.options()
	o.Merges = []string{"w1"}
	must(t, second(Apply(t.Context(), b, o)))
	if got := phases(t, b); got != "w1 verified, w3 verified" || p.made("w1").players("") != 2003 {
		t.Errorf("got %s", got)
	}
	if err := b.Skip(t.Context(), "w1"); err == nil || err.Error() != `the merge "w1" is already verified` {
		t.Errorf("got %v", err)
	}
}

// A merge that another process completes meanwhile, such as one with a copy of the campaign, is
// that one's: it is not undone, whatever the campaign says of merges that fail.
func TestMergeOfAnother(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 2000)
	b := p.book("undo = true", "w1 w2")
	planned(t, b, p.options())
	plan, err := b.readPlan("w1")
	must(t, err)
	o := p.options()
	var batches atomic.Int64
	o.Work.Pause = func(ctx context.Context) error {
		if batches.Add(1) == 2 {
			worlds := []merge.Database{p.database("w1"), p.database("w2")}
			must(t, second(merge.Apply(ctx, plan, p.newDatabase("w1"), worlds, merge.Options{})))
		}
		return nil
	}
	s, err := Apply(t.Context(), b, o)
	must(t, err)
	m := s.Merges[0]
	phase, why := Failed, "another process is working on the same merge"
	if m.Phase == Made { // a world was being read when the other process fenced it
		phase, why = Made, "it is made, and not open: stopped while copying table"
	}
	if advice := strings.Join(m.Advice, "\n"); m.Phase != phase || !strings.Contains(m.Problem, why) || strings.Contains(advice, "undo") || !strings.Contains(advice, "fleet apply") {
		t.Errorf("got %+v", m)
	}
	if p.made("w1").players("") != 2003 {
		t.Errorf("the new database has %d players", p.made("w1").players(""))
	}
	must(t, second(Apply(t.Context(), b, p.options()))) // as advised
	if got := phases(t, b); got != "w1 verified" {
		t.Errorf("got %s", got)
	}
}

func await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 5*time.Minute {
			t.Fatalf("not within 5 minutes: %s", what)
		}
	}
}

// Merges begin in the window alone, and only if they are predicted to end in it.
func TestWindow(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3, 3, 3)
	b := p.book("window = '02:00-06:00'\nzone = 'UTC'", "w1 w2", "w3 w4")
	planned(t, b, p.options())
	o := p.options()
	at := time.Date(2026, 5, 1, 7, 0, 0, 0, time.UTC)
	const opened = 22*time.Hour + 30*time.Minute
	var now atomic.Int64
	now.Store(at.Unix())
	b.now = func() time.Time { return time.Unix(now.Load(), 0) }
	o.Work.Pause = func(context.Context) error { // while the first is copied, the window closes
		now.CompareAndSwap(at.Add(opened).Unix(), at.Add(23*time.Hour).Unix())
		return nil
	}
	ended := make(chan error)
	go func() { _, err := Apply(t.Context(), b, o); ended <- err }()
	waits := func(until string, free ...string) {
		t.Helper()
		await(t, "it waits until "+until, func() bool {
			return statusOf(t, b).Waits == "until "+until+" (02:00), when the window 02:00-06:00 UTC opens"
		})
		for _, world := range free { // meanwhile its players may play
			d, err := o.Databases(world)
			must(t, err)
			if reasons, _, err := merge.InUse(t.Context(), d, ""); err != nil || len(reasons) > 0 {
				t.Errorf("until %s %s is kept from being started: %q, %v", until, world, reasons, err)
			}
		}
	}
	waits("2026-05-02T02:00:00Z", "w1", "w2", "w3", "w4")
	now.Store(at.Add(opened).Unix())
	waits("2026-05-03T02:00:00Z", "w3", "w4")
	if got := phases(t, b); got != "w1 verified, w3 planned" {
		t.Errorf("got %s", got)
	}
	now.Store(at.Add(43 * time.Hour).Unix())
	must(t, <-ended)
	if got := phases(t, b); got != "w1 verified, w3 verified" {
		t.Errorf("got %s", got)
	}
}

// One process at a time works on a campaign. The other is told which, by whatever name it opened the file.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	link := filepath.Join(t.TempDir(), "link.toml")
	if err := os.Symlink(b.file, link); err != nil {
		t.Skip(err) // as Windows does
	}
	planned(t, b, p.options())
	other := opened(t, link)
	if got := phases(t, other); got != "w1 planned" {
		t.Errorf("by the link: %s", got)
	}
	o := p.options()
	var once sync.Once
	o.Work.Pause = func(ctx context.Context) error {
		once.Do(func() { held(t, other, p) })
		return nil
	}
	must(t, second(Apply(t.Context(), b, o)))
	must(t, second(Apply(t.Context(), other, p.options())))
}

// held makes sure that the campaign is worked on, and that another process is told by which.
func held(t testing.TB, other *Book, p *place) {
	_, err := Apply(t.Context(), other, p.options())
	e, ok := errors.AsType[*HeldError](err)
	if !ok || e.Holder.PID != os.Getpid() || e.Holder.Doing != "apply" {
		t.Errorf("got %v", err)
	}
}

// about is the merge of an event.
func about(told string) string { _, merge, _ := strings.Cut(told, " "); return merge }

// Hooks are told of every event that they want, in order; what was not told when the process
// was killed is told by the next one, also what other processes did.
func TestHooksAreTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3, 3, 3)
	var mu sync.Mutex
	var told []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m Message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		told = append(told, strings.TrimSpace(m.Event+" "+m.Merge))
	}))
	defer server.Close()
	file := p.file("parallel = 2", "w1 w2", "w3 w4")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, fmt.Appendf(text, "[[hook]]\non = ['planned', 'paused', 'merged', 'verified']\nurl = '%s'\n", server.URL), 0o644))
	b := opened(t, file)
	planned(t, b, p.options())
	must(t, opened(t, file).Pause(t.Context())) // while no process runs
	must(t, b.Resume(t.Context()))
	must(t, second(Apply(t.Context(), b, p.options())))
	mu.Lock()
	defer mu.Unlock()
	slices.SortStableFunc(told, func(a, b string) int { return strings.Compare(about(a), about(b)) }) // both are merged at once
	want := []string{"paused", "planned w1", "merged w1", "verified w1", "planned w3", "merged w3", "verified w3"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}
