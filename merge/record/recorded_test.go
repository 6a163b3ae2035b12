package record_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The last merge is the one that was begun last: the one that made the database, or the last one of its history.
// Asking changes nothing.
func TestLastMerge(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		w := worldtest.GameWorld(t, e, "s1", 1, 3, "anna")
		first, second := worldtest.GameWorld(t, e, "s2", 2, 3, "bert"), worldtest.GameWorld(t, e, "s3", 3, 3, "carl")
		last := func(d world.Database, want *record.Recorded) {
			t.Helper()
			before := worldtest.Dump(t, d)
			got, err := record.LastMerge(t.Context(), d)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			if diff := cmp.Diff(before, worldtest.Dump(t, d)); diff != "" {
				t.Error(diff)
			}
		}
		begun := time.Date(2026, 11, 21, 3, 9, 8, 413e6, time.UTC)
		merged := func(name string, worlds ...world.Database) (*plan.Plan, world.Database, *record.Recorded) {
			into := e.Fresh(t, name)
			p := worldtest.MustPlan(t, into, worlds, planner.PlanOptions{})
			begun = begun.Add(time.Hour)
			if _, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{}, job.Hooks{Clock: func() time.Time { return begun }}); err != nil {
				t.Fatal(err)
			}
			want := &record.Recorded{ID: p.ID, State: record.StateMade, Began: begun}
			for _, w := range worlds {
				want.Worlds = append(want.Worlds, w.Name)
			}
			last(into, want)
			worldtest.Opened(t, p, into, worlds)
			want.State = record.StateOpen
			last(into, want)
			return p, into, want
		}
		last(w, nil)
		_, n1, one := merged("n1", w, first)
		last(w, nil)
		p, n2, _ := merged("n2", n1, second)
		last(n1, one)
		if _, err := build.Undo(t.Context(), p, n2, []world.Database{n1, second}, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		last(n1, one)
	})
}
