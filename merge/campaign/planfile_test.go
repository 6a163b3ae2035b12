//go:build !race

package campaign

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/store/storetest/faulty"
)

// A plan ends with an error if it cannot look at a merge that has begun, which stays what it is; once more, it can.
func TestPlanCannotLook(t *testing.T) {
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	must(t, second(Apply(t.Context(), b, p.options())))
	away := &faulty.Nth{Fault: faulty.ReadFaults[0], Only: func(dsn string) bool { return strings.HasSuffix(dsn, ".db") }}
	if _, err := Plan(away.In(t.Context()), b, p.options()); err == nil || !strings.HasPrefix(err.Error(), "w1: ") {
		t.Errorf("got %v, want that the database could not be read", err)
	}
	if got := phases(t, b); got != "w1 verified" {
		t.Errorf("got %s", got)
	}
	must(t, second(Plan(t.Context(), b, p.options())))
}

// A plan whose file is lost or damaged after its merge began is written again as it was, with one
// note, and the merge is completed, verified and undone with it; also if the state is lost as well.
func TestLostPlan(t *testing.T) {
	for name, in := range map[string]func(testing.TB, ...int) *place{"sqlite": newPlace, "server": newServerPlace} {
		t.Run(name, func(t *testing.T) {
			if name != "sqlite" {
				servertest.Long(t) // files of plans are the same on all of them
			}
			lostPlan(t, in(t, 3, 300, 3, 3))
		})
	}
}

func lostPlan(t *testing.T, p *place) {
	worlds := []string{"w1", "w2", "w3", "w4"}
	before := p.all(worlds...)
	b := p.book("", "w1 w2", "w3 w4")
	planned(t, b, p.options())
	plans := []string{b.PlanFile("w1"), b.PlanFile("w3")}
	files := func() (all []string) {
		for _, file := range plans {
			text, err := os.ReadFile(file)
			must(t, err)
			all = append(all, string(text))
		}
		return all
	}
	was := files()
	var notes []string
	o := p.options()
	o.Warn = func(text string) {
		if strings.Contains(text, "from the record") {
			notes = append(notes, text)
		}
	}
	restored := func(after string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(was, files()); diff != "" {
			t.Errorf("%s: the plans (-were +are):\n%s", after, diff)
		}
		if len(notes) != len(want) {
			t.Errorf("%s: got the notes %q", after, notes)
		}
		for i := range min(len(notes), len(want)) {
			if !strings.Contains(notes[i], want[i]) {
				t.Errorf("%s: got the note %q, want %q", after, notes[i], want[i])
			}
		}
		notes = nil
	}

	// In the middle of the first merge.
	interrupted(t, b, o)
	must(t, os.Remove(plans[0]))
	must(t, second(Apply(t.Context(), b, o)))
	restored("apply", "w1 was missing")
	if got := phases(t, b); got != "w1 verified, w3 verified" {
		t.Errorf("got %s", got)
	}

	must(t, os.WriteFile(plans[0], []byte(was[0][:100]), 0o644))
	must(t, os.WriteFile(plans[1], []byte(strings.Replace(was[1], `"rows": 3`, `"rows": 4`, 1)), 0o644))
	must(t, second(Verify(t.Context(), b, o)))
	restored("verify", "w1 could not be read (", "w3 could not be read (")

	// The state and the plans are lost.
	must(t, b.Close())
	must(t, os.Remove(b.statePath()))
	b = opened(t, b.file)
	must(t, os.Remove(plans[0]))
	must(t, os.Remove(plans[1]))
	must(t, second(Plan(t.Context(), b, o)))
	restored("plan", "w1 was missing", "w3 was missing")
	if got := phases(t, b); got != "w1 verified, w3 verified" {
		t.Errorf("got %s", got)
	}

	must(t, os.Remove(plans[0]))
	must(t, second(Undo(t.Context(), b, o)))
	restored("undo", "w1 was missing")
	for i, w := range worlds {
		if got := p.content(w); !strings.HasPrefix(before[i], got) {
			t.Errorf("undone: %s", cmp.Diff(before[i], got))
		}
	}

	// What is not on record is not made up.
	must(t, os.Remove(plans[0]))
	if _, err := Verify(t.Context(), b, o); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(plans[0]); err == nil || len(notes) > 0 {
		t.Errorf("a plan of nothing, and %q", notes)
	}
}
