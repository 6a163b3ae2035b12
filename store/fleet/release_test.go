package fleet_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/fleet"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

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
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		before := starts(t, db, nil)
		if l := leases(t, db, nil); l.Held() || l.Fleet != nil {
			t.Errorf("nobody runs: %+v", l)
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
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return db.OpenNode(t.Context(), 7, o) }, time.Second)
		defer node.Close()
		last, err := gameid.NewGenerator[struct{}](node).Next()
		must(t, err)
		exec(t, db, "UPDATE gameid_servers SET holder = REPLACE(holder, ?, ?)", `"process"`, `"was"`) // it is not known to be here
		await(t, "the lease is ended", func() bool {
			return fleet.EndLeases(t.Context(), storetest.World(db), nil, leases(t, db, nil), 0, note) == nil // a renewal may come between
		})
		<-node.Done()
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
		db := withTables(t, newDSN())
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
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		claimed(t, f, 7)
		db := withTables(t, newDSN())
		m := join(t, db, f, 7)
		if _, ok := errors.AsType[*gameid.HeldError](storetest.World(db).Leave(ctx, 7)); !ok {
			t.Error("a live world left its fleet")
		}
		must(t, m.Close())
		own, err := storetest.World(db).Server(ctx, 7)
		must(t, err)
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		bound, _ := errors.AsType[*registry.BoundError](err)
		says(t, err, bound, "server 7", own.Fleet, "[registry]", "gameid servers leave -h")
		must(t, storetest.World(db).Leave(ctx, 7))
		if err := storetest.World(db).Leave(ctx, 7); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a world of no fleet: %v", err)
		}
		starts(t, db, nil)
		// There it keeps its number, and may come back.
		if s, _ := shown(t, f, 7); s.State != fleet.Bound {
			t.Errorf("in the fleet registry: %+v", s)
		}
		refused(t, withTables(t, newDSN()), f, 7, fleet.ErrOtherWorld)
		starts(t, db, f)
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		if bound, ok := errors.AsType[*registry.BoundError](err); !ok {
			t.Errorf("got %v, want %T", err, bound)
		}
	})
}
