package fleet_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
	"mergesafe/store/fleet"
	"mergesafe/store/storetest/faulty"
)

func openFleetOver(t testing.TB, dsn string, fault func(what string) (error, bool)) *fleet.Fleet {
	t.Helper()
	f, err := fleet.OpenVia(dsn, func(c driver.Connector) driver.Connector { return &faulty.Wire{Connector: c, Fault: fault} })
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// An answer that is lost is neither taken for a success nor for a failure.
func TestFleetLostAnswers(t *testing.T) {
	t.Parallel()
	const take, bindOrTake = "state = 'bound'", "COMMIT"
	const renew = "SET epoch = epoch + 1, world_epoch"
	for _, test := range []struct {
		name string
		what string
		err  error
		done bool
	}{
		{"bound, answer lost", bindOrTake, mysql.ErrInvalidConn, true},
		{"not bound, connection lost", bindOrTake, mysql.ErrInvalidConn, false},
		{"taken, answer lost", take, mysql.ErrInvalidConn, true},
		{"not taken, connection lost", take, mysql.ErrInvalidConn, false},
		{"in conflict with another node of a cluster", take, deadlock, false},
		{"in conflict at the commit", bindOrTake, deadlock, false},
		{"renewed, answer lost", renew, mysql.ErrInvalidConn, true},
		{"not renewed, connection lost", renew, mysql.ErrInvalidConn, false},
		{"not renewed, node without its cluster", renew, &mysql.MySQLError{Number: 1047, Message: "WSREP has not yet prepared node for application use"}, false},
		{"not renewed, conflict", renew, deadlock, false},
		{"read lost", "SELECT server_id", mysql.ErrInvalidConn, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, newDSN func() string) {
				dsn := newDSN()
				operator := newFleet(t, dsn)
				claimed(t, operator, 7)
				db := withTables(t, newDSN())
				var armed atomic.Bool
				var struck atomic.Int64
				f := openFleetOver(t, dsn, func(what string) (error, bool) {
					if strings.Contains(what, test.what) && armed.CompareAndSwap(true, false) {
						struck.Add(1)
						return test.err, test.done
					}
					return nil, false
				})
				// The first start binds; the second takes; then it renews.
				for range 2 {
					armed.Store(true)
					m, err := f.Join(t.Context(), db.Registry(), 7, nodeOptions, byHand)
					if errors.Is(err, fleet.ErrNotBound) && test.what == "SELECT server_id" {
						m, err = f.Join(t.Context(), db.Registry(), 7, nodeOptions, byHand)
					}
					must(t, err)
					armed.Store(true)
					m.Heartbeat(t.Context())
					armed.Store(false)
					for range 2 {
						if !m.Heartbeat(t.Context()) {
							t.Fatalf("after the fault: %v", m.Status().Err)
						}
					}
					mint(t, m)
					state(t, m, fleet.Joined, "")
					s, history := shown(t, operator, 7)
					if !s.Leased || len(history) != 2 {
						t.Errorf("got %+v with %+v", s, history)
					}
					must(t, m.Close())
				}
				if struck.Load() == 0 {
					t.Error("no fault came to pass")
				}
			})
		})
	}
}

// often are options with heartbeats as often as a busy machine answers them, and a lease that does not end meanwhile.
var often = fleet.Options{Name: "s7", Heartbeat: 500 * time.Millisecond, Timeout: 500 * time.Millisecond, Lease: time.Hour}

// closed closes a member that reports often. Giving its lease back may come to nothing: a busy machine may need longer for
// that than from one report to the next.
func closed(t testing.TB, m *fleet.Member) {
	t.Helper()
	if err := m.Close(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A world that is closed in the middle of a heartbeat gives its lease back as well: it may start elsewhere at once.
func TestClosedDuringAHeartbeat(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		m := join(t, withTables(t, newDSN()), f, 7)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if m.Heartbeat(ctx) {
			t.Error("a heartbeat that was interrupted succeeded")
		}
		must(t, m.Close())
		if s, _ := shown(t, f, 7); s.Leased {
			t.Errorf("the lease was not given back: %+v", s)
		}
	})
}

// A world goes on through the crash of the fleet registry's server, and can
// even start in it.
func TestFleetServerKilled(t *testing.T) {
	t.Parallel()
	server := servertest.Private(t)
	dsn, err := server.Database(t.Context())
	must(t, err)
	f := newFleet(t, "mysql:"+dsn)
	db := withTables(t, "sqlite:"+t.TempDir()+"/game.db")
	claimed(t, f, 7)
	m := join(t, db, f, 7)
	must(t, server.Kill())
	if m.Heartbeat(t.Context()) {
		t.Error("a heartbeat succeeded without a server")
	}
	state(t, m, fleet.Away, "database unavailable")
	last := mint(t, m)
	must(t, m.Close())
	m = join(t, db, openFleet(t, "mysql:"+dsn), 7)
	state(t, m, fleet.Away, "database unavailable")
	if next := mint(t, m); next.Compare(last) <= 0 {
		t.Errorf("%s after %s", next, last)
	}
	refused(t, withTables(t, "sqlite:"+t.TempDir()+"/fresh.db"), openFleet(t, "mysql:"+dsn), 8, fleet.ErrNotBound)
	must(t, server.Restart(t.Context()))
	// The process before did not get to give its lease back.
	m.Heartbeat(t.Context())
	state(t, m, fleet.Away, "may be running elsewhere")
	expire(t, f, 7)
	if !m.Heartbeat(t.Context()) {
		t.Errorf("the server is back: %v", m.Status().Err)
	}
	must(t, m.Close())
}

// Nobody has to ask for heartbeats, and after Close there are none.
func TestHeartbeatsByThemselves(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		db := withTables(t, newDSN())
		must(t, join(t, db, f, 7).Close())
		// It is bound now, so that what is not done within a heartbeat on a busy machine is tried again.
		m, err := f.Join(t.Context(), db.Registry(), 7, nodeOptions, often)
		must(t, err)
		defer m.Close()
		for m.Status().Heartbeats < 5 {
			select {
			case <-m.Done():
				t.Fatal(m.Err())
			case <-time.After(10 * time.Millisecond):
			}
		}
		before, _ := shown(t, f, 7)
		if !before.Leased || before.Epoch < 5 {
			t.Errorf("after five heartbeats %+v", before)
		}
		closed(t, m)
		after, _ := shown(t, f, 7)
		time.Sleep(250 * time.Millisecond)
		if again, _ := shown(t, f, 7); again.Epoch != after.Epoch {
			t.Errorf("a member that was closed goes on: %+v, was %+v", again, after)
		}
	})
}
