package build_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
)

// Two processes that carry out one plan at once do no harm: one of them at
// least is told, and what comes out is one merge.
func TestTwoAtOnce(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 10, "a"), worldtest.GameWorld(t, e, "s2", 2, 600, "b")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		errs := make([]error, 3)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() {
				_, errs[i] = build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: 30 * time.Second}, job.Hooks{Batch: time.Microsecond})
			})
		}
		wait.Wait()
		if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); err != nil {
			t.Fatalf("after %v: %v", errs, err)
		}
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("after %v: %+v", errs, proof)
		}
	})
}

// An apply that begins while an earlier one still fills a table goes on with the merge: what that one writes from then on
// is refused, also where a table has no key that could tell.
func TestTakenUp(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		var all []world.Database
		for _, name := range []string{"a", "b"} {
			d := e.Fresh(t, name)
			worldtest.Exec(t, d, "CREATE TABLE logs (line VARCHAR(99) NOT NULL)")
			lines := make([]string, 3000)
			for i := range lines {
				lines[i] = fmt.Sprintf("('%s %d')", name, i)
			}
			worldtest.Exec(t, d, "INSERT INTO logs VALUES "+strings.Join(lines, ", "))
			all = append(all, d)
		}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		begun, goOn, ended := make(chan bool), make(chan bool), make(chan error, 1)
		batches := 0
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1, Pause: func(context.Context) error {
			if batches++; batches != 3 {
				return nil
			}
			var once sync.Once
			go func() {
				_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1, Pause: func(context.Context) error {
					once.Do(func() { close(begun); <-goOn }) // it has emptied the table
					return nil
				}}, job.Hooks{Batch: time.Nanosecond})
				once.Do(func() { close(begun) })
				ended <- err
			}()
			<-begun
			return nil
		}}, job.Hooks{Batch: time.Nanosecond})
		if batches < 3 {
			t.Fatalf("%d batches: %v", batches, err)
		}
		close(goOn)
		if !errors.Is(err, record.ErrBusy) || !strings.Contains(err.Error(), "another apply began later") {
			t.Errorf("the first: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the second: %v", err)
		}
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM logs"); n != 6000 {
			t.Errorf("%d rows, want 6000", n)
		}
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
	})
}

// Who copies while another process undoes the same merge stops: nothing comes to the new database
// behind the back of the undo, which drops it.
func TestUndoWhileCopying(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 5000)}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		undoes, copied, undone := make(chan bool), make(chan bool), make(chan error, 1)
		batches := 0
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1, Pause: func(context.Context) error {
			if batches++; batches != 3 {
				return nil
			}
			var once sync.Once
			go func() {
				waits := job.Options{Retrying: func(error) { once.Do(func() { close(undoes) }) }}                                        // until the file is closed
				_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: waits, Placing: func(context.Context) error { // before it drops
					once.Do(func() { close(undoes); <-copied })
					return nil
				}})
				once.Do(func() { close(undoes) })
				undone <- err
			}()
			<-undoes
			return nil
		}}, job.Hooks{Batch: time.Microsecond})
		close(copied)
		if !errors.Is(err, record.ErrBusy) {
			t.Errorf("apply: %v", err)
		}
		if err := <-undone; err != nil {
			t.Fatalf("undo: %v", err)
		}
		if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
			t.Errorf("%s is there after its undo: %v", into.Name, err)
		}
	})
}

// A row that came to the new database while rows are copied, and has the key of one that is to be
// copied, is not overwritten.
func TestCollisionIsNoOverwrite(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 5000)}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		there := false
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Pause: func(context.Context) error {
			if !there {
				there = true
				worldtest.Exec(t, into, "INSERT INTO things VALUES (104000, NULL, 'mine', 1)")
			}
			return nil
		}}, job.Hooks{Batch: time.Microsecond})
		if !errors.Is(err, store.ErrDuplicate) || !strings.Contains(err.Error(), "has a key or unique value that another row of the new database also has") {
			t.Errorf("got %v", err)
		}
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM things WHERE id = 104000 AND note = 'mine'"); n != 1 {
			t.Error("it was overwritten")
		}
		worldtest.MustDrop(t, p, into, all)
	})
}
