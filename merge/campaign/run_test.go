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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"

	"mergesafe/merge"
)

// planned plans a campaign, all of which can be carried out.
func planned(t testing.TB, b *Book, o Options) {
	t.Helper()
	s, err := Plan(t.Context(), b, o)
	must(t, err)
	for _, m := range s.Merges {
		if m.Phase == Refused {
			t.Fatalf("%s: %s", m.Name(), m.Problem)
		}
	}
}

func (p *place) all(worlds ...string) (dumps []string) {
	for _, w := range worlds {
		dumps = append(dumps, p.dump(w))
	}
	return dumps
}

func second[T any](_ T, err error) error { return err }

// A merge that fails is explained, and undone if the campaign says so. The others go on, or not.
func TestOneFails(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	for _, c := range []struct{ head, want string }{
		{"", "w1 verified, w3 failed, w5 planned"},
		{"continue = true", "w1 verified, w3 failed, w5 verified"},
		{"continue = true\nundo = true\nretries = 3", "w1 verified, w3 undone, w5 verified"},
	} {
		p := newPlace(t, 3, 3, 3, 3, 3, 3)
		b := p.book(c.head, "w1 w2", "w3 w4", "w5 w6")
		planned(t, b, p.options())
		before := p.content("w3")
		p.exec("w4", "UPDATE players SET gold = gold + 1 WHERE id = (SELECT MIN(id) FROM players)")
		s, err := Apply(t.Context(), b, p.options())
		must(t, err)
		if got := phases(t, b); got != c.want {
			t.Errorf("%s: got %s", c.head, got)
		}
		m := s.Merges[1]
		if !strings.Contains(m.Problem, `table "players": it was changed since the plan was made`) || m.Attempts != 1 {
			t.Errorf("%s: got %+v", c.head, m)
		}
		advice := strings.Join(m.Advice, "\n")
		if m.Phase == Failed && !strings.Contains(advice, "fleet undo "+b.File()+" w3") {
			t.Errorf("%s: the advice is %s", c.head, advice)
		}
		if m.Phase == Undone && p.content("w3") != before {
			t.Errorf("after the undo: %s", cmp.Diff(before, p.content("w3")))
		}
		// What did not begin is not fenced any more.
		if fenced := strings.Contains(p.dump("w6"), "merge"); fenced != strings.Contains(c.want, "w5 verified") {
			t.Errorf("%s: w6 is fenced: %v\n%s", c.head, fenced, p.dump("w6"))
		}
	}
}

// Before the first write all merges are looked at: one that is not ready keeps all from being
// begun, unless the campaign continues without it.
func TestNotReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ head, want string }{
		{"", "w1 planned, w3 refused, w5 waiting"},
		{"continue = true", "w1 verified, w3 refused, w5 waiting"},
	} {
		p := newPlace(t, 3, 3, 3, 3, 3, 3)
		b := p.book(c.head, "w1 w2", "w3 w4", "w5 w6")
		o := p.options()
		o.Merges = []string{"w1", "w3"}
		must(t, second(Plan(t.Context(), b, o)))
		p.exec("w4", "DELETE FROM items")
		before := p.dump("w1")
		s, err := Apply(t.Context(), b, p.options())
		if _, is := errors.AsType[*NotReadyError](err); is != (c.head == "") {
			t.Errorf("%s: got %v", c.head, err)
		}
		if got := phases(t, b); got != c.want {
			t.Errorf("%s: got %s", c.head, got)
		}
		if got := s.Merges[1].Problem; !strings.Contains(got, "plan again") && !strings.Contains(err.Error(), "plan") {
			t.Errorf("%s: got %s", c.head, got)
		}
		if changed := p.dump("w1") != before; changed == (c.head == "") {
			t.Errorf("%s: w1 was changed: %v", c.head, changed)
		}
	}
}

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
	if advice := strings.Join(m.Advice, "\n"); m.Phase != Failed || !strings.Contains(m.Problem, "another process is working on the same merge") || strings.Contains(advice, "undo") || !strings.Contains(advice, "fleet apply") {
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
		if time.Since(start) > 30*time.Second {
			t.Fatalf("not within 30 s: %s", what)
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

// One process at a time works on a campaign. The other is told which.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	other := opened(t, b.file)
	o := p.options()
	var once sync.Once
	o.Work.Pause = func(ctx context.Context) error {
		once.Do(func() { held(t, other, p) })
		return nil
	}
	must(t, second(Apply(t.Context(), b, o)))
	must(t, second(Apply(t.Context(), other, p.options())))
}

// It is the same campaign by whatever name the file is opened.
func TestTwoNamesOfAFile(t *testing.T) {
	servertest.NotShort(t)
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
}

// held makes sure that the campaign is worked on, and that another process is told by which.
func held(t testing.TB, other *Book, p *place) {
	_, err := Apply(t.Context(), other, p.options())
	e, ok := errors.AsType[*HeldError](err)
	if !ok || e.Holder.PID != os.Getpid() || e.Holder.Doing != "apply" {
		t.Errorf("got %v", err)
	}
}

// If a merge of the file has begun, the file keeps it.
func TestFileChanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3, 3, 3)
	b := p.book("", "w1 w2", "w3 w4")
	planned(t, b, p.options())
	must(t, second(Apply(t.Context(), b, p.options())))
	changed := p.book("", "w1 w4")
	if _, err := Plan(t.Context(), changed, p.options()); err == nil || !strings.Contains(err.Error(), `the merge of w1 and w2 has begun`) {
		t.Errorf("got %v", err)
	}
	// Also if the state was lost.
	must(t, os.Remove(b.statePath()))
	lost := p.book("", "w1 w4")
	s, err := Plan(t.Context(), lost, p.options())
	must(t, err)
	if !strings.Contains(s.Merges[0].Problem, "the merge of w1 and w2 has begun") {
		t.Errorf("got %+v", s.Merges[0])
	}
	back := p.book("", "w1 w2", "w3 w4")
	must(t, second(Plan(t.Context(), back, p.options())))
	if got := phases(t, back); got != "w1 verified, w3 verified" { // say the reports
		t.Errorf("got %s", got)
	}
	must(t, second(Apply(t.Context(), back, p.options())))
	if got := phases(t, back); got != "w1 verified, w3 verified" {
		t.Errorf("got %s", got)
	}
}

// What has begun stays begun in the state, whatever becomes of its plan, also if the new database cannot
// give it back: nobody is told that nothing was written. With the plan it goes on.
func TestPlanOfBegunIsLost(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	for name, lose := range map[string]func(file string) error{
		"cut":  func(file string) error { return os.Truncate(file, 1000) },
		"gone": os.Remove,
	} {
		for _, skipped := range []bool{false, true} {
			p := newPlace(t, 3, 2000)
			b := p.book("continue = true", "w1 w2")
			planned(t, b, p.options())
			ctx, cancel := context.WithCancel(t.Context())
			o := p.options()
			o.Work.Pause = func(context.Context) error { cancel(); return nil }
			if _, err := Apply(ctx, b, o); !errors.Is(err, merge.ErrStopped) {
				t.Errorf("%s: got %v", name, err)
			}
			if skipped {
				must(t, b.Skip(t.Context(), "w1"))
			}
			plan, err := os.ReadFile(b.PlanFile("w1"))
			must(t, err)
			must(t, lose(b.PlanFile("w1")))
			p.made("w1").exec("", `UPDATE mergesafe_merge SET plan = REPLACE(plan, '"version":1,', '"version":99,')`)
			o = p.options()
			o.Merges = []string{"w1"}
			for what, work := range map[string]func(context.Context, *Book, Options) (*Status, error){
				"plan": Plan, "apply": Apply, "undo": Undo,
			} {
				s, err := work(t.Context(), b, o)
				if (err != nil) != (what == "plan") { // which has to look at it
					t.Fatalf("%s: %v", what, err)
				}
				m := s.Merges[0]
				if what != "plan" && m.Phase != Failed || !strings.Contains(m.Problem, "plan") || strings.Contains(strings.Join(m.Advice, " "), "Nothing was written") {
					t.Errorf("%s, skipped %v: after %s: %+v", name, skipped, what, m)
				}
			}
			if _, err := Plan(t.Context(), p.book("", "w3 w4"), p.options()); err == nil || !strings.Contains(err.Error(), "has begun") {
				t.Errorf("%s: the file forgets it: %v", name, err)
			}
			b = p.book("", "w1 w2")
			must(t, os.WriteFile(b.PlanFile("w1"), plan, 0o644))
			p.made("w1").exec("", `UPDATE mergesafe_merge SET plan = REPLACE(plan, '"version":99,', '"version":1,')`)
			must(t, second(Apply(t.Context(), b, o)))
			if got := phases(t, b); got != "w1 verified" || p.made("w1").players("") != 2003 {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
}

// An interrupt leaves what was done, and the same call goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 2000)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	ctx, cancel := context.WithCancel(t.Context())
	o := p.options()
	o.Work.Pause = func(context.Context) error { cancel(); return nil }
	if _, err := Apply(ctx, b, o); !errors.Is(err, merge.ErrStopped) {
		t.Errorf("got %v", err)
	}
	if m := statusOf(t, b).Merges[0]; m.Phase != Copying || m.Active {
		t.Errorf("got %+v", m)
	}
	must(t, second(Apply(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 verified" || p.made("w1").players("") != 2003 {
		t.Errorf("got %s", got)
	}
}

// Hooks are told of every event that they want, in order; what was not told when the process
// was killed is told by the next one, also what other processes did.
func TestHooksAreTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
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
	file := p.file("", "w1 w2")
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
	if diff := cmp.Diff([]string{"planned w1", "paused", "merged w1", "verified w1"}, told); diff != "" {
		t.Error(diff)
	}
}

// A merge that was skipped after it began is reported the same way if its worlds have no registry.
func TestSkipBegun(t *testing.T) {
	t.Parallel()
	const want = "skipped by the operator after it began; its new database is not open: " +
		"apply it by name, or undo it, before you start a game server of its worlds"
	p := newPlace(t, 3, 2000)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	ctx, cancel := context.WithCancel(t.Context())
	o := p.options()
	o.Work.Pause = func(context.Context) error { cancel(); return nil }
	if _, err := Apply(ctx, b, o); !errors.Is(err, merge.ErrStopped) {
		t.Errorf("got %v", err)
	}
	must(t, b.Skip(t.Context(), "w1"))
	if m := statusOf(t, b).Merges[0]; m.Problem != want {
		t.Errorf("got %q, want %q", m.Problem, want)
	}
}
