package merge

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// interruptedAnywhere interrupts the apply of a plan at points of it, and resumes or undoes
// it; and the undo of the completed merge, which is resumed. What there is afterwards must be
// what it is without an interruption: the same new database, or none, and the same worlds. step is
// how many points lie between two of them.
func interruptedAnywhere(t *testing.T, e engine, p *plan.Plan, all []world.Database, step int) {
	t.Helper()
	if *long {
		step = 1
	}
	into := e.fresh(t, p.New.Name)
	small := func(h job.Hooks) job.Hooks { h.Clock, h.Batch = fixedClock, time.Nanosecond; return h }
	// An answer that is lost may be found out by itself: what tells that there are no more points is that this one is not met.
	lost := func(n int) (h job.Hooks, met *atomic.Bool) {
		met = new(atomic.Bool)
		return small(job.Hooks{Fail: at(int64(n), func() error { met.Store(true); return context.Canceled })}), met
	}
	made := func() string {
		t.Helper() // the record of keys counts what it has
		return strings.ReplaceAll(withoutCounters(dump(t, into, record.KeysTable, record.RecordTable, record.ProgressTable)), p.ID, "ID")
	}
	complete := func() {
		t.Helper()
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, small(job.Hooks{})); err != nil {
			t.Fatal(err)
		}
	}
	var before []string
	for _, d := range all {
		before = append(before, dump(t, d, worldregistry.Table)) // where fences leave their number
	}
	undone := func(what string, n int) {
		t.Helper()
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
			t.Fatalf("%s, point %d: undo: %v", what, n, err)
		}
		if there, err := existsNow(t.Context(), into); err != nil || there {
			t.Fatalf("%s, point %d: %s is there after its undo: %v", what, n, into.Name, err)
		}
		for i, d := range all {
			if diff := cmp.Diff(before[i], dump(t, d, worldregistry.Table)); diff != "" {
				t.Fatalf("%s, point %d: %s was changed:\n%s", what, n, d.Name, diff)
			}
		}
	}
	complete()
	want := made()
	if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
	undone("apply", -1)
	for n := step - 1; ; n += step {
		hooks, met := lost(n)
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, hooks); !met.Load() {
			if err != nil || n < step {
				t.Errorf("apply ended before point %d: %v", n, err)
			}
			break
		}
		if n/step%2 == 1 {
			complete()
			if diff := cmp.Diff(want, made()); diff != "" {
				t.Fatalf("point %d: (-smooth +resumed):\n%s", n, diff)
			}
		}
		undone("apply", n)
	}
	for n, ended := 0, false; !ended; n += step {
		complete()
		hooks, met := lost(n)
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, hooks)
		if ended = !met.Load(); ended && err != nil {
			t.Errorf("undo, point %d: %v", n, err)
		}
		undone("undo", n)
	}
}
