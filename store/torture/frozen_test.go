//go:build linux

package torture

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// frozen stops a process, lets a second one take over after the lease has
// ended, and lets the first go on: it mints no more, names the second, and
// inserts no row.
func frozen(t *testing.T, w *World, dsn string) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cfg := windowed(dsn, 5*time.Second)
	// One that is stopped within a transaction of SQLite locks the whole file.
	cfg.Rows, cfg.Guard = !strings.HasPrefix(dsn, "sqlite:"), true
	first := w.Start(cfg)
	first.Await(Opened)
	db := open(t, dsn)
	for range times(1, 25) {
		first.AwaitMore(1000)
		freeze(t, first, db)
		w.Fault()
		servers, err := storetest.World(db).Servers(t.Context())
		must(t, err)
		until := servers[0].LeaseUntil
		mark := servers[0].Reserved // all IDs of the first one lie up to it, all of the next one beyond
		second := w.Start(cfg)
		switch e := second.Await(Opened, Refused); {
		case e.What == Opened && e.At.After(until): // on a busy machine it came that late
		case e.Type != "*gameid.HeldError" || e.Holder.PID != first.PID || e.Holder.Host != host:
			t.Fatalf("while the lease of %d lasts: %+v", first.PID, e)
		default:
			awaitEndOfLease(t, db)
			second = w.Start(cfg)
			e := second.Await(Opened, Refused)
			if kill := killOf(e); kill != "" { // a statement of the first one was on its way still, and has locked the row
				must(t, storetest.Second(db.Exec(t.Context(), kill)))
				second = w.Start(cfg)
				e = second.Await(Opened, Refused)
			}
			if e.What != Opened {
				t.Fatalf("after the end of the lease: %+v", e)
			}
		}
		second.AwaitMore(1000)
		inserted := playersUpTo(t, db, mark)
		first.Thaw()
		if e := first.Await(Lost, Closed); e.Type != "*gameid.LostError" || e.Holder.PID != second.PID || e.Holder.Host != host {
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

// ofOne is the connection that a message names first of those that may have the lock.
var ofOne = regexp.MustCompile(`locked by one of the following .*? which: connection (\d+) `)

var killCommand = regexp.MustCompile(`KILL \d+|SELECT pg_terminate_backend\(\d+\)`)

// killOf is the statement that ends what locks the row, as a process says that was refused because of it; "" if it was not.
func killOf(refused Event) string {
	kill := killCommand.FindString(refused.Error)
	if one := ofOne.FindStringSubmatch(refused.Error); kill == "" && one != nil { // among those of others on this server
		kill = "KILL " + one[1]
	}
	return kill
}

// TestFrozenInTransaction freezes a process within a transaction that has checked its lease:
// its successor is told which connection locks the row, and starts after that is ended.
func TestFrozenInTransaction(t *testing.T) {
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		dsn := mariadbDSN(t)
		if !servertest.OnMariaDB(t) { // MySQL tells who waits for whom by its performance schema
			private, err := servertest.PrivateMySQL(t, "--performance-schema=ON").Database(t.Context())
			must(t, err)
			dsn = "mysql:" + private
		}
		frozenInTransaction(t, dsn)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		frozenInTransaction(t, postgresDSN(t))
	})
}

func frozenInTransaction(t *testing.T, dsn string) {
	w := NewWorld(t)
	cfg := windowed(dsn, 3*time.Second)
	cfg.Guard = true
	db := open(t, dsn)
	for range times(1, 10) {
		first := w.Start(cfg)
		first.Await(Opened)
		first.AwaitRows(3)
		for {
			first.Freeze()
			locked, err := storetest.World(db).RowLock(t.Context(), 7)
			must(t, err)
			if strings.Contains(locked, "idle") { // otherwise a statement of it, perhaps COMMIT, is on its way
				break
			}
			first.Thaw()
			first.AwaitRows(1) // on a busy machine it would get no time to go on between two freezes
		}
		w.Fault()
		awaitEndOfLease(t, db)
		kill := ""
		for deadline := time.Now().Add(patience); kill == ""; { // a process that is slow may not find out who has it
			refused := w.Start(cfg)
			e := refused.Await(Opened, Refused)
			// As that process says, not as the lock was at first: what was on its way then may have ended it.
			if kill = killOf(e); kill == "" && (e.What == Opened || time.Now().After(deadline)) {
				t.Fatalf("while %d has the lock: %+v", first.PID, e)
			}
			refused.Wait()
		}
		must(t, storetest.Second(db.Exec(t.Context(), kill)))
		second := w.Start(cfg)
		for deadline := time.Now().Add(patience); ; second = w.Start(cfg) {
			e := second.Await(Opened, Refused)
			if e.What == Opened {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after %s it is still refused: %+v", kill, e)
			}
			if next := killOf(e); next != "" && next != kill { // several of its transactions may share the lock
				kill = next
				must(t, storetest.Second(db.Exec(t.Context(), kill)))
			}
		}
		second.AwaitRows(3)
		first.Thaw()
		first.Await(Lost)
		first.Wait()
		second.AwaitRows(3)
		second.Close()
	}
	w.Check(db)
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
		servers, err := storetest.World(db).Servers(t.Context())
		must(t, err)
		if !servers[0].Leased {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// freeze freezes the process at a moment when it has no lock in the database.
func freeze(t *testing.T, p *Process, db *store.DB) {
	t.Helper()
	for {
		p.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := db.Registry().SetName(ctx, 7, "")
		deadline, _ := ctx.Deadline()
		late := !time.Now().Before(deadline) // also if it was still connecting, which may end before the context does
		cancel()
		switch {
		case err == nil:
			return
		case !errors.Is(err, store.ErrRetryable) && !late:
			t.Fatal(err)
		}
		p.Thaw()
		p.AwaitMore(1) // or it would get no time to go on between two freezes
	}
}
