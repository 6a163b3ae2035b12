package fleet_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// door lets a fleet registry go away and come back.
type door struct {
	driver.Connector
	shut *atomic.Bool
}

func (d door) Connect(ctx context.Context) (driver.Conn, error) {
	if d.shut.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	return d.Connector.Connect(ctx)
}

// openFleetBehind opens a fleet registry that is away while shut is true.
func openFleetBehind(t testing.TB, dsn string, shut *atomic.Bool) *fleet.Fleet {
	t.Helper()
	f, err := fleet.OpenVia(dsn, func(c driver.Connector) driver.Connector { return door{c, shut} })
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// outage is a bound world, a copy of its database, and a fleet registry that
// goes away.
type outage struct {
	fleet    *fleet.Fleet // as an operator sees it, always
	away     atomic.Bool
	db, copy *store.DB
	dsn      string
}

func newOutage(t *testing.T, newDSN func() string) *outage {
	o := &outage{dsn: newDSN()}
	o.fleet = newFleet(t, o.dsn)
	claimed(t, o.fleet, 7)
	o.db = withRegistry(t, newDSN())
	m := join(t, o.db, o.fleet, 7)
	mint(t, m)
	must(t, m.Close())
	o.copy = copyOf(t, o.db, newDSN())
	return o
}

func (o *outage) join(t testing.TB, db *store.DB) *fleet.Member {
	t.Helper()
	return join(t, db, openFleetBehind(t, o.dsn, &o.away), 7)
}

func inOutage(t *testing.T, test func(t *testing.T, o *outage)) {
	onOne(t, func(t *testing.T, newDSN func() string) { test(t, newOutage(t, newDSN)) })
}

func state(t testing.TB, m *fleet.Member, want fleet.State, part string) {
	t.Helper()
	if s := m.Status(); s.State != want || (s.Err == nil) != (part == "") || s.Err != nil && !strings.Contains(s.Err.Error(), part) {
		t.Errorf("the state is %s (%v), want %s (%s)", s.State, s.Err, want, part)
	}
}

// stopped checks that a world mints no more, and why.
func stopped(t testing.TB, m *fleet.Member, kind error, parts ...string) {
	t.Helper()
	state(t, m, fleet.Conflict, " ")
	says(t, m.Node.Err(), kind, parts...)
	_, err := gameid.NewGenerator[entity.Player](m.Node).Next()
	says(t, err, kind)
	select {
	case <-m.Node.Done():
	default:
		t.Error("Done is not closed")
	}
	must(t, m.Close())
	if s := m.Status().State; s != fleet.Conflict {
		t.Errorf("after Close the state is %s", s)
	}
}

func TestFleetAwayAtStart(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, newDSN func() string) {
		o := newOutage(t, newDSN)
		o.away.Store(true)
		behind := openFleetBehind(t, o.dsn, &o.away)
		claimed(t, o.fleet, 8)
		fresh := withRegistry(t, newDSN())
		refused(t, fresh, behind, 8, fleet.ErrNotBound, "was never bound", "connection refused")
		m := o.join(t, o.db)
		mint(t, m)
		state(t, m, fleet.Away, "connection refused")
		if m.Heartbeat(t.Context()) {
			t.Error("a heartbeat without a fleet registry succeeded")
		}
		o.away.Store(false)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("the fleet registry is back: %v", m.Status().Err)
		}
		state(t, m, fleet.Joined, "")
		refused(t, o.copy, o.fleet, 7, fleet.ErrRunning)
		must(t, join(t, fresh, behind, 8).Close())

		// A DSN that leads to something else is not "away".
		game := newDSN()
		withRegistry(t, game)
		must(t, m.Close())
		_, err := openFleet(t, game).Join(t.Context(), storetest.World(o.db), 7, worldOptions, byHand)
		says(t, err, store.ErrSchema, "want that of a fleet registry")
		other := newFleet(t, newDSN())
		claimed(t, other, 7)
		refused(t, o.db, other, 7, fleet.ErrOtherFleet, "bound in another fleet registry")
		world, _ := shown(t, o.fleet, 7)
		must(t, other.Rebind(t.Context(), 7, world.World, note))
		must(t, join(t, o.db, other, 7).Close())
	})
}

func TestFleetAwayLater(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		m := o.join(t, o.db)
		o.away.Store(true)
		for range 3 {
			m.Heartbeat(t.Context())
		}
		mint(t, m)
		state(t, m, fleet.Away, "connection refused")
		if s := m.Status(); s.Failures != 3 {
			t.Errorf("%+v", s)
		}
		expire(t, o.fleet, 7)
		o.away.Store(false)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("nobody took its place: %v", m.Status().Err)
		}
		o.away.Store(true)
		m.Heartbeat(t.Context())
		if err := m.Close(); err != nil {
			t.Errorf("Close while the fleet registry is away: %v", err)
		}
		refused(t, o.copy, o.fleet, 7, fleet.ErrRunning) // until the lease ends
		expire(t, o.fleet, 7)
		must(t, join(t, o.copy, o.fleet, 7).Close())
	})
}

// A copy took the place of a world that could not report, and may even have
// ended since.
func TestTakenInOutage(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		for _, ends := range []bool{false, true} {
			m := o.join(t, o.db)
			mint(t, m)
			o.away.Store(true)
			m.Heartbeat(t.Context())
			expire(t, o.fleet, 7)
			other := join(t, o.copy, o.fleet, 7)
			if ends {
				must(t, other.Close())
			}
			o.away.Store(false)
			if m.Heartbeat(t.Context()) {
				t.Error("a world that was replaced goes on")
			}
			s, _ := shown(t, o.fleet, 7)
			stopped(t, m, fleet.ErrRunning, "another copy of its world took over", s.Place, "Find out which")
			must(t, other.Close())
			o.copy = copyOf(t, o.db, "sqlite:"+t.TempDir()+"/copy.db")
		}
	})
}

// Two copies start while the fleet registry is away. When it is back, one of
// them goes on.
func TestTwoCopiesInOutage(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		o.away.Store(true)
		a, b := o.join(t, o.db), o.join(t, o.copy)
		mint(t, a)
		mint(t, b)
		o.away.Store(false)
		if !a.Heartbeat(t.Context()) {
			t.Fatalf("the first to report: %v", a.Status().Err)
		}
		// It cannot be told yet whether that is an ended predecessor.
		b.Heartbeat(t.Context())
		b.Heartbeat(t.Context())
		state(t, b, fleet.Away, "may be running elsewhere")
		a.Heartbeat(t.Context())
		b.Heartbeat(t.Context())
		stopped(t, b, fleet.ErrRunning, "another copy of its world took over")
		mint(t, a)
		state(t, a, fleet.Joined, "")
	})
}

// The same with heartbeats of their own, at the same instants.
func TestTwoCopiesInOutageRace(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		for range servertest.Scale(1, 3) {
			o.away.Store(true)
			var members []*fleet.Member
			for _, db := range []*store.DB{o.db, o.copy} {
				m, err := openFleetBehind(t, o.dsn, &o.away).Join(t.Context(), storetest.World(db), 7, worldOptions, often)
				must(t, err)
				t.Cleanup(func() { m.Close() })
				members = append(members, m)
			}
			o.away.Store(false)
			winner := members[1]
			select {
			case <-members[0].Node.Done():
			case <-members[1].Node.Done():
				winner = members[0]
			}
			// Several heartbeats later it still goes on.
			for beats := winner.Status().Heartbeats; winner.Status().Heartbeats < beats+5 && winner.Node.Err() == nil; {
				time.Sleep(10 * time.Millisecond)
			}
			mint(t, winner)
			for _, m := range members {
				if m != winner {
					stopped(t, m, fleet.ErrRunning)
				}
				closed(t, m)
			}
			expire(t, o.fleet, 7)
			if winner == members[1] { // the other one is an older copy of it now
				o.db = o.copy
			}
			o.copy = copyOf(t, o.db, "sqlite:"+t.TempDir()+"/copy.db")
		}
	})
}

// The predecessor crashed, and the world was started again while the fleet
// registry was away: it waits for the end of that lease and goes on.
func TestPredecessorsLease(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		m := o.join(t, o.db)
		o.away.Store(true)
		m.Heartbeat(t.Context())
		must(t, m.Close())
		again := o.join(t, o.db)
		o.away.Store(false)
		again.Heartbeat(t.Context())
		state(t, again, fleet.Away, "may be running elsewhere")
		mint(t, again)
		// Whatever that process has reported stays.
		exec(t, o.fleet.DB(), "UPDATE fleet_servers SET mark_ms = mark_ms + 60000, world_epoch = 1, lease_until_ms = 1")
		before, _ := shown(t, o.fleet, 7)
		for range 2 {
			if !again.Heartbeat(t.Context()) {
				t.Errorf("after the end of that lease: %v", again.Status().Err)
			}
			if s, _ := shown(t, o.fleet, 7); s.Mark < before.Mark {
				t.Errorf("the mark fell from %d to %d", before.Mark, s.Mark)
			}
		}
	})
}

// What an operator changed while the world could not report.
func TestChangedInOutage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(ctx context.Context, f *fleet.Fleet) error
		kind   error
	}{
		{"retired", func(ctx context.Context, f *fleet.Fleet) error { return f.Retire(ctx, 7, note) }, fleet.ErrRetired},
		{"rebound", func(ctx context.Context, f *fleet.Fleet) error {
			return f.Rebind(ctx, 7, strings.Repeat("0", 32), note)
		}, fleet.ErrOtherWorld},
	} {
		t.Run(test.name, func(t *testing.T) {
			inOutage(t, func(t *testing.T, o *outage) {
				m := o.join(t, o.db)
				expire(t, o.fleet, 7)
				must(t, test.change(t.Context(), o.fleet))
				m.Heartbeat(t.Context())
				stopped(t, m, test.kind)
			})
		})
	}
}

// A fleet registry that was restored from an older copy stops nobody: the
// worlds write themselves into it again.
func TestFleetRestored(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		before, _ := shown(t, o.fleet, 7)
		m := o.join(t, o.db)
		for range 10 {
			m.Heartbeat(t.Context())
		}
		last, _ := shown(t, o.fleet, 7)
		text, _ := json.Marshal(before.Holder)
		exec(t, o.fleet.DB(), "UPDATE fleet_servers SET epoch = ?, holder = ?, mark_ms = ?, world_epoch = ?, lease_until_ms = 1", before.Epoch, string(text), before.Mark, before.WorldEpoch)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("the first report: %v", m.Status().Err)
		}
		s, _ := shown(t, o.fleet, 7)
		if s.Epoch <= last.Epoch || s.Holder.Token != last.Holder.Token || s.Mark < last.Mark || s.WorldEpoch < last.WorldEpoch {
			t.Errorf("the row is %+v, was %+v", s, last)
		}
		if !m.Heartbeat(t.Context()) {
			t.Errorf("the second report: %v", m.Status().Err)
		}
		// Even the claim is lost: the world goes on and says what to do.
		exec(t, o.fleet.DB(), "DELETE FROM fleet_servers")
		exec(t, o.fleet.DB(), "DELETE FROM fleet_history")
		m.Heartbeat(t.Context())
		mint(t, m)
		state(t, m, fleet.Away, "gameid servers claim -name s7 -server 7")
		claimed(t, o.fleet, 7)
		if !m.Heartbeat(t.Context()) {
			t.Errorf("after it was claimed again: %v", m.Status().Err)
		}
		if again, _ := shown(t, o.fleet, 7); again.World != s.World || again.Epoch <= s.Epoch {
			t.Errorf("the row is %+v, was %+v", again, s)
		}
	})
}

// An older copy that was started while the fleet registry was away, on a
// machine and a database whose clocks are behind, may have repeated IDs.
func TestOlderCopyInOutage(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		m := join(t, o.db, o.fleet, 7)
		mint(t, m)
		must(t, m.Close())
		exec(t, o.fleet.DB(), "UPDATE fleet_servers SET mark_ms = mark_ms + 60000") // as if it had run on for a minute
		o.away.Store(true)
		older := o.join(t, o.copy)
		o.away.Store(false)
		older.Heartbeat(t.Context())
		stopped(t, older, fleet.ErrOlderCopy, "is an older copy of its world", "may exist twice")
		// With the fleet registry's help it can go on.
		last, _ := shown(t, o.fleet, 7)
		again := join(t, o.copy, o.fleet, 7)
		if id := mint(t, again); id.Millis() <= last.Mark {
			t.Errorf("%s after the mark %s", id, gameid.TimeOf(last.Mark))
		}
	})
}

// The first IDs of a world that starts without the fleet registry lie in the
// present, by the clock of its database: what the fleet registry knows is not
// later, unless a clock was wrong.
func TestStartWithoutFleetIsInThePresent(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		o.away.Store(true)
		exec(t, o.db, "UPDATE gameid_servers SET reserved_ms = 5")
		before := time.Now().Add(-time.Second)
		m, err := openFleetBehind(t, o.dsn, &o.away).Join(t.Context(), storetest.World(o.db), 7, worldregistry.NodeOptions{Options: gameid.Options{Clock: storetest.SlowClock()}}, byHand)
		must(t, err)
		defer m.Close()
		if id := mint(t, m); id.Time().Before(before) {
			t.Errorf("the first ID is of %s, it is %s", id.Time(), before)
		}
	})
}

// In a fleet registry that was restored from an older copy the epoch of a row
// comes round again. A world does not write over another copy of itself then.
func TestFleetEpochComesRound(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimed(t, f, 7)
		m := join(t, withRegistry(t, newDSN()), f, 7)
		exec(t, f.DB(), `UPDATE fleet_servers SET holder = '{"token":"ABC","host":"host-b","pid":4711,"program":"game"}', place = 'the copy'`)
		before, _ := shown(t, f, 7)
		m.Heartbeat(t.Context())
		state(t, m, fleet.Conflict, "host-b")
		if after, _ := shown(t, f, 7); after.Epoch != before.Epoch || !after.LeaseUntil.Equal(before.LeaseUntil) {
			t.Errorf("the row was %+v, is %+v", before, after)
		}
	})
}
