package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// A world that others were merged into takes more, and gives them back in the
// other order.
func TestTwoMerges(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		target, two, three := gameWorld(t, e, "s1", 1, 10, "a"), gameWorld(t, e, "s2", 2, 20, "b"), gameWorld(t, e, "s3", 3, 30, "b")
		before := steady(t, target)
		first := mustPlan(t, target, []rowio.Database{two}, planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), first, target, []rowio.Database{two}, job.Options{}); err != nil {
			t.Fatal(err)
		}
		between := steady(t, target)
		// The same world again is refused: it is there.
		again, err := planner.NewPlan(t.Context(), target, []rowio.Database{two}, planner.PlanOptions{})
		if err != nil || !strings.Contains(fmt.Sprint(again.Refusals), verdict.CodeWorldMerged) || !strings.Contains(fmt.Sprint(again.Refusals), `its world went to "s1"`) {
			t.Fatalf("%+v, %v", again, err)
		}
		second := mustPlan(t, target, []rowio.Database{three}, keepActive)
		yesterday := job.Hooks{Clock: func() time.Time { return time.Now().AddDate(0, 0, -1) }} // of a machine whose clock is wrong
		if _, err := apply.ApplyWith(t.Context(), second, target, []rowio.Database{three}, job.Options{}, yesterday); err != nil {
			t.Fatal(err)
		}
		if proof := verified(t, second, target, []rowio.Database{three}); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		if last, err := ledger.LastMerge(t.Context(), target); err != nil || last.ID != second.ID {
			t.Errorf("the last merge is %+v, %v", last, err)
		}
		// What the second one brought is no fault of the first, and the proof says so.
		proof := verified(t, first, target, []rowio.Database{two})
		if want := "the merge " + second.ID + " of s3 came later"; proof.Verdict != verdict.Fail || len(proof.Findings) == 0 || !strings.Contains(proof.Findings[0].String(), want) {
			t.Errorf("%s: %v, want %s", proof.Verdict, proof.Findings, want)
		}
		refused := new(ledger.RefusedError)
		if _, err := undo.Undo(t.Context(), first, target, []rowio.Database{two}, undo.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), second.ID+" came later") {
			t.Errorf("the first before the second: %v", err)
		}
		if _, err := undo.Undo(t.Context(), second, target, []rowio.Database{three}, undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if proof := verified(t, first, target, []rowio.Database{two}); proof.Verdict != verdict.Pass || strings.Contains(fmt.Sprint(proof.Findings), "came later") {
			t.Errorf("%s: %v", proof.Verdict, proof.Findings)
		}
		if between != steady(t, target) {
			t.Error("the second undo left something")
		}
		if _, err := undo.Undo(t.Context(), first, target, []rowio.Database{two}, undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if before != steady(t, target) {
			t.Error("the first undo left something")
		}
	})
}
