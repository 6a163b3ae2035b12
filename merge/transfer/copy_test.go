package transfer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
	"mergesafe/store"
)

// Two processes that carry out one plan at once do no harm: one of them at
// least is told, and what comes out is one merge.
func TestTwoAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 10, "a"), gameWorld(t, e, "s2", 2, 600, "b")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		errs := make([]error, 3)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() {
				_, errs[i] = apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{RetryFor: 30 * time.Second}, job.Hooks{Batch: time.Microsecond})
			})
		}
		wait.Wait()
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatalf("after %v: %v", errs, err)
		}
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.Pass {
			t.Errorf("after %v: %+v", errs, proof)
		}
	})
}

// Who copies while another process undoes the same merge stops: nothing comes to the target
// behind the back of the undo, which says that all is as it was.
func TestUndoWhileCopying(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		p := mustPlan(t, all[0], all[1:], manyOptions)
		before := dump(t, all[0])
		undoes, copied, undone := make(chan bool), make(chan bool), make(chan error, 1)
		batches := 0
		_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{Parallel: 1, Pause: func(context.Context) error {
			if batches++; batches != 3 {
				return nil
			}
			var once sync.Once
			go func() {
				_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: job.Options{Parallel: 1, Pause: func(context.Context) error {
					if number(t, all[0], "SELECT COUNT(*) FROM "+ledger.MergesTable+" WHERE state = 'undoing'") == 1 {
						once.Do(func() { close(undoes); <-copied })
					}
					return nil
				}}})
				once.Do(func() { close(undoes) })
				undone <- err
			}()
			<-undoes
			return nil
		}}, job.Hooks{Batch: time.Microsecond})
		close(copied)
		if !errors.Is(err, ledger.ErrBusy) {
			t.Errorf("apply: %v", err)
		}
		if err := <-undone; err != nil {
			t.Fatalf("undo: %v", err)
		}
		if after := dump(t, all[0]); after != before {
			t.Errorf("not as it was: %d bytes, and %d before", len(after), len(before))
		}
	})
}

// An undo removes what it compared. If another process copied more meanwhile, it removes nothing.
func TestCopiedWhileComparing(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		p := mustPlan(t, all[0], all[1:], manyOptions)
		before := dump(t, all[0])
		compared, copied, undone := make(chan bool), make(chan bool), make(chan error, 1)
		batches := 0
		_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{Parallel: 1, Pause: func(context.Context) error {
			switch batches++; batches {
			case 3:
				var once sync.Once
				go func() {
					_, err := undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{}, job.Hooks{Fail: func(point string) error {
						if point == "before begin" { // of what records that it removes rows
							once.Do(func() { close(compared); <-copied })
						}
						return nil
					}})
					once.Do(func() { close(compared) })
					undone <- err
				}()
				<-compared
			case 5:
				close(copied)
				if err := <-undone; !errors.Is(err, ledger.ErrBusy) {
					t.Errorf("undo: %v", err)
				}
			}
			return nil
		}}, job.Hooks{Batch: time.Microsecond})
		if err != nil {
			t.Fatalf("apply: %v", err)
		}
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, all[0]); after != before {
			t.Errorf("not as it was: %d bytes, and %d before", len(after), len(before))
		}
	})
}

// A row that came to the target between the plan and its copying, and has the
// key of one that is to be copied, stays what it is.
func TestCollisionIsNoOverwrite(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		p := mustPlan(t, all[0], all[1:], manyOptions)
		before := dump(t, all[0])
		there := false
		_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{Pause: func(context.Context) error {
			if !there {
				there = true
				exec(t, all[0], "INSERT INTO things VALUES (104000, NULL, 'mine', 1)")
			}
			return nil
		}}, job.Hooks{Batch: time.Microsecond})
		if !errors.Is(err, store.ErrDuplicate) || !strings.Contains(err.Error(), "was not when the plan was made") {
			t.Errorf("got %v", err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM things WHERE id = 104000 AND note = 'mine'"); n != 1 {
			t.Error("it was overwritten")
		}
		exec(t, all[0], "DELETE FROM things WHERE id = 104000")
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if before != dump(t, all[0]) {
			t.Error("the undo left something")
		}
	})
}
