package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/store/storetest"
)

var must = storetest.Must

// written writes a campaign file, and opens its book.
func written(t testing.TB, text string) *Book {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.toml")
	must(t, os.WriteFile(file, []byte(text), 0o644))
	return opened(t, file)
}

func opened(t testing.TB, file string) *Book {
	t.Helper()
	c, err := Load(file)
	must(t, err)
	b, err := Open(t.Context(), c, file)
	must(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

func statusOf(t testing.TB, b *Book) *Status {
	t.Helper()
	s, err := b.Status(t.Context())
	must(t, err)
	return s
}

// phases are those of all merges: "w1 planned, w4 waiting".
func phases(t testing.TB, b *Book) string {
	t.Helper()
	var all []string
	for _, m := range statusOf(t, b).Merges {
		all = append(all, m.Name()+" "+string(m.Phase))
	}
	return strings.Join(all, ", ")
}

// kindsOf are the kinds of all events, with their merges.
func kindsOf(t testing.TB, b *Book) (all []string) {
	t.Helper()
	events, err := b.Events(t.Context(), 0, 1<<20)
	must(t, err)
	for i, e := range events {
		if e.Number != int64(i+1) {
			t.Errorf("event %d has the number %d", i+1, e.Number)
		}
		all = append(all, strings.TrimSuffix(e.Kind+" "+e.Merge, " "))
	}
	return all
}

const small = "[campaign]\nname='x'\n[[merge]]\nworlds=['a', 'b']\n[[merge]]\nworlds=['c', 'd']\n"

func TestBook(t *testing.T) {
	t.Parallel()
	b := written(t, small)
	if got := phases(t, b); got != "a waiting, c waiting" {
		t.Errorf("got %s", got)
	}
	other := opened(t, b.file) // as another process would
	must(t, other.Pause(t.Context()))
	must(t, other.Pause(t.Context()))
	if !statusOf(t, b).Paused {
		t.Error("it is not paused")
	}
	must(t, b.Resume(t.Context()))
	must(t, b.Skip(t.Context(), "c"))
	must(t, b.Skip(t.Context(), "c"))
	if err := b.Skip(t.Context(), "cc"); err == nil || err.Error() != `no merge of the campaign has "cc" as its first world (did you mean "c"?)` {
		t.Errorf("got %v", err)
	}
	if got := phases(t, other); got != "a waiting, c skipped" {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff([]string{"paused", "resumed", "skipped c"}, kindsOf(t, b)); diff != "" {
		t.Error(diff)
	}
	if last := statusOf(t, b).LastEvent; last != 3 {
		t.Errorf("the last event is %d", last)
	}
	if some, err := b.Events(t.Context(), 1, 1); err != nil || len(some) != 1 || some[0].Number != 2 {
		t.Errorf("got %v, %v", some, err)
	}
}

// A state of another version is not touched.
func TestStateVersion(t *testing.T) {
	t.Parallel()
	b := written(t, small)
	_, err := b.db.Exec(t.Context(), "UPDATE campaign SET version = ?", stateVersion+1)
	must(t, err)
	_, err = Open(t.Context(), b.campaign, b.file)
	if err == nil || !strings.Contains(err.Error(), "c.toml.state has version 2, and this program knows version 1: use the program that wrote it") {
		t.Errorf("got %v", err)
	}
}

// If the file has other worlds for a merge, what is known of it does not hold, unless something was
// written already.
func TestOtherWorlds(t *testing.T) {
	t.Parallel()
	b := written(t, small)
	m := b.campaign.Merges[0]
	other := Merge{Worlds: []string{"a", "z"}}
	for phase, want := range map[Phase]Phase{Planned: Waiting, Refused: Waiting, Copying: Copying, Verified: Verified} {
		must(t, b.change(t.Context(), func(ctx context.Context, s state) error {
			r := &record{MergeStatus: MergeStatus{Worlds: m.Worlds, Phase: phase}}
			if err := s.put(ctx, r); err != nil {
				return err
			}
			got, err := s.merge(ctx, other)
			if err == nil && got.Phase != want {
				t.Errorf("%s: got %s, want %s", phase, got.Phase, want)
			}
			return err
		}))
	}
}

// The time that apply worked is counted: not the time of a pause, of a closed window, between two commands, or after a kill.
func TestWorked(t *testing.T) {
	b := written(t, "[campaign]\nname = \"night\"\n[[merge]]\nworlds = [\"w1\", \"w2\"]\n")
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	b.now = func() time.Time { return now }
	pass := func(minutes int) { now = now.Add(time.Duration(minutes) * time.Minute) }
	begun := func(doing string) (r *runner, kill func()) {
		lock, err := take(t.Context(), b.lockPath())
		must(t, err)
		r = &runner{book: b, doing: doing}
		must(t, r.begin(t.Context()))
		return r, func() { lock.Close() }
	}
	r, kill := begun(doingApply)
	pass(1)
	r.waits("until 03:00, when the window opens")
	pass(60)
	r.waits("")
	pass(2)
	must(t, b.Pause(t.Context()))
	pass(60)
	must(t, b.Resume(t.Context()))
	pass(4)
	if got := statusOf(t, b).Worked; got != 7*60 {
		t.Errorf("while it runs: %v seconds", got)
	}
	r.end(nil)
	kill()
	pass(600)
	r, kill = begun(doingPlan)
	pass(600)
	r.end(nil)
	kill()
	r, kill = begun(doingApply)
	pass(8)
	r.log(func(ctx context.Context, s state) error { return s.event(ctx, now, KindMerged, "w1", "made") })
	pass(60)
	kill()
	pass(600)
	if got := statusOf(t, b).Worked; got != 15*60 {
		t.Errorf("after a kill: %v seconds", got)
	}
	_, kill = begun(doingApply)
	defer kill()
	pass(16)
	if got := statusOf(t, b).Worked; got != 31*60 {
		t.Errorf("afterwards: %v seconds", got)
	}
}
