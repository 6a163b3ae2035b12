package transfer

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

var (
	long = flag.Bool("torture.long", false, "let things go wrong at every point, and hundreds of times")
	seed = flag.Uint64("torture.seed", 7, "what the random worlds and points are made of")
)

// bad is a merge that goes wrong at one point.
type bad struct {
	name string

	// options are those of the call that goes wrong when at is reached.
	options func(ctx context.Context, at int64) (context.Context, job.Options, job.Hooks)
}

// at returns a failpoint that calls f at the n-th point, counted from 0.
func at(n int64, f func() error) rowio.Failpoint {
	var count atomic.Int64
	return func(string) error {
		if count.Add(1)-1 == n {
			return f()
		}
		return nil
	}
}

func faults() []bad {
	return []bad{
		{"connection lost", func(ctx context.Context, n int64) (context.Context, job.Options, job.Hooks) {
			return ctx, job.Options{RetryFor: -1}, job.Hooks{Fail: at(n, func() error { return driver.ErrBadConn })}
		}},
		{"connection lost, retried", func(ctx context.Context, n int64) (context.Context, job.Options, job.Hooks) {
			return ctx, job.Options{RetryFor: time.Minute}, job.Hooks{Fail: at(n, func() error { return driver.ErrBadConn })}
		}},
		{"interrupted", func(ctx context.Context, n int64) (context.Context, job.Options, job.Hooks) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, job.Options{}, job.Hooks{Fail: at(n, func() error { cancel(); return nil })}
		}},
	}
}

// points is how many points a merge goes through.
func points(t *testing.T, e engine, p *plan.Plan, all []rowio.Database) int64 {
	all = clones(t, e, all)
	var n atomic.Int64
	if _, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{}, job.Hooks{Fail: func(string) error { n.Add(1); return nil }}); err != nil {
		t.Fatal(err)
	}
	return n.Load()
}

// Whatever goes wrong, and wherever, the same call resumes, and the result is
// that of a merge in which nothing went wrong.
func TestResume(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "same"), gameWorld(t, e, "s2", 2, 12, "same"), gameWorld(t, e, "s3", 3, 11, "other")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}}})
		smooth := clones(t, e, all)
		if _, err := apply.ApplyWith(t.Context(), p, smooth[0], smooth[1:], job.Options{}, job.Hooks{Clock: fixedClock}); err != nil {
			t.Fatal(err)
		}
		want := steady(t, smooth[0])
		n := points(t, e, p, all)
		step := max(1, n/3)
		if *long {
			step = 1
		}
		worlds := clones(t, e, all)
		for _, f := range faults() {
			t.Run(f.name, func(t *testing.T) {
				for i := int64(0); i < n; i += step {
					refillAll(t, all, worlds)
					ctx, options, hooked := f.options(t.Context(), i)
					hooked.Clock = fixedClock
					_, err := apply.ApplyWith(ctx, p, worlds[0], worlds[1:], options, hooked)
					if err != nil && !errors.Is(err, ledger.ErrStopped) {
						t.Fatalf("point %d: %v", i, err)
					}
					if err != nil && options.RetryFor > 0 {
						t.Errorf("point %d: it did not resume by itself: %v", i, err)
					}
					guarded(t, p, worlds)
					if _, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, job.Hooks{Clock: fixedClock}); err != nil {
						t.Fatalf("point %d, again: %v", i, err)
					}
					if diff := cmp.Diff(want, steady(t, worlds[0])); diff != "" {
						t.Fatalf("point %d: not the result of a smooth run (-smooth +resumed):\n%s", i, diff)
					}
					startable(t, worlds[0], 1, true)
				}
			})
		}
	})
}
