package fleet_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// goesOn makes a database that of the next generation of its world, as a merge into a new database does.
func goesOn(t testing.TB, db, after *store.DB) {
	t.Helper()
	s, err := storetest.World(after).Server(t.Context(), 7)
	must(t, err)
	exec(t, db, fmt.Sprint("UPDATE gameid_servers SET epoch = ", worldregistry.NextGeneration(s.Epoch)))
}

// A world that continues in another database starts there, and no copy of it from before starts: neither a
// backup of the old database, nor, after an undo, one of the new.
func TestFollow(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		old := withRegistry(t, newDSN())
		must(t, f.Follow(ctx, storetest.World(old), note)) // of a world that is bound nowhere there is nothing to record
		claimed(t, f, 7)
		m := join(t, old, f, 7)
		last := mint(t, m)
		made := copyOf(t, old, newDSN())
		exec(t, made, "UPDATE gameid_servers SET lease_until_ms = 0, holder = ''")
		goesOn(t, made, old)
		says(t, f.Follow(ctx, storetest.World(made), note), fleet.ErrRunning, "runs elsewhere", "stop that process")
		must(t, m.Close())
		must(t, f.Follow(ctx, storetest.World(made), note))
		must(t, f.Follow(ctx, storetest.World(made), note))
		s, history := shown(t, f, 7)
		if worldregistry.Generation(s.WorldEpoch) != 1 || len(history) != 3 || history[2].Action != "move" || history[2].Why != note.Why {
			t.Errorf("%+v, history %+v", s, history)
		}

		refused(t, old, f, 7, fleet.ErrSuperseded, "a copy from before a merge", "generation 0", "has seen 1", "gameid servers rebind -h")
		says(t, f.Follow(ctx, storetest.World(old), note), fleet.ErrSuperseded)
		m = join(t, made, f, 7)
		next := mint(t, m)
		if next.Compare(last) <= 0 {
			t.Errorf("%s after %s", next, last)
		}
		if !m.Heartbeat(ctx) {
			t.Errorf("heartbeat: %v", m.Status().Err)
		}
		must(t, m.Close())

		goesOn(t, old, made) // an undo takes the world back
		must(t, f.Follow(ctx, storetest.World(old), note))
		refused(t, made, f, 7, fleet.ErrSuperseded, "generation 1", "has seen 2")
		m = join(t, old, f, 7)
		if again := mint(t, m); again.Compare(next) <= 0 {
			t.Errorf("%s after %s", again, next)
		}
		must(t, m.Close())

		// The way out, if the world has to go on in a copy from before.
		must(t, f.Rebind(ctx, 7, s.World, note))
		m = join(t, made, f, 7)
		must(t, m.Close())
	})
}

// A copy from before that was started while the fleet registry was away ends when it comes back.
func TestSupersededAway(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		o.away.Store(true)
		m := o.join(t, o.copy)
		mint(t, m)
		goesOn(t, o.db, o.db)
		must(t, o.fleet.Follow(t.Context(), storetest.World(o.db), note))
		o.away.Store(false)
		if m.Heartbeat(t.Context()) {
			t.Error("it is joined")
		}
		stopped(t, m, fleet.ErrSuperseded, "generation 0", "has seen 1")
		m = join(t, o.db, o.fleet, 7)
		must(t, m.Close())
	})
}

// A world that was merged into another database starts nowhere until the merge is undone.
func TestGone(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		ctx := t.Context()
		world := withRegistry(t, newDSN())
		must(t, f.Gone(ctx, storetest.World(world), "new", note)) // of a world that is bound nowhere there is nothing to record
		claimed(t, f, 7)
		m := join(t, world, f, 7)
		mint(t, m)
		says(t, f.MayReturn(ctx, storetest.World(world), false), fleet.ErrRunning, "runs elsewhere", "stop that process")
		says(t, f.Gone(ctx, storetest.World(world), "new", note), fleet.ErrRunning, "runs elsewhere", "stop that process")
		must(t, m.Close())
		must(t, f.MayReturn(ctx, storetest.World(world), false))
		backup := copyOf(t, world, newDSN())
		must(t, f.Gone(ctx, storetest.World(world), "new", note))
		must(t, f.MayReturn(ctx, storetest.World(world), true))
		says(t, f.MayReturn(ctx, storetest.World(world), false), fleet.ErrSuperseded, `was merged into "new"`)
		must(t, f.Gone(ctx, storetest.World(world), "new", note))
		s, history := shown(t, f, 7)
		if s.GoneInto != "new" || history[len(history)-1].Action != "gone" || len(history) != 3 {
			t.Errorf("%+v, history %+v", s, history)
		}
		refused(t, backup, f, 7, fleet.ErrSuperseded, `was merged into "new"`, "servermerge undo", "gameid servers rebind -h")
		says(t, f.Gone(ctx, storetest.World(backup), "third", note), fleet.ErrSuperseded, `was merged into "new"`)
		must(t, f.Gone(ctx, storetest.World(world), "", note))
		m = join(t, world, f, 7)
		must(t, m.Close())
		must(t, f.Retire(ctx, 7, note))
		says(t, f.MayReturn(ctx, storetest.World(world), false), fleet.ErrRetired, "is retired")
		must(t, f.MayReturn(ctx, storetest.World(world), true)) // it is back, though it starts nowhere
		must(t, f.Gone(ctx, storetest.World(world), "", note))
	})
}

// What may not be written is known before.
func TestMayWrite(t *testing.T) {
	t.Parallel()
	dsn := servertest.DSN(t)
	f := storetest.NewFleet(t, "mysql:"+dsn)
	must(t, f.MayWrite(t.Context()))
	for _, rights := range []string{"SELECT", "SELECT, UPDATE"} {
		reads, err := fleet.Open("mysql:" + servertest.Grant(t, rights, dsn))
		must(t, err)
		defer reads.Close()
		if err := reads.MayWrite(t.Context()); err == nil || !strings.Contains(err.Error(), "command denied") {
			t.Errorf("with %s: %v", rights, err)
		}
	}
}

// A world is not back in a fleet registry that does not know it.
func TestMayReturnElsewhere(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, other *fleet.Fleet, newDSN func() string) {
		f := storetest.NewFleet(t, newDSN())
		claimed(t, f, 7)
		world := withRegistry(t, newDSN())
		must(t, join(t, world, f, 7).Close())
		for _, came := range []bool{false, true} {
			must(t, f.MayReturn(t.Context(), storetest.World(world), came))
			says(t, other.MayReturn(t.Context(), storetest.World(world), came), fleet.ErrNotClaimed, "is not claimed in the fleet registry")
		}
	})
}

// A copy of such a world that was started while the fleet registry was away ends when it comes back.
func TestGoneAway(t *testing.T) {
	t.Parallel()
	inOutage(t, func(t *testing.T, o *outage) {
		o.away.Store(true)
		m := o.join(t, o.copy)
		mint(t, m)
		must(t, o.fleet.Gone(t.Context(), storetest.World(o.db), "new", note))
		o.away.Store(false)
		if m.Heartbeat(t.Context()) {
			t.Error("it is joined")
		}
		stopped(t, m, fleet.ErrSuperseded, `was merged into "new"`)
	})
}
