package job

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// What SQLite has waited for a lock is a part of the time for which the work retries; other work that came before is none.
func TestRetryCountsWaits(t *testing.T) {
	locked := fmt.Errorf("%w: %w", sqldb.ErrRetryable, &sqldb.LockedError{By: "python3", Err: errors.New("database is locked")})
	for _, c := range []struct {
		retryFor, work time.Duration // and then it waits
		err            error
		calls          int
	}{
		{3 * time.Second, 0, locked, 1},
		{3 * time.Second, time.Hour, locked, 1},
		{7 * time.Second, time.Hour, locked, 2},
		{7 * time.Second, 0, sqldb.ErrUnavailable, 3},
		{2 * time.Minute, time.Minute, sqldb.ErrUnavailable, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &Run{Opts: Options{RetryFor: c.retryFor}, New: &world.Connection{}, Tally: &Tally{}}
			calls := 0
			err := r.Retry(t.Context(), "trying", func(context.Context) error {
				if calls++; calls == 1 || !errors.Is(c.err, sqldb.ErrRetryable) {
					time.Sleep(c.work)
				}
				time.Sleep(sqldb.BusyTimeout)
				return c.err
			})
			if !errors.Is(err, record.ErrStopped) || calls != c.calls {
				t.Errorf("%+v: %d calls, %v", c, calls, err)
			}
		})
	}
}
