package transfer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
)

// The last merge is the one that was begun last; one that was undone is forgotten. Asking
// changes nothing.
func TestLastMerge(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		target := gameWorld(t, e, "s1", 1, 3, "anna")
		first, second := gameWorld(t, e, "s2", 2, 3, "bert"), gameWorld(t, e, "s3", 3, 3, "carl")
		last := func(want *ledger.Recorded) {
			t.Helper()
			before := dump(t, target)
			got, err := ledger.LastMerge(t.Context(), target)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			if diff := cmp.Diff(before, dump(t, target)); diff != "" {
				t.Error(diff)
			}
		}
		begun := time.Date(2026, 11, 21, 3, 9, 8, 413e6, time.UTC)
		merged := func(source rowio.Database) (*plan.Plan, *ledger.Recorded) {
			p := mustPlan(t, target, []rowio.Database{source}, planner.PlanOptions{})
			begun = begun.Add(time.Hour)
			if _, err := apply.ApplyWith(t.Context(), p, target, []rowio.Database{source}, job.Options{}, job.Hooks{Clock: func() time.Time { return begun }}); err != nil {
				t.Fatal(err)
			}
			return p, &ledger.Recorded{ID: p.ID, State: ledger.StateCopied, Sources: []string{source.Name}, Began: begun}
		}
		last(nil)
		_, one := merged(first)
		last(one)
		p, two := merged(second)
		last(two)
		if _, err := undo.Undo(t.Context(), p, target, []rowio.Database{second}, undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		last(one)
	})
}
