//go:build linux

package torture

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/internal/minter"
)

// frozen stops a process, lets a second one take over after the lease has
// ended, and lets the first go on: it mints no more, names the second, and
// inserts no row.
func frozen(t *testing.T, w *minter.World, dsn string) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cfg := windowed(dsn, 5*time.Second)
	// One that is stopped within a transaction of SQLite locks the whole file.
	cfg.Rows, cfg.Guard = strings.HasPrefix(dsn, "mysql:"), true
	first := w.Start(cfg)
	first.Await(minter.Opened)
	db := open(t, dsn)
	for range times(1, 25) {
		first.AwaitMore(1000)
		freeze(t, first, db)
		w.Fault()
		servers, err := db.Registry().Servers(t.Context())
		must(t, err)
		mark := servers[0].Reserved // all IDs of the first one lie up to it, all of the next one beyond
		refused := w.Start(cfg)
		if e := refused.Await(minter.Opened, minter.Refused); e.Type != "*gameid.HeldError" || e.Holder.PID != first.PID || e.Holder.Host != host {
			t.Fatalf("while the lease of %d lasts: %+v", first.PID, e)
		}
		awaitEndOfLease(t, db)
		second := w.Start(cfg)
		if e := second.Await(minter.Opened, minter.Refused); e.What != minter.Opened {
			t.Fatalf("after the end of the lease: %+v", e)
		}
		second.AwaitMore(1000)
		inserted := playersUpTo(t, db, mark)
		first.Thaw()
		if e := first.Await(minter.Lost, minter.Closed); e.Type != "*gameid.LostError" || e.Holder.PID != second.PID || e.Holder.Host != host {
			t.Errorf("after %d had taken over: %+v", second.PID, e)
		}
		first.Wait()
		if n := playersUpTo(t, db, mark) - inserted; n != 0 {
			t.Errorf("after %d had taken over, %d inserted %d more players", second.PID, first.PID, n)
		}
		second.AwaitMore(1000)
		first = second
	}
	first.Close()
}

// playersUpTo counts the players whose IDs are of times up to a mark. What a frozen process was confirmed counts: it may have
// been inserted before, and the answer read after.
func playersUpTo(t *testing.T, db *store.DB, mark int64) (n int64) {
	t.Helper()
	beyond, err := gameid.Make(gameid.TimeOf(mark+1), 1, 0)
	must(t, err)
	must(t, db.Get(t.Context(), &n, "SELECT COUNT(*) FROM players WHERE id < ?", beyond))
	return n
}

// awaitEndOfLease waits until the database says that the lease has ended.
func awaitEndOfLease(t *testing.T, db *store.DB) {
	t.Helper()
	for {
		servers, err := db.Registry().Servers(t.Context())
		must(t, err)
		if !servers[0].Leased {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// freeze freezes the process at a moment when it has no lock in the database.
func freeze(t *testing.T, p *minter.Process, db *store.DB) {
	t.Helper()
	for {
		p.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := db.Registry().SetName(ctx, 7, "")
		cancel()
		switch {
		case err == nil:
			return
		case !errors.Is(err, store.ErrRetryable) && !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		}
		p.Thaw()
	}
}
