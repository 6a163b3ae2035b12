//go:build linux

package build_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A merge of which rows stay behind, in a process that is killed at any point, is resumed to the same end.
func TestTortureLeave(t *testing.T) {
	servertest.NotShort(t)
	kills := 1
	if *worldtest.Long {
		kills = 30
	}
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		rnd := rand.New(rand.NewPCG(*worldtest.Seed, 33))
		all := worldtest.KeyWorlds(t, e, 2, worldtest.Leavers...)
		p, into := worldtest.PlanOf(t, e, all, worldtest.LeaveOptions(worldtest.BestTwo))
		var points atomic.Int64
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: worldtest.FixedClock, Batch: time.Microsecond, Fail: func(string) error { points.Add(1); return nil }}); err != nil {
			t.Fatal(err)
		}
		want, with, deaths := worldtest.WithoutCounters(worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))), append([]world.Database{into}, all...), 0
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		for k := range kills {
			for killed(t, p, with, rnd.Int64N(points.Load()), false) && deaths < 3*(k+1) {
				deaths++
			}
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: worldtest.FixedClock}); err != nil {
				t.Fatal(err)
			}
			if got := worldtest.WithoutCounters(worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))); got != want {
				t.Fatalf("resumed:\n%s\nwant\n%s", got, want)
			}
			if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
				t.Fatalf("%s: %+v", proof.Verdict, proof.Findings)
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d kills", deaths)
	})
}
