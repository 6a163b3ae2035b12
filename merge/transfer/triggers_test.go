package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
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
		for i, d := range []rowio.Database{target, source} {
			exec(t, d, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, age INTEGER NOT NULL)",
				fmt.Sprintf("INSERT INTO t VALUES (%d, 'same', %d)", i+1, i))
		}
		exec(t, target, "CREATE TABLE log (id INTEGER NOT NULL PRIMARY KEY)", trigger("upd", "AFTER UPDATE"), trigger("del", "BEFORE DELETE"))
		exec(t, source, "CREATE TABLE log (id INTEGER NOT NULL PRIMARY KEY)", trigger("ins", "AFTER INSERT"))
		all := []rowio.Database{source}
		planned := func(keep plan.NamePolicy) *plan.Plan {
			keep.Table, keep.Column, keep.MaxLength = "t", "name", 20
			p, err := planner.NewPlan(t.Context(), target, all, planner.PlanOptions{Names: []plan.NamePolicy{keep}, Check: declare.Options{Rules: namesNothing}})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		refused := func(err error, wants ...string) {
			t.Helper()
			if want := new(ledger.RefusedError); !errors.As(err, &want) || len(want.Refusals) != len(wants) {
				t.Fatalf("got %v, want it to be refused because of %q", err, wants)
			}
			for _, want := range wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		}

		// The own row is renamed: then UPDATE counts.
		p := planned(plan.NamePolicy{Keep: plan.KeepActive, By: "age"})
		if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Reason, `"upd" (AFTER UPDATE) would run for every own row`) {
			t.Fatalf("refused: %v", p.Refusals)
		}
		p = planned(plan.NamePolicy{})
		if len(p.Refusals) > 0 || !slices.Equal(p.Tables[0].UndoTriggers, []string{"del"}) {
			t.Fatalf("refused: %v; in an undo: %v", p.Refusals, p.Tables[0].UndoTriggers)
		}
		// One that came after the plan.
		exec(t, target, trigger("ins", "AFTER INSERT"))
		before := dump(t, target)
		_, err := apply.Apply(t.Context(), p, target, all, job.Options{})
		refused(err, `"ins" (AFTER INSERT) would run for every row that is copied`)
		if before != dump(t, target) {
			t.Error("something was changed")
		}
		exec(t, target, "DROP TRIGGER ins")
		if _, err := apply.Apply(t.Context(), p, target, all, job.Options{}); err != nil {
			t.Fatal(err)
		}

		before = dump(t, target)
		_, err = undo.Undo(t.Context(), p, target, all, undo.UndoOptions{})
		refused(err, `"del" (BEFORE DELETE) would run for rows that are removed`)
		if before != dump(t, target) {
			t.Error("something was changed")
		}
		exec(t, target, "DROP TRIGGER del")
		if done, err := undo.Undo(t.Context(), p, target, all, undo.UndoOptions{}); err != nil || done.Rows != 1 || !done.SameAsBefore {
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
	del := catalog.Trigger{Name: "del", Event: "BEFORE DELETE"}
	r := &job.Run{Plan: &plan.Plan{Tables: []plan.Table{{Name: "t", UndoTriggers: []string{"del"}}}}}
	hidden := []catalog.Hidden{{What: catalog.HiddenTriggers, Why: "no privilege"}}
	for name, c := range map[string]struct {
		hidden []catalog.Hidden
		now    []catalog.Trigger
		want   string
	}{
		"dropped":             {nil, nil, ""},
		"hidden":              {hidden, nil, "which the plan names"},
		"hidden, but in part": {hidden, []catalog.Trigger{del}, "(BEFORE DELETE) would run"},
	} {
		s := &rowio.Source{Known: &catalog.Catalog{Hidden: c.hidden, Tables: []catalog.Table{{Name: "t", Triggers: c.now}}}}
		var got []string
		planner.TriggersNow(r, s, true, func(_, reason string) { got = append(got, reason) })
		if c.want == "" != (len(got) == 0) || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
