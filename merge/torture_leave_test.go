//go:build linux

package merge

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// A merge of which rows stay behind, in a process that is killed at any point, is resumed to the same end.
func TestTortureLeave(t *testing.T) {
	servertest.NotShort(t)
	kills := 1
	if *long {
		kills = 30
	}
	onEach(t, func(t *testing.T, e engine) {
		rnd := rand.New(rand.NewPCG(*seed, 33))
		all := keyWorlds(t, e, 2, leavers...)
		p, into := planOf(t, e, all, leaveOptions(bestTwo))
		var points atomic.Int64
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: fixedClock, Batch: time.Microsecond, Fail: func(string) error { points.Add(1); return nil }}); err != nil {
			t.Fatal(err)
		}
		want, with, deaths := withoutCounters(rowsMade(t, p, clone(t, e, into))), append([]world.Database{into}, all...), 0
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		for k := range kills {
			for killed(t, p, with, rnd.Int64N(points.Load()), false) && deaths < 3*(k+1) {
				deaths++
			}
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: fixedClock}); err != nil {
				t.Fatal(err)
			}
			if got := withoutCounters(rowsMade(t, p, clone(t, e, into))); got != want {
				t.Fatalf("resumed:\n%s\nwant\n%s", got, want)
			}
			if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
				t.Fatalf("%s: %+v", proof.Verdict, proof.Findings)
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d kills", deaths)
	})
}
