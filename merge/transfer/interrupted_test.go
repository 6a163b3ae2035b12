package transfer

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// interruptedAnywhere interrupts the apply of a plan at points of it, and resumes or undoes
// it; and the undo of the completed merge, which is resumed. What there is afterwards must be
// what it is without an interruption. step is how many points lie between two of them.
func interruptedAnywhere(t *testing.T, e engine, p *plan.Plan, all []rowio.Database, step int) {
	t.Helper()
	if *long {
		step = 1
	}
	small := func(h job.Hooks) job.Hooks { h.Clock, h.Batch = fixedClock, time.Nanosecond; return h }
	lost := func(n int) job.Hooks {
		return small(job.Hooks{Fail: at(int64(n), func() error { return context.Canceled })})
	}
	before := dump(t, all[0])
	merged := func(d rowio.Database) string { return withoutCounters(dump(t, d, ledger.KeysTable)) } // which counts what it has
	smooth, worlds := clones(t, e, all), clones(t, e, all)
	if _, err := apply.ApplyWith(t.Context(), p, smooth[0], smooth[1:], job.Options{}, small(job.Hooks{})); err != nil {
		t.Fatal(err)
	}
	want := merged(smooth[0])
	for n := step - 1; ; n += step {
		refillAll(t, all, worlds)
		if _, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, lost(n)); err == nil {
			if n < step {
				t.Errorf("apply ended before point %d", n)
			}
			break
		}
		if n/step%2 == 0 {
			if _, err := undo.Undo(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}); err != nil && !errors.Is(err, ledger.ErrNoMerge) {
				t.Fatalf("point %d: undo: %v", n, err)
			}
			if diff := cmp.Diff(withoutCounters(before), merged(worlds[0])); diff != "" {
				t.Fatalf("point %d: undone (-before +after):\n%s", n, diff)
			}
			continue
		}
		if _, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, small(job.Hooks{})); err != nil {
			t.Fatalf("point %d, again: %v", n, err)
		}
		if diff := cmp.Diff(want, merged(worlds[0])); diff != "" {
			t.Fatalf("point %d: (-smooth +resumed):\n%s", n, diff)
		}
	}
	if proof := verified(t, p, smooth[0], smooth[1:]); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
	refillAll(t, all[1:], worlds[1:])
	for n, ended := 0, false; !ended; n += step {
		refillAll(t, smooth[:1], worlds[:1])
		_, err := undo.UndoWith(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}, lost(n))
		if ended = err == nil; !ended {
			if _, err := undo.Undo(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}); err != nil && !errors.Is(err, ledger.ErrNoMerge) {
				t.Fatalf("undo, point %d, again: %v", n, err)
			}
		}
		if diff := cmp.Diff(withoutCounters(before), merged(worlds[0])); diff != "" {
			t.Fatalf("undo, point %d (-before +after):\n%s", n, diff)
		}
	}
}
