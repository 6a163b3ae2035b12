//go:build linux

package torture

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// short is a window of which the end comes soon.
const short = 2 * time.Second

// outage takes the database away from a process that mints: it mints on as
// long as it has times reserved, then says why it cannot, and recovers by
// itself when the database is back.
func outage(t *testing.T, w *World, p *Process, take, back func() error) {
	t.Helper()
	p.AwaitMore(1000)
	must(t, take())
	w.Fault()
	e := p.Await(Exhausted)
	if e.Type != "*gameid.ExhaustedError" || e.At.Before(e.Until) {
		t.Errorf("without a database: %+v; want an ExhaustedError, and not before the end of the reservation", e)
	}
	if !slices.ContainsFunc(e.Is, isOutage) {
		t.Errorf("the cause is not clear: %+v", e)
	}
	must(t, back())
	p.Await(Recovered)
	p.AwaitMore(1000)
}

// isOutage reports whether a sentinel may be the cause: the database is
// away, or does not answer, or somebody else has its lock.
func isOutage(sentinel string) bool {
	return slices.Contains([]string{store.ErrUnavailable.Error(), store.ErrRetryable.Error(), "context deadline exceeded"}, sentinel)
}

func databaseKilled(t *testing.T, w *World, server victim, dsn string) {
	p := w.Start(windowed(dsn, 2*short)) // on a busy machine it may take a second until all of the server is gone
	for range times(1, 25) {
		outage(t, w, p, server.Kill, func() error { return server.Restart(t.Context()) })
	}
	p.Close()
}

// databaseFrozen has a database that takes connections and says nothing.
func databaseFrozen(t *testing.T, w *World, server victim, dsn string) {
	p := w.Start(windowed(dsn, short))
	for range times(1, 25) {
		outage(t, w, p, server.Freeze, server.Thaw)
	}
	p.Close()
}

// machineKilled kills the database and the process together.
func machineKilled(t *testing.T, w *World, server victim, dsn string) {
	for range times(2, 25) {
		p := w.Start(config(dsn))
		p.Await(Opened)
		p.AwaitMore(1000)
		must(t, server.Kill())
		p.Kill()
		w.Fault()
		must(t, server.Restart(t.Context()))
	}
	p := w.Start(config(dsn))
	p.AwaitMore(1000)
	p.Close()
}

// databaseLocked has another process keep SQLite's only lock.
func databaseLocked(t *testing.T, w *World) string {
	dsn := sqliteDSN(t)
	p := w.Start(windowed(dsn, 3*short)) // on a busy machine it may take a second to get the lock
	p.Await(Opened)
	db := open(t, dsn)
	for range times(1, 10) {
		locked, unlock, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		take := func() error {
			go func() {
				done <- db.InTx(t.Context(), func(*store.Tx) error {
					close(locked)
					<-unlock
					return nil
				})
			}()
			select {
			case <-locked:
				return nil
			case err := <-done:
				return errors.Join(err, os.ErrDeadlineExceeded)
			}
		}
		outage(t, w, p, take, func() error {
			close(unlock)
			return <-done
		})
	}
	p.Close()
	return dsn
}

// victim is a server that is killed and frozen.
type victim interface {
	Kill() error
	Freeze() error
	Thaw() error
	Restart(context.Context) error
	Alive() bool
}

func privateMariaDB(t *testing.T) (victim, string) {
	t.Helper()
	server := servertest.Private(t)
	dsn, err := server.Database(t.Context())
	must(t, err)
	return server, "mysql:" + dsn
}

func privatePostgres(t *testing.T) (victim, string) {
	t.Helper()
	server := servertest.PrivatePostgres(t)
	return server, server.DSN()
}

var must, open = storetest.Must, storetest.Open
