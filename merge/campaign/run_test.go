//go:build !race

package campaign

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
)

// A merge that fails is explained, and undone if the campaign says so. The others go on, or not.
func TestOneFails(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	for _, c := range []struct{ head, want string }{
		{"", "w1 verified, w3 failed, w5 planned"},
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
		"cut":              func(file string) error { return os.Truncate(file, 1000) },
		"skipped and gone": os.Remove,
	} {
		p := newPlace(t, 3, 2000)
		b := p.book("continue = true", "w1 w2")
		planned(t, b, p.options())
		interrupted(t, b, p.options())
		if strings.HasPrefix(name, "skipped") {
			must(t, b.Skip(t.Context(), "w1"))
			const want = "skipped by the operator after it began; its new database is not open: " +
				"apply it by name, or undo it, before you start a game server of its worlds"
			if m := statusOf(t, b).Merges[0]; m.Problem != want {
				t.Errorf("got %q, want %q", m.Problem, want)
			}
		}
		plan, err := os.ReadFile(b.PlanFile("w1"))
		must(t, err)
		must(t, lose(b.PlanFile("w1")))
		p.made("w1").exec("", `UPDATE mergesafe_merge SET plan = REPLACE(plan, '"version":1,', '"version":99,')`)
		o := p.options()
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
				t.Errorf("%s: after %s: %+v", name, what, m)
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
