package fleet_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

var (
	range40  = store.ServerRange{First: 40, Last: 43}
	freeHand = fleet.Options{Name: "s4", Heartbeat: byHand.Heartbeat, Timeout: byHand.Timeout}
)

func claimedRange(t testing.TB, f *fleet.Fleet) {
	t.Helper()
	_, err := f.ClaimRange(t.Context(), "s4", range40, note)
	must(t, err)
}

func joinFree(t testing.TB, db *store.DB, f *fleet.Fleet) *fleet.Member {
	t.Helper()
	m, err := f.JoinFree(t.Context(), storetest.World(db), range40, worldOptions, freeHand)
	must(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

func refusedFree(t testing.TB, db *store.DB, f *fleet.Fleet, kind error, parts ...string) {
	t.Helper()
	m, err := f.JoinFree(t.Context(), storetest.World(db), range40, worldOptions, freeHand)
	if err == nil {
		m.Close()
	}
	says(t, err, kind, parts...)
}

// A range is claimed as one: all servers, or none.
func TestClaimRange(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		servers, err := f.ClaimRange(ctx, "s4", range40, note)
		must(t, err)
		if len(servers) != 4 || servers[0].Name != "s4-40" || servers[3].Name != "s4-43" || servers[3].ID != 43 || servers[3].State != fleet.Claimed {
			t.Errorf("claimed %+v", servers)
		}
		if _, history := shown(t, f, 43); len(history) != 1 || history[0].Action != "claim" || history[0].By != note.By || history[0].Why != note.Why {
			t.Errorf("the history is %+v", history)
		}
		_, err = f.ClaimRange(ctx, "s5", store.ServerRange{First: 38, Last: 40}, note)
		says(t, err, fleet.ErrTaken, "server 40 cannot be claimed, and no other of the range 38-40 was", `"s4-40"`)
		exec(t, f.DB(), "INSERT INTO fleet_servers (server_id, name, state, epoch, claimed_ms) VALUES (99, 's6-61', 'claimed', 1, 1)")
		_, err = f.ClaimRange(ctx, "s6", store.ServerRange{First: 60, Last: 62}, note)
		says(t, err, fleet.ErrTaken, `cannot have the name "s6-61", and nothing was claimed`, "server 99")
		for _, servers := range []store.ServerRange{{First: 9, Last: 8}, {First: 1, Last: 9999}, {}} {
			if _, err := f.ClaimRange(ctx, "s7", servers, note); err == nil {
				t.Errorf("claimed %s", servers)
			}
		}
		if _, err := f.ClaimRange(ctx, "", store.ServerRange{First: 70, Last: 71}, note); err == nil {
			t.Error("claimed without a name")
		}
		all, err := f.List(ctx)
		must(t, err)
		if len(all) != 5 {
			t.Errorf("%d servers are claimed, want 5: %+v", len(all), all)
		}
	})
}

// The first start binds the range as one; many processes that start at once each
// get a server of their own, and the others hear who holds them.
func TestJoinFree(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		db := withRegistry(t, newDSN())
		refusedFree(t, db, f, fleet.ErrNotClaimed, "gameid servers claim -name s4 -servers 40-43")
		if servers, err := db.Registry().Servers(ctx); err != nil || len(servers) != 0 {
			t.Errorf("a world that was refused left %v, %v", servers, err)
		}
		claimed(t, f, 41)
		refusedFree(t, db, f, fleet.ErrNotClaimed, "-servers 40-40")
		exec(t, f.DB(), "DELETE FROM fleet_servers")
		exec(t, f.DB(), "DELETE FROM fleet_history")
		claimedRange(t, f)

		var wg sync.WaitGroup
		members, errs := make([]*fleet.Member, 8), make([]error, 8)
		for i := range members {
			wg.Go(func() { members[i], errs[i] = f.JoinFree(ctx, storetest.World(db), range40, worldOptions, freeHand) })
		}
		wg.Wait()
		taken := make(map[gameid.ServerID]*fleet.Member)
		for i, m := range members {
			if errs[i] == nil {
				t.Cleanup(func() { m.Close() })
				if taken[m.Node.Server()] != nil {
					t.Errorf("two have the server %s", m.Node.Server())
				}
				taken[m.Node.Server()] = m
				if m.Status().State != fleet.Joined {
					t.Errorf("%+v", m.Status())
				}
				continue
			}
			if full, ok := errors.AsType[*registry.NoneFreeError](errs[i]); !ok || len(full.Holders()) != 4 {
				t.Errorf("of eight one hears: %v", errs[i])
			}
		}
		if len(taken) != 4 {
			t.Fatalf("of eight over four servers %d run", len(taken))
		}
		own, err := storetest.World(db).Servers(ctx)
		must(t, err)
		id, err := f.Identity(ctx)
		must(t, err)
		for _, s := range own {
			row, history := shown(t, f, s.ID)
			if row.World != s.World || row.State != fleet.Bound || s.Fleet != id || row.Holder != s.Holder || !row.Leased || len(history) != 2 || history[1].Action != "bind" {
				t.Errorf("server %s is %+v here, and %+v with the history %+v in the fleet registry", s.ID, s, row, history)
			}
		}

		last := mint(t, taken[42])
		must(t, taken[42].Close())
		again := joinFree(t, db, f)
		if next := mint(t, again); again.Node.Server() != 42 || next.Compare(last) <= 0 {
			t.Errorf("after 42 ended with %s: %s with %s", last, again.Node.Server(), next)
		}

		// Also without the fleet registry's help, the range is that of this world.
		_, err = db.OpenFreeNode(ctx, range40, nodeOptions)
		if _, bound := errors.AsType[*registry.BoundError](err); !bound {
			t.Errorf("without the fleet registry: %v", err)
		}
	})
}

// One start of one process binds all servers, so that another world is refused
// while most of them are free, and this one starts while the fleet registry is
// away.
func TestJoinFreeBindsAll(t *testing.T) {
	t.Parallel()
	onOne(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		var away atomic.Bool
		dsn := newDSN()
		claimedRange(t, newFleet(t, dsn))
		f := openFleetBehind(t, dsn, &away)
		db, other := withRegistry(t, newDSN()), withRegistry(t, newDSN())

		away.Store(true)
		refusedFree(t, db, f, fleet.ErrNotBound, "was never bound")
		away.Store(false)
		must(t, joinFree(t, db, f).Close())
		refusedFree(t, other, f, fleet.ErrOtherWorld, "the range of servers 40-43", "belongs to another world")
		if servers, err := other.Registry().Servers(ctx); err != nil || len(servers) != 0 {
			t.Errorf("a world that was refused left %v, %v", servers, err)
		}

		away.Store(true)
		seen := make(map[gameid.ServerID]bool)
		for range 4 {
			m := joinFree(t, db, f)
			if m.Status().State != fleet.Away {
				t.Errorf("%+v", m.Status())
			}
			seen[m.Node.Server()] = true
		}
		if len(seen) != 4 {
			t.Errorf("while the fleet registry is away the servers %v start", seen)
		}
	})
}

// A start that ended between the two registries is completed by the next one.
func TestJoinFreeResumes(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		claimedRange(t, f)
		db := withRegistry(t, newDSN())
		must(t, joinFree(t, db, f).Close())
		exec(t, db, "UPDATE gameid_servers SET fleet = ''")
		must(t, joinFree(t, db, f).Close())
		own, err := storetest.World(db).Servers(t.Context())
		must(t, err)
		for _, s := range own {
			if s.Fleet == "" {
				t.Errorf("server %s does not know its fleet registry", s.ID)
			}
		}
	})
}

// A copy of the world is refused while a process of the original runs on any
// server, once that has reported; retired servers and those with a lease are
// passed over.
func TestJoinFreeCopy(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		claimedRange(t, f)
		db := withRegistry(t, newDSN())
		first := joinFree(t, db, f)
		clone := copyOf(t, db, newDSN())
		exec(t, clone, "UPDATE gameid_servers SET epoch = epoch - 1 WHERE server_id = ?", first.Node.Server())
		refusedFree(t, clone, f, fleet.ErrRunning, "a live copy of the world", "older copy", "left)")

		must(t, joinFree(t, db, f).Close())
		for server := range range40.Len() {
			if s := range40.First + gameid.ServerID(server); s != first.Node.Server() {
				must(t, f.Retire(ctx, s, note))
			}
		}
		m, err := f.JoinFree(ctx, storetest.World(db), range40, worldOptions, freeHand)
		if err == nil {
			m.Close()
		}
		says(t, err, fleet.ErrRetired, "processes hold 1; ", "is retired")
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %v", err)
		}
	})
}
