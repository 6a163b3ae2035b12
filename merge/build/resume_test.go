package build_test

import (
	"context"
	"database/sql/driver"
	"time"

	"mergesafe/merge/job"
	"mergesafe/merge/worldtest"
)

// bad is a merge that goes wrong at one point.
type bad struct {
	name string

	// options are those of the call that goes wrong when at is reached.
	options func(ctx context.Context, at int64) (context.Context, job.Options, job.Hooks)
}

func faults() []bad {
	return []bad{
		{"connection lost", func(ctx context.Context, n int64) (context.Context, job.Options, job.Hooks) {
			return ctx, job.Options{RetryFor: -1}, job.Hooks{Fail: worldtest.At(n, func() error { return driver.ErrBadConn })}
		}},
		{"connection lost, retried", func(ctx context.Context, n int64) (context.Context, job.Options, job.Hooks) {
			return ctx, job.Options{RetryFor: time.Minute}, job.Hooks{Fail: worldtest.At(n, func() error { return driver.ErrBadConn })}
		}},
		{"interrupted", func(ctx context.Context, n int64) (context.Context, job.Options, job.Hooks) {
			ctx, cancel := context.WithCancel(ctx)
			return ctx, job.Options{}, job.Hooks{Fail: worldtest.At(n, func() error { cancel(); return nil })}
		}},
	}
}
