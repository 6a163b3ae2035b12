package prove_test

import (
	"errors"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What was read of a merge that was undone meanwhile proves nothing, also if the same plan was carried out again.
func TestProofOfAnUndoneMerge(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		points := 0
		if _, err := prove.VerifyWith(t.Context(), p, into, all, job.Options{Parallel: 1}, job.Hooks{Fail: func(string) error { points++; return nil }}); err != nil {
			t.Fatal(err)
		}
		at := 0
		proof, err := prove.VerifyWith(t.Context(), p, into, all, job.Options{Parallel: 1}, job.Hooks{Fail: func(string) error {
			if at++; at == points*9/10 { // most was read of it
				if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
					t.Error(err)
				}
				worldtest.MustApply(t, p, into, all)
			}
			return nil
		}})
		if !errors.Is(err, record.ErrBusy) {
			t.Errorf("%+v, %v", proof, err)
		}
	})
}
