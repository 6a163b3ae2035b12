package transfer

import (
	"context"
	"errors"
	"time"

	"mergesafe/internal/sqldb"
)

// retry calls f until it returns nil or an error that retrying cannot fix.
// Between the calls it drops all connections, so f begins by reading the
// checkpoint. If ctx ends, or no transaction was committed for
// [Options.RetryFor], it returns a [*StoppedError].
func (r *run) retry(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	soft, stop := r.soften(ctx)
	defer stop()
	const shortest, longest = 50 * time.Millisecond, 5 * time.Second
	wait, since, committed := shortest, time.Time{}, r.committed
	for {
		err := f(soft)
		if err == nil || errors.Is(err, ErrStopped) {
			return err
		}
		if ctx.Err() != nil {
			r.drop()
			return &StoppedError{Doing: doing, Cause: context.Cause(ctx)}
		}
		meaning := sqldb.Translate(err)
		if !errors.Is(meaning, sqldb.ErrUnavailable) && !errors.Is(meaning, sqldb.ErrRetryable) {
			return err
		}
		r.drop()
		if r.committed > committed || since.IsZero() {
			wait, since, committed = shortest, time.Now(), r.committed
		}
		if time.Since(since) >= r.opts.RetryFor {
			return &StoppedError{Doing: doing, Cause: meaning}
		}
		r.retrying(err)
		select {
		case <-time.After(wait):
			wait = min(2*wait, longest)
		case <-ctx.Done():
		}
	}
}

// retryCounted is retry for an f that calls [run.progress]: before a retry, the
// rows that the failed call counted are taken back.
func (r *run) retryCounted(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	r.counted, r.noted = 0, false
	return r.retry(ctx, doing, func(soft context.Context) error {
		r.tally.mu.Lock()
		r.tally.done -= r.counted
		r.counted = 0
		r.tally.mu.Unlock()
		return f(soft)
	})
}

// soften returns a context that ends [Options.Grace] after ctx, so that a running
// transaction can end.
func (r *run) soften(ctx context.Context) (context.Context, func()) {
	soft, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(r.opts.Grace):
			cancel()
		case <-soft.Done():
		}
	})
	return soft, func() { stop(); cancel() }
}

// between is called between transactions: it pauses, and returns an error if ctx
// has ended.
func (r *run) between(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.opts.Pause == nil {
		return nil
	}
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	if err := r.opts.Pause(ctx); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err != nil {
		return &StoppedError{Doing: "pausing", Cause: err}
	}
	return nil
}
