package job

import (
	"context"
	"errors"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/record"
)

// Retry calls f until it returns nil or an error that retrying cannot fix.
// Between the calls it drops all connections, so f begins by reading the
// checkpoint. If ctx ends, or no transaction was committed for
// [Options.RetryFor], it returns a [*record.StoppedError].
func (r *Run) Retry(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	soft, stop := r.soften(ctx)
	defer stop()
	const shortest, longest = 50 * time.Millisecond, 5 * time.Second
	wait, since, committed := shortest, time.Time{}, r.Committed
	for {
		began := time.Now()
		err := f(soft)
		if err == nil || errors.Is(err, record.ErrStopped) {
			return err
		}
		if ctx.Err() != nil {
			r.drop()
			return &record.StoppedError{Doing: doing, Cause: context.Cause(ctx)}
		}
		meaning := sqldb.Translate(err)
		if errors.Is(meaning, sqldb.ErrDamaged) {
			return meaning
		}
		changed := r.Anew && errors.Is(meaning, sqldb.ErrChanged)
		if !changed && !errors.Is(meaning, sqldb.ErrUnavailable) && !errors.Is(meaning, sqldb.ErrRetryable) {
			return err
		}
		r.drop()
		if r.Committed > committed || since.IsZero() {
			wait, since, committed = shortest, time.Now(), r.Committed
			if _, locked := errors.AsType[*sqldb.LockedError](err); locked { // SQLite has waited already
				since = since.Add(-min(sqldb.BusyTimeout, since.Sub(began)))
			}
		}
		if time.Since(since) >= r.Opts.RetryFor {
			return &record.StoppedError{Doing: doing, Cause: meaning}
		}
		r.Tally.retry(err)
		select {
		case <-time.After(wait):
			wait = min(2*wait, longest)
		case <-ctx.Done():
		}
	}
}

// RetryCounted is retry for an f that calls [Run.Progress]: before a retry, the
// rows that the failed call counted are taken back.
func (r *Run) RetryCounted(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	r.counted = 0
	return r.Retry(ctx, doing, func(soft context.Context) error {
		r.Tally.takeBack(r.counted)
		r.counted = 0
		return f(soft)
	})
}

// soften returns a context that ends [Options.Grace] after ctx, so that a running
// transaction can end.
func (r *Run) soften(ctx context.Context) (context.Context, func()) {
	soft, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(r.Opts.Grace):
			cancel()
		case <-soft.Done():
		}
	})
	return soft, func() { stop(); cancel() }
}

// Between is called between transactions: it pauses, and returns an error if ctx
// has ended.
func (r *Run) Between(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Opts.Pause == nil {
		return nil
	}
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	if err := r.Opts.Pause(ctx); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err != nil {
		return &record.StoppedError{Doing: "pausing", Cause: err}
	}
	return nil
}
