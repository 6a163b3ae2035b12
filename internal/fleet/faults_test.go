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

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
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
			onOne(t, func(t *testing.T, newDSN func() string) {
				dsn := newDSN()
				operator := newFleet(t, dsn)
				claimed(t, operator, 7)
				db := withRegistry(t, newDSN())
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
					m, err := f.Join(t.Context(), storetest.World(db), 7, worldOptions, byHand)
					if errors.Is(err, fleet.ErrNotBound) && test.what == "SELECT server_id" {
						m, err = f.Join(t.Context(), storetest.World(db), 7, worldOptions, byHand)
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
// If its row is gone, there is nothing to give back.
func TestClosedDuringAHeartbeat(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		db := withRegistry(t, newDSN())
		interrupted := func() *fleet.Member {
			m := join(t, db, f, 7)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if m.Heartbeat(ctx) {
				t.Error("a heartbeat that was interrupted succeeded")
			}
			return m
		}
		must(t, interrupted().Close())
		if s, _ := shown(t, f, 7); s.Leased {
			t.Errorf("the lease was not given back: %+v", s)
		}
		m := interrupted()
		exec(t, f.DB(), "DELETE FROM fleet_servers")
		must(t, m.Close())
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
	db := withRegistry(t, "sqlite:"+t.TempDir()+"/game.db")
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
	refused(t, withRegistry(t, "sqlite:"+t.TempDir()+"/fresh.db"), openFleet(t, "mysql:"+dsn), 8, fleet.ErrNotBound)
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
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		db := withRegistry(t, newDSN())
		must(t, join(t, db, f, 7).Close())
		// It is bound now, so that what is not done within a heartbeat on a busy machine is tried again.
		m, err := f.Join(t.Context(), storetest.World(db), 7, worldOptions, often)
		must(t, err)
		defer m.Close()
		for m.Status().Heartbeats < 5 {
			select {
			case <-m.Node.Done():
				t.Fatal(m.Node.Err())
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

// A fleet registry that can be read and takes no changes, because it is read-only or the account has no right to,
// is not asked without end: a world that was bound starts and says why it is away, another one does not start.
func TestFleetTakesNoChanges(t *testing.T) {
	t.Parallel()
	onOne(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		operator := newFleet(t, dsn)
		for _, refusal := range []*mysql.MySQLError{
			{Number: 1290, Message: "The MariaDB server is running with the --read-only option"},
			{Number: 1142, Message: "UPDATE command denied to user"},
		} {
			claimed(t, operator, gameid.ServerID(refusal.Number))
			db := withRegistry(t, newDSN())
			var refuses atomic.Bool
			var writes atomic.Int64
			f := openFleetOver(t, dsn, func(what string) (error, bool) {
				if refuses.Load() && strings.Contains(what, "UPDATE fleet_servers") {
					writes.Add(1)
					return refusal, false
				}
				return nil, false
			})
			start := func() (*fleet.Member, error) {
				writes.Store(0)
				m, err := f.Join(t.Context(), storetest.World(db), gameid.ServerID(refusal.Number), worldOptions, byHand)
				if n := writes.Load(); refuses.Load() && (n < 1 || n > 10) {
					t.Errorf("it tried %d times", n)
				}
				return m, err
			}
			refuses.Store(true)
			_, err := start()
			says(t, err, refusal, refusal.Message)
			refuses.Store(false)
			m, err := start()
			must(t, err)
			must(t, m.Close())
			refuses.Store(true)
			m, err = start()
			must(t, err)
			state(t, m, fleet.Away, refusal.Message)
			refuses.Store(false)
			if !m.Heartbeat(t.Context()) {
				t.Error(m.Status().Err)
			}
			must(t, m.Close())
		}
	})
}

// What is free and cannot be taken is not tried without end, and the error says why.
func TestFleetNothingCanBeTaken(t *testing.T) {
	t.Parallel()
	onOne(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		operator := newFleet(t, dsn)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		var refuses atomic.Bool
		f := openFleetOver(t, dsn, func(what string) (error, bool) {
			if refuses.Load() && strings.Contains(what, "INSERT") {
				return deadlock, false
			}
			return nil, false
		})
		claim := func() error { return storetest.Second(f.Claim(ctx, "s9", 0, note)) }
		refuses.Store(true)
		says(t, claim(), deadlock, "is free, and could not be taken")
		if ctx.Err() != nil {
			t.Fatal("it was tried without end")
		}
		refuses.Store(false)
		must(t, claim())

		// The table of servers was restored from an older copy than their history.
		exec(t, operator.DB(), "DELETE FROM fleet_servers")
		says(t, claim(), store.ErrDuplicate, "is free, and could not be taken", "history of server 1")
		if ctx.Err() != nil {
			t.Error("a server with a history was tried without end")
		}
	})
}
