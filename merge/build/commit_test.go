package build_test

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A connection that is lost in a COMMIT leaves it open whether that took
// effect. Whichever COMMIT it is, and whether the server got it or not, the
// merge resumes by itself or by the same call, to the end that it has without.
// An undo has no COMMIT.
func TestCutInCommit(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "same"), worldtest.GameWorld(t, e, "s2", 2, 12, "same")}
	p, direct := worldtest.PlanOf(t, e, all, keepActive)

	// One COMMIT, counted since aim, is cut.
	var first, at atomic.Int64
	var how atomic.Value
	proxy := worldtest.NewProxy(t, direct.DSN[len("mysql:"):], func(n int64) worldtest.CutAt {
		if n-first.Load() == at.Load() {
			return how.Load().(worldtest.CutAt)
		}
		return worldtest.CutNever
	})
	aim := func(n int64, cut worldtest.CutAt) {
		first.Store(proxy.Commits())
		at.Store(n)
		how.Store(cut)
	}
	passed := func() int64 { return proxy.Commits() - first.Load() }
	into := world.Database{Name: direct.Name, DSN: "mysql:" + proxy.DSN()}
	merge := func(retry time.Duration) error {
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: retry}, job.Hooks{Clock: worldtest.FixedClock})
		return err
	}
	back := func() {
		t.Helper()
		aim(math.MaxInt64, worldtest.CutNever)
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := passed(); n != 1 { // that of the record: TestIntoUndoResumed cuts it
			t.Errorf("%d COMMITs in an undo: cut them, too", n)
		}
	}

	aim(math.MaxInt64, worldtest.CutNever)
	if err := merge(-1); err != nil {
		t.Fatal(err)
	}
	want, commits := worldtest.SteadyRows(t, p, worldtest.Clone(t, e, direct)), passed()
	back()
	t.Logf("%d COMMITs in the merge", commits)

	points := []int64{0, 1, commits / 2, commits - 1} // that of the manifest comes first
	if *worldtest.Long {
		points = nil
		for n := range commits {
			points = append(points, n)
		}
	}
	for i, n := range slices.Compact(points) {
		for j, cut := range []worldtest.CutAt{worldtest.CutBefore, worldtest.CutAfter} {
			for k, retry := range []time.Duration{-1, time.Minute} {
				if !*worldtest.Long && i%4 != 2*k+j {
					continue // each way at another COMMIT
				}
				aim(n, cut)
				err := merge(retry)
				if passed() <= n {
					t.Fatalf("COMMIT %d never came", n)
				}
				if retry > 0 && err != nil {
					t.Fatalf("COMMIT %d, cut %d: it did not resume by itself: %v", n, cut, err)
				}
				if retry < 0 {
					if !errors.Is(err, record.ErrStopped) {
						t.Fatalf("COMMIT %d, cut %d: %v, want that it is stopped", n, cut, err)
					}
					if err := merge(-1); err != nil {
						t.Fatalf("COMMIT %d, cut %d, again: %v", n, cut, err)
					}
				}
				if diff := cmp.Diff(want, worldtest.SteadyRows(t, p, worldtest.Clone(t, e, direct))); diff != "" {
					t.Fatalf("COMMIT %d, cut %d, retry %s: not the result of a smooth run (-smooth +cut):\n%s", n, cut, retry, diff)
				}
				back()
			}
		}
	}
}
