package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge"
)

// Triggers are refused when they would run, and only then: those of INSERT and,
// for own rows that are renamed, of UPDATE by a merge; those of DELETE by an undo.
func TestTriggers(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		const log = "INSERT INTO log VALUES (1)"
		trigger := func(name, event string) string {
			return "CREATE TRIGGER " + name + " " + event + " ON t " + body(e, log)
		}
		target, source := e.fresh(t, "a"), e.fresh(t, "b")
		for i, d := range []Database{target, source} {
			exec(t, d, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, age INTEGER NOT NULL)",
				fmt.Sprintf("INSERT INTO t VALUES (%d, 'same', %d)", i+1, i))
		}
		exec(t, target, "CREATE TABLE log (id INTEGER NOT NULL PRIMARY KEY)", trigger("upd", "AFTER UPDATE"), trigger("del", "BEFORE DELETE"))
		exec(t, source, "CREATE TABLE log (id INTEGER NOT NULL PRIMARY KEY)", trigger("ins", "AFTER INSERT"))
		all := []Database{source}
		plan := func(keep NamePolicy) *Plan {
			keep.Table, keep.Column, keep.MaxLength = "t", "name", 20
			p, err := NewPlan(t.Context(), target, all, PlanOptions{Names: []NamePolicy{keep}, Check: merge.Options{Rules: namesNothing}})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		refused := func(err error, wants ...string) {
			t.Helper()
			if want := new(RefusedError); !errors.As(err, &want) || len(want.Refusals) != len(wants) {
				t.Fatalf("got %v, want it to be refused because of %q", err, wants)
			}
			for _, want := range wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		}

		// The own row is renamed: then UPDATE counts.
		p := plan(NamePolicy{Keep: KeepActive, By: "age"})
		if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Reason, `"upd" (AFTER UPDATE) would run for every own row`) {
			t.Fatalf("refused: %v", p.Refusals)
		}
		p = plan(NamePolicy{})
		if len(p.Refusals) > 0 || !slices.Equal(p.Tables[0].UndoTriggers, []string{"del"}) {
			t.Fatalf("refused: %v; in an undo: %v", p.Refusals, p.Tables[0].UndoTriggers)
		}
		// One that came after the plan.
		exec(t, target, trigger("ins", "AFTER INSERT"))
		before := dump(t, target)
		_, err := Apply(t.Context(), p, target, all, Options{})
		refused(err, `"ins" (AFTER INSERT) would run for every row that is copied`)
		if before != dump(t, target) {
			t.Error("something was changed")
		}
		exec(t, target, "DROP TRIGGER ins")
		if _, err := Apply(t.Context(), p, target, all, Options{}); err != nil {
			t.Fatal(err)
		}

		before = dump(t, target)
		_, err = Undo(t.Context(), p, target, all, UndoOptions{})
		refused(err, `"del" (BEFORE DELETE) would run for rows that are removed`)
		if before != dump(t, target) {
			t.Error("something was changed")
		}
		exec(t, target, "DROP TRIGGER del")
		if done, err := Undo(t.Context(), p, target, all, UndoOptions{}); err != nil || done.Rows != 1 || !done.SameAsBefore {
			t.Errorf("%+v, %v", done, err)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM log"); n != 0 {
			t.Error("a trigger ran")
		}
	})
}

// An undo does not believe that a trigger which the plan names is gone, if the
// account is not shown triggers.
func TestHiddenTriggers(t *testing.T) {
	del := merge.Trigger{Name: "del", Event: "BEFORE DELETE"}
	r := &run{plan: &Plan{Tables: []Table{{Name: "t", UndoTriggers: []string{"del"}}}}}
	hidden := []merge.Hidden{{What: merge.HiddenTriggers, Why: "no privilege"}}
	for name, c := range map[string]struct {
		hidden []merge.Hidden
		now    []merge.Trigger
		want   string
	}{
		"dropped":             {nil, nil, ""},
		"hidden":              {hidden, nil, "which the plan names"},
		"hidden, but in part": {hidden, []merge.Trigger{del}, "(BEFORE DELETE) would run"},
	} {
		s := &source{catalog: &merge.Catalog{Hidden: c.hidden, Tables: []merge.Table{{Name: "t", Triggers: c.now}}}}
		var got []string
		r.triggersNow(s, true, func(_, reason string) { got = append(got, reason) })
		if c.want == "" != (len(got) == 0) || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
