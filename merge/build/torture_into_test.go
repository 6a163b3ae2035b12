//go:build linux

package build_test

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A process that makes a new database, or drops it, and is killed at any point, leaves what the
// next one resumes, to the same end: what a smooth run makes, or nothing. No world is written but
// for its fences.
func TestTortureInto(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		worlds, kills, total := 1, int(e.Short(6)), 0
		if *worldtest.Long {
			worlds, kills = 25, 12
		}
		for w := range worlds {
			rnd := rand.New(rand.NewPCG(*worldtest.Seed, uint64(w)))
			all, options := randomWorlds(t, e, rnd)
			p, into := worldtest.PlanOf(t, e, all, options)
			with := append([]world.Database{into}, all...)
			var before []string
			for _, d := range all {
				before = append(before, worldtest.Dump(t, d, "gameid_servers"))
			}
			var points atomic.Int64
			hooks := job.Hooks{Clock: worldtest.FixedClock, Batch: time.Microsecond, Fail: func(string) error { points.Add(1); return nil }}
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, hooks); err != nil {
				t.Fatalf("world %d: %v", w, err)
			}
			want := worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			for k := range kills {
				deaths := 0
				for killed(t, p, with, rnd.Int64N(points.Load()), false) && deaths < 3 {
					deaths++
				}
				if k%2 == 0 {
					if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: worldtest.FixedClock}); err != nil {
						t.Fatalf("world %d: %v", w, err)
					}
					if diff := cmp.Diff(want, worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))); diff != "" {
						t.Fatalf("world %d: not the result of a smooth run (-smooth +resumed):\n%s", w, diff)
					}
					if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict == verdict.Fail {
						t.Errorf("world %d: %+v, %v", w, proof, err)
					}
				}
				for killed(t, p, with, rnd.Int64N(60), true) && deaths < 6 {
					deaths++
				}
				if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
					t.Fatalf("world %d: undo: %v", w, err)
				}
				if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
					t.Fatalf("world %d: %s is there after its undo: %v\n%s", w, into.Name, err, worldtest.Dump(t, into))
				}
				at, err := build.LookUp(t.Context(), p, into, all)
				if err != nil || at.Fenced() {
					t.Fatalf("world %d: %+v, %v", w, at, err)
				}
				total += deaths
			}
			for i, d := range all {
				if diff := cmp.Diff(before[i], worldtest.Dump(t, d, "gameid_servers")); diff != "" {
					t.Errorf("%s was changed:\n%s", d.Name, diff)
				}
			}
		}
		t.Logf("%d plans of seed %d, in each of which the process was killed at random points: %d kills", worlds, *worldtest.Seed, total)
		if *worldtest.Long && total < 300 {
			t.Errorf("killed %d times, want 300", total)
		}
	})
}
