//go:build linux

package transfer

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// A merge of which rows stay behind, in a process that is killed at any point, is resumed to the same end; its undo,
// killed too, leaves the target as it was.
func TestTortureLeave(t *testing.T) {
	servertest.NotShort(t)
	kills := 1
	if *long {
		kills = 30
	}
	onEach(t, func(t *testing.T, e engine) {
		rnd := rand.New(rand.NewPCG(*seed, 33))
		all := keyWorlds(t, e, 2, leavers...)
		p := mustPlan(t, all[0], all[1:], leaveOptions(bestTwo))
		before := withoutCounters(dump(t, all[0], ledger.KeysTable))
		var points atomic.Int64
		smooth := clones(t, e, all)
		if _, err := apply.ApplyWith(t.Context(), p, smooth[0], smooth[1:], job.Options{}, job.Hooks{Clock: fixedClock, Batch: time.Microsecond, Fail: func(string) error { points.Add(1); return nil }}); err != nil {
			t.Fatal(err)
		}
		want, worlds, deaths := withoutCounters(dump(t, smooth[0], ledger.KeysTable)), clones(t, e, all), 0
		for k := range kills {
			refillAll(t, all, worlds)
			for killed(t, p, worlds, rnd.Int64N(points.Load()), false) && deaths < 3*(k+1) {
				deaths++
			}
			if _, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, job.Hooks{Clock: fixedClock}); err != nil {
				t.Fatal(err)
			}
			if got := withoutCounters(dump(t, worlds[0], ledger.KeysTable)); got != want {
				t.Fatalf("resumed:\n%s\nwant\n%s", got, want)
			}
			if proof := verified(t, p, worlds[0], worlds[1:]); proof.Verdict != verdict.Pass {
				t.Fatalf("%s: %+v", proof.Verdict, proof.Findings)
			}
			for killed(t, p, worlds, rnd.Int64N(40), true) && deaths < 6*(k+1) {
				deaths++
			}
			if _, err := undo.Undo(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}); err != nil && !errors.Is(err, ledger.ErrNoMerge) {
				t.Fatal(err)
			}
			if got := withoutCounters(dump(t, worlds[0], ledger.KeysTable)); got != before {
				t.Fatalf("undone:\n%s\nwant\n%s", got, before)
			}
		}
		t.Logf("%d kills", deaths)
	})
}
