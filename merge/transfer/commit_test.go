package transfer

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
)

// A connection that is lost in a COMMIT leaves it open whether that took
// effect. Whichever COMMIT it is, and whether the server got it or not, the
// merge resumes by itself or by the same call, and so does its undo, to the end
// that they have without.
func TestCutInCommit(t *testing.T) {
	e := engines()[1]
	all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "same"), gameWorld(t, e, "s2", 2, 12, "same")}
	p := mustPlan(t, all[0], all[1:], keepActive)
	before := steady(t, all[0])
	worlds := clones(t, e, all)

	// One COMMIT, counted since aim, is cut.
	var first, at atomic.Int64
	var how atomic.Value
	proxy := newProxy(t, worlds[0].DSN[len("mysql:"):], func(n int64) cutAt {
		if n-first.Load() == at.Load() {
			return how.Load().(cutAt)
		}
		return cutNever
	})
	aim := func(n int64, cut cutAt) {
		first.Store(proxy.Commits())
		at.Store(n)
		how.Store(cut)
	}
	passed := func() int64 { return proxy.Commits() - first.Load() }
	target := rowio.Database{Name: worlds[0].Name, DSN: "mysql:" + proxy.DSN()}
	apply := func(retry time.Duration) error {
		_, err := apply.ApplyWith(t.Context(), p, target, worlds[1:], job.Options{RetryFor: retry}, job.Hooks{Clock: fixedClock})
		return err
	}
	undo := func(retry time.Duration) error {
		_, err := undo.UndoWith(t.Context(), p, target, worlds[1:], undo.UndoOptions{Options: job.Options{RetryFor: retry}}, job.Hooks{Clock: fixedClock})
		return err
	}

	aim(math.MaxInt64, cutNever)
	if err := apply(-1); err != nil {
		t.Fatal(err)
	}
	want, merges := steady(t, worlds[0]), passed()
	merged := clones(t, e, worlds)
	aim(math.MaxInt64, cutNever)
	if err := undo(-1); err != nil {
		t.Fatal(err)
	}
	undoes := passed()
	t.Logf("%d COMMITs in the merge, %d in its undo", merges, undoes)

	for _, work := range []struct {
		name    string
		do      func(retry time.Duration) error
		from    []rowio.Database
		want    string
		commits int64
	}{
		{"merge", apply, all, want, merges},
		{"undo", undo, merged, before, undoes},
	} {
		t.Run(work.name, func(t *testing.T) {
			points := []int64{0, 1, work.commits / 2, work.commits - 1} // that of the manifest comes first
			if *long {
				points = nil
				for n := range work.commits {
					points = append(points, n)
				}
			}
			for i, n := range slices.Compact(points) {
				for j, cut := range []cutAt{cutBefore, cutAfter} {
					for k, retry := range []time.Duration{-1, time.Minute} {
						if !*long && (i+j+k)%2 == 1 {
							continue // half of them
						}
						refillAll(t, work.from, worlds)
						aim(n, cut)
						err := work.do(retry)
						if passed() <= n {
							t.Fatalf("COMMIT %d never came", n)
						}
						if retry > 0 && err != nil {
							t.Fatalf("COMMIT %d, cut %d: it did not resume by itself: %v", n, cut, err)
						}
						if retry < 0 {
							if !errors.Is(err, ledger.ErrStopped) {
								t.Fatalf("COMMIT %d, cut %d: %v, want that it is stopped", n, cut, err)
							}
							// The last COMMIT of an undo removes the merge.
							if err := work.do(-1); err != nil && !(errors.Is(err, ledger.ErrNoMerge) && n == work.commits-1 && cut == cutAfter) {
								t.Fatalf("COMMIT %d, cut %d, again: %v", n, cut, err)
							}
						}
						if diff := cmp.Diff(work.want, steady(t, worlds[0])); diff != "" {
							t.Fatalf("COMMIT %d, cut %d, retry %s: not the result of a smooth run (-smooth +cut):\n%s", n, cut, retry, diff)
						}
					}
				}
			}
		})
	}
}
