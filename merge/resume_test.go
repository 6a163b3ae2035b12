package merge

import (
	"context"
	"database/sql/driver"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
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
func at(n int64, f func() error) world.Failpoint {
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

// points is how many points a merge goes through. The worlds and the new database are as before afterwards.
func points(t *testing.T, p *plan.Plan, into world.Database, worlds []world.Database) int64 {
	t.Helper()
	var n atomic.Int64
	if _, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{}, job.Hooks{Fail: func(string) error { n.Add(1); return nil }}); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	return n.Load()
}
