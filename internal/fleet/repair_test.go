package fleet_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// broken is a clock that is years ahead.
const broken = 10 * 365 * 24 * time.Hour

// leaveMark writes a mark, as a node that has ended would leave it.
func leaveMark(t testing.TB, db *store.DB, at time.Time) {
	t.Helper()
	ms, err := gameid.MillisOf(at)
	must(t, err)
	exec(t, db, "UPDATE gameid_servers SET reserved_ms = ? WHERE server_id = 7", ms)
}

func starts(t testing.TB, db *store.DB, f *fleet.Fleet) gameid.Of[entity.Player] {
	t.Helper()
	if f != nil {
		m := join(t, db, f, 7)
		defer m.Close()
		return mint(t, m)
	}
	n, err := db.OpenNode(t.Context(), 7, nodeOptions)
	must(t, err)
	defer n.Close()
	id, err := gameid.NewGenerator[entity.Player](n).Next()
	must(t, err)
	return id
}

func plan(t testing.TB, db *store.DB, f *fleet.Fleet) *fleet.MarkPlan {
	t.Helper()
	p, err := fleet.PlanMark(t.Context(), storetest.World(db), f, 7, nodeOptions.Options)
	must(t, err)
	return p
}

func isMarkError(t testing.TB, err error) {
	t.Helper()
	if _, ok := errors.AsType[*gameid.MarkError](err); !ok || !strings.Contains(err.Error(), "gameid servers repair-mark") || !strings.HasSuffix(err.Error(), "-server 7") {
		t.Errorf("a mark in the far future: %v", err)
	}
}

func TestRepairMark(t *testing.T) {
	t.Parallel()
	storetest.OnEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		if _, err := fleet.PlanMark(ctx, storetest.World(db), nil, 7, nodeOptions.Options); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a server that is not there: %v", err)
		}
		first := starts(t, db, nil)
		p := plan(t, db, nil)
		if p.Late() || p.Useful() || !p.Enough() || p.Largest().Largest.IsValid() {
			t.Errorf("a healthy server: %+v", p)
		}

		// Only the mark.
		leaveMark(t, db, time.Now().Add(broken))
		_, err := db.OpenNode(ctx, 7, nodeOptions)
		isMarkError(t, err)
		hero := player(1)
		hero.ID = first
		must(t, starter.Players.Insert(ctx, db, hero))
		p = plan(t, db, nil)
		if l := p.Largest(); !p.Late() || !p.Useful() || !p.Enough() || l.Table != "players" || l.Column != "id" || l.Largest != first.ID() || l.Late != 0 {
			t.Errorf("got %+v", p)
		}
		// The first ID of a node lies a window ahead of the clock.
		if want := later(first.Time(), p.Now); gameid.TimeOf(p.Lowered).Sub(want).Abs() > time.Millisecond || time.Since(p.Now).Abs() > time.Minute {
			t.Errorf("the mark is lowered to %s, it is %s, and the largest ID is of %s", gameid.TimeOf(p.Lowered), p.Now, first.Time())
		}
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		isMarkError(t, err) // a plan changes nothing
		must(t, fleet.LowerMark(ctx, storetest.World(db), nil, p, note))
		if id := starts(t, db, nil); id.Millis() <= p.Lowered {
			t.Errorf("%s is not above the lowered mark %d", id, p.Lowered)
		}
		if err := fleet.LowerMark(ctx, storetest.World(db), nil, p, note); err == nil || !strings.Contains(err.Error(), "another process changed the row") {
			t.Errorf("a plan that is out of date: %v", err)
		}

		// IDs a little late, in any column, are never gone below.
		leaveMark(t, db, time.Now().Add(broken))
		exec(t, db, "CREATE TABLE mails (id INT PRIMARY KEY, about BINARY(10) NULL, noise BINARY(16) NULL)")
		late := storetest.IDOf[entity.Item](7, time.Now().Add(4*time.Minute), 5)
		exec(t, db, "INSERT INTO mails VALUES (1, ?, NULL), (2, NULL, NULL), (3, ?, ?)", late, storetest.IDOf[entity.Item](8, gameid.Last(), 0), make([]byte, 16))
		p = plan(t, db, nil)
		if l := p.Largest(); !p.Useful() || !p.Enough() || l.Largest != late.ID() || l.Table != "mails" || l.Column != "about" || p.Lowered != late.Millis() {
			t.Errorf("got %+v", p)
		}
		must(t, fleet.LowerMark(ctx, storetest.World(db), nil, p, note))
		if id := starts(t, db, nil); id.Compare(gameid.As[entity.Player](late.ID())) <= 0 {
			t.Errorf("%s after %s", id, late)
		}

		// IDs in the far future exist: the mark is lowered to them, and that
		// is not enough.
		leaveMark(t, db, time.Now().Add(broken))
		far := storetest.IDOf[entity.Item](7, time.Now().Add(broken/2), 5)
		exec(t, db, "INSERT INTO mails VALUES (4, ?, NULL), (5, ?, NULL)", far, storetest.IDOf[entity.Item](7, time.Now().Add(broken/3), 5))
		p = plan(t, db, nil)
		if l := p.Largest(); !p.Late() || !p.Useful() || p.Enough() || l.Largest != far.ID() || l.Late != 2 || p.Lowered != far.Millis() {
			t.Errorf("got %+v", p)
		}
		must(t, fleet.LowerMark(ctx, storetest.World(db), nil, p, note))
		options := nodeOptions
		options.MaxSkew = broken
		_, err = db.OpenNode(ctx, 7, options)
		must(t, err)
		exec(t, db, "UPDATE gameid_servers SET lease_until_ms = 0, holder = ''")
		exec(t, db, "DELETE FROM mails WHERE id > 3")
		must(t, fleet.LowerMark(ctx, storetest.World(db), nil, plan(t, db, nil), note))
		starts(t, db, nil)

		// Not while it runs, and not by a wrong clock.
		n, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		_, err = fleet.PlanMark(ctx, storetest.World(db), nil, 7, nodeOptions.Options)
		if _, ok := errors.AsType[*gameid.HeldError](err); !ok {
			t.Errorf("a live server: %v", err)
		}
		must(t, n.Close())
		_, err = fleet.PlanMark(ctx, storetest.World(db), nil, 7, gameid.Options{Clock: storetest.SlowClock(), MaxSkew: 30 * time.Second})
		if _, ok := errors.AsType[*gameid.ClockError](err); !ok {
			t.Errorf("a wrong clock: %v", err)
		}
		exec(t, db, "UPDATE gameid_servers SET role = 'merged'")
		if _, err := fleet.PlanMark(ctx, storetest.World(db), nil, 7, nodeOptions.Options); err == nil || !strings.Contains(err.Error(), "was merged into") {
			t.Errorf("a merged server: %v", err)
		}
	})
}

func TestRepairMarkInFleet(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		db := withRegistry(t, newDSN())
		claimed(t, f, 7)
		m := join(t, db, f, 7)
		mint(t, m)
		far, err := gameid.MillisOf(time.Now().Add(broken))
		must(t, err)
		fleetMark := func(ms int64) { exec(t, f.DB(), "UPDATE fleet_servers SET mark_ms = ?", ms) }
		_, err = fleet.PlanMark(ctx, storetest.World(db), f, 7, nodeOptions.Options)
		if _, ok := errors.AsType[*gameid.HeldError](err); !ok {
			t.Errorf("a live server: %v", err)
		}
		exec(t, db, "UPDATE gameid_servers SET lease_until_ms = 0")
		_, err = fleet.PlanMark(ctx, storetest.World(db), f, 7, nodeOptions.Options)
		says(t, err, fleet.ErrRunning)
		must(t, m.Close())
		backup := copyOf(t, db, newDSN())
		starts(t, db, f)

		// The world reported what the broken clock had reserved.
		leaveMark(t, db, gameid.TimeOf(far))
		fleetMark(far)
		_, err = f.Join(ctx, storetest.World(db), 7, worldOptions, byHand)
		isMarkError(t, err)
		if _, err := fleet.PlanMark(ctx, storetest.World(db), nil, 7, nodeOptions.Options); err == nil || !strings.Contains(err.Error(), "is bound in a fleet registry") {
			t.Errorf("without the fleet registry: %v", err)
		}
		p := plan(t, db, f)
		if !p.Late() || !p.Useful() || !p.Enough() || p.FleetMark != far || p.OlderCopy {
			t.Errorf("got %+v", p)
		}
		must(t, fleet.LowerMark(ctx, storetest.World(db), f, p, fleet.Note{By: "anna", Why: "the clock of host-a was ten years ahead"}))
		s, history := shown(t, f, 7)
		if h := history[len(history)-1]; s.Mark != p.Lowered || h.Action != "lower mark" || h.By != "anna" || !strings.HasPrefix(h.Why, "the clock of host-a was ten years ahead (from 20") {
			t.Errorf("got %+v with %+v", s, h)
		}
		starts(t, db, f)

		// The first attempt was interrupted between the two registries: the second one completes it.
		leaveMark(t, db, gameid.TimeOf(far))
		p = plan(t, db, f)
		must(t, fleet.LowerMark(ctx, storetest.World(db), f, p, note))
		starts(t, db, f)

		// Of an older copy the tables do not tell all: the mark of the fleet
		// registry stands.
		fleetMark(far)
		p = plan(t, backup, f)
		if !p.OlderCopy || p.Useful() || p.Enough() || p.Lowered != far {
			t.Errorf("got %+v", p)
		}
		leaveMark(t, backup, gameid.TimeOf(far+5000))
		p = plan(t, backup, f)
		if !p.Useful() || p.Lowered != far {
			t.Errorf("got %+v", p)
		}
		must(t, fleet.LowerMark(ctx, storetest.World(backup), f, p, note))
		if s, _ := shown(t, f, 7); s.Mark != far {
			t.Errorf("the mark in the fleet registry is %d now, was %d", s.Mark, far)
		}

		// A world that is in no fleet does not need its registry.
		lone := withRegistry(t, newDSN())
		exec(t, lone, "INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, lease_until_ms, created_ms, updated_ms) VALUES (8, 'abc', 'own', 1, 5, 0, 0, 0)")
		if p, err := fleet.PlanMark(ctx, storetest.World(lone), f, 8, nodeOptions.Options); err != nil || p.Late() {
			t.Errorf("a world in no fleet: %+v, %v", p, err)
		}
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// elsewhere is a process on another machine, of which nothing can be told.
var elsewhere = gameid.Holder{Token: "ABC", Host: "host-b", PID: 4711, Program: "game"}

// lease gives the lease of server 7 to a process elsewhere, in the database's
// own registry.
func lease(t testing.TB, db *store.DB, d time.Duration) {
	t.Helper()
	rec, err := storetest.World(db).Load(t.Context(), 7)
	must(t, err)
	ok, err := storetest.World(db).CompareAndSet(t.Context(), 7, rec, gameid.Claim{Reserved: rec.Reserved, Holder: elsewhere, Lease: d})
	must(t, err)
	if !ok {
		t.Fatal("the lease was not taken")
	}
}

func leases(t testing.TB, db *store.DB, f *fleet.Fleet) *fleet.Leases {
	t.Helper()
	l, err := fleet.FindLeases(t.Context(), storetest.World(db), f, 7)
	must(t, err)
	return l
}

// A lease that a wrong clock left can be ended, and nothing that was reserved
// is given up.
func TestEndLeases(t *testing.T) {
	t.Parallel()
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		before := starts(t, db, nil)
		if l := leases(t, db, nil); l.Held() || l.Fleet != nil {
			t.Errorf("no process runs, and no fleet registry was asked: %+v", l)
		}
		mark := time.Now().Add(4 * time.Minute).Truncate(time.Millisecond)
		leaveMark(t, db, mark)

		// A lease of usual length has no way out but to wait.
		lease(t, db, time.Minute)
		_, err := db.OpenNode(ctx, 7, nodeOptions)
		if _, ok := errors.AsType[*gameid.HeldError](err); !ok || strings.Contains(err.Error(), "release") {
			t.Errorf("with a lease of a minute: %v", err)
		}
		lease(t, db, broken)
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		if _, ok := errors.AsType[*gameid.HeldError](err); !ok || !strings.Contains(err.Error(), "gameid servers release ") || !strings.HasSuffix(err.Error(), " -server 7") {
			t.Errorf("with a lease of ten years: %v", err)
		}

		l := leases(t, db, nil)
		if !l.Held() || l.Own.Holder.PID != 4711 || l.Own.Until.Sub(l.Own.Now) < broken/2 {
			t.Errorf("got %+v", l)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := fleet.EndLeases(ended, storetest.World(db), nil, l, time.Minute, note); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while it was watching: %v", err)
		}
		lease(t, db, broken) // renewed meanwhile
		says(t, fleet.EndLeases(ctx, storetest.World(db), nil, l, 0, note), fleet.ErrRunning, "is alive", "host-b")
		l = leases(t, db, nil)
		if !l.Held() {
			t.Error("a live server lost its lease")
		}
		must(t, fleet.EndLeases(ctx, storetest.World(db), nil, l, time.Millisecond, note))
		if l := leases(t, db, nil); l.Held() {
			t.Errorf("after the end: %+v", l)
		}
		if id := starts(t, db, nil); !id.Time().After(mark) || id.Compare(before) <= 0 {
			t.Errorf("%s after the mark %s", id, mark)
		}
		l = leases(t, db, nil)
		must(t, fleet.EndLeases(ctx, storetest.World(db), nil, l, 0, note)) // there is nothing to do

		// This process is certainly alive.
		node, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		defer node.Close()
		l = leases(t, db, nil)
		if runtime.GOOS == "linux" {
			says(t, fleet.EndLeases(ctx, storetest.World(db), nil, l, 0, note), fleet.ErrRunning, "runs on this machine")
		}
		if node.Err() != nil || !leases(t, db, nil).Held() {
			t.Errorf("a live node: %v", node.Err())
		}
		for _, test := range []struct {
			server gameid.ServerID
			want   error
		}{{8, store.ErrNotFound}, {0, nil}} {
			if _, err := fleet.FindLeases(ctx, storetest.World(db), nil, test.server); err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("server %s: %v", test.server, err)
			}
		}
	})
}

// The node of a process that is alive after all, and was only silent, learns
// of the end of its lease and repeats nothing.
func TestEndedLeaseIsLost(t *testing.T) {
	t.Parallel()
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return db.OpenNode(t.Context(), 7, o) }, time.Second)
		defer node.Close()
		last, err := gameid.NewGenerator[struct{}](node).Next()
		must(t, err)
		await(t, "the node learns that its lease was ended", func() bool { // again, if it renews in between, or came so late that there was nothing to end
			exec(t, db, "UPDATE gameid_servers SET holder = REPLACE(holder, ?, ?)", `"process"`, `"was"`) // it is not known to be here
			_ = fleet.EndLeases(t.Context(), storetest.World(db), nil, leases(t, db, nil), 0, note)
			select {
			case <-node.Done():
				return true
			default:
				return false
			}
		})
		if lost, ok := errors.AsType[*gameid.LostError](node.Err()); !ok || !lost.Holder.IsZero() {
			t.Errorf("the node ended with: %v", node.Err())
		}
		if next := starts(t, db, nil); next.ID().Compare(last.ID()) <= 0 {
			t.Errorf("%s after %s", next, last)
		}
	})
}

func TestEndFleetLease(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		claimed(t, f, 7)
		db := withRegistry(t, newDSN())
		starts(t, db, f)
		if _, err := fleet.FindLeases(ctx, storetest.World(db), nil, 7); err == nil || !strings.Contains(err.Error(), "want its DSN") {
			t.Errorf("without the fleet registry: %v", err)
		}
		const far = int64(1) << 42
		exec(t, f.DB(), `UPDATE fleet_servers SET lease_until_ms = ?, holder = '{"token":"ABC","host":"host-b","pid":4711,"program":"game"}'`, far)
		refused(t, db, f, 7, fleet.ErrRunning, "gameid servers release -h")
		l := leases(t, db, f)
		if l.Own.Held() || !l.Held() || l.Fleet.Holder.PID != 4711 || l.Fleet.Place == "" {
			t.Errorf("got %+v", l)
		}
		exec(t, f.DB(), "UPDATE fleet_servers SET epoch = epoch + 1") // a heartbeat
		says(t, fleet.EndLeases(ctx, storetest.World(db), f, l, 0, note), fleet.ErrRunning, "is alive")
		must(t, fleet.EndLeases(ctx, storetest.World(db), f, leases(t, db, f), 0, note))
		if leases(t, db, f).Held() {
			t.Error("the lease was not ended")
		}
		if _, history := shown(t, f, 7); history[len(history)-1].Action != "release" || history[len(history)-1].Why != note.Why {
			t.Errorf("the history is %+v", history)
		}
		starts(t, db, f)
	})
}

// A world that is bound does not start without its fleet registry, until it
// has left that for good.
func TestBoundWorldNeedsItsFleet(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		claimed(t, f, 7)
		db := withRegistry(t, newDSN())
		m := join(t, db, f, 7)
		if _, ok := errors.AsType[*gameid.HeldError](storetest.World(db).Leave(ctx, 7)); !ok {
			t.Error("a live world left its fleet")
		}
		must(t, m.Close())
		own, err := storetest.World(db).Server(ctx, 7)
		must(t, err)
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		bound, _ := errors.AsType[*registry.BoundError](err)
		says(t, err, bound, "server 7", own.Fleet, "fleet.Join", "gameid servers leave -h")
		must(t, storetest.World(db).Leave(ctx, 7))
		if err := storetest.World(db).Leave(ctx, 7); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a world of no fleet: %v", err)
		}
		starts(t, db, nil)
		// There it keeps its server, and may come back.
		if s, _ := shown(t, f, 7); s.State != fleet.Bound {
			t.Errorf("in the fleet registry: %+v", s)
		}
		refused(t, withRegistry(t, newDSN()), f, 7, fleet.ErrOtherWorld)
		starts(t, db, f)
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		if bound, ok := errors.AsType[*registry.BoundError](err); !ok {
			t.Errorf("got %v, want %T", err, bound)
		}
	})
}
