package worldregistry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// A registry that is restored between the look at a row and its change may have the same epoch there, under another
// holder: that one is not overwritten.
func TestFenceComparesTheHolder(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		starts(t, db)
		other := gameid.Holder{Token: "another process"}
		looks := 0
		must(t, storetest.World(db).HoldAfter(t.Context(), 7, worldregistry.FenceTo("m1", "s1", storetest.Born), func(s *worldregistry.Server) bool {
			if looks++; looks == 1 {
				exec(t, db, "UPDATE gameid_servers SET holder = ?", other)
				return true
			}
			return s.Holder.IsZero()
		}))
		if s := servers(t, db)[0]; s.Holder != other || looks != 2 {
			t.Errorf("%d looks, the holder is %s", looks, s.Holder)
		}
	})
}

// A fence refuses every start until the one who made it lifts it. A server that
// runs is not fenced.
func TestFence(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), storetest.World(db)
		since := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
		ours, others := worldregistry.FenceTo("m1", "s1", since), worldregistry.FenceTo("m2", "s9", since)
		held := new(gameid.HeldError)
		if err := r.Fence(ctx, 7, ours); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a server that is not there: %v", err)
		}
		node, err := db.OpenNode(ctx, 7, nodeOptions)
		must(t, err)
		if err := r.Fence(ctx, 7, ours); !errors.As(err, &held) {
			t.Errorf("a server that runs: %v", err)
		}
		must(t, node.Close())
		mark := servers(t, db)[0].Reserved
		for range 2 {
			must(t, r.Fence(ctx, 7, ours))
		}
		if err := r.Fence(ctx, 7, others); !errors.As(err, &held) {
			t.Errorf("what another merge has fenced: %v", err)
		}
		s := servers(t, db)[0]
		if f, ok := worldregistry.FenceOf(s.Holder); !ok || f != (worldregistry.Fence{Merge: "m1", Into: "s1", Since: since}) || !s.Fenced("m1") || s.Fenced("m2") || s.FenceFree("m2") || !s.FenceFree("m1") || s.Reserved != mark {
			t.Errorf("%+v", s)
		}
		// Whoever wants it to start learns of the merge, not of a process.
		fenced := new(worldregistry.FencedError)
		_, err = db.OpenNode(ctx, 7, nodeOptions)
		_, err2 := storetest.World(db).RaiseMark(ctx, 7, time.Now(), nodeOptions.Options)
		leases, err3 := fleet.FindLeases(ctx, r, nil, 7)
		must(t, err3)
		for _, err := range []error{err, err2, r.Leave(ctx, 7), fleet.EndLeases(ctx, r, nil, leases, 0, fleet.Note{By: "anna@host-a", Why: "a test"})} {
			if !errors.As(err, &held) || !errors.As(err, &fenced) || fenced.Fence != (worldregistry.Fence{Merge: "m1", Into: "s1", Since: since}) {
				t.Errorf("what is fenced: %v", err)
			} else if text := err.Error(); !strings.Contains(text, `goes to "s1" by the merge "m1", since 2026-11-21T03:00:00.000Z`) || !strings.Contains(text, "servermerge undo") || strings.Contains(text, "gameid servers release") {
				t.Errorf("a fence is told as %q", text)
			}
		}
		if !servers(t, db)[0].Fenced("m1") {
			t.Error("the fence was ended as a lease")
		}
		if err := r.LiftFence(ctx, 7, "m2"); err != nil || !servers(t, db)[0].Fenced("m1") {
			t.Errorf("another merge lifted it: %v", err)
		}
		for range 2 {
			must(t, r.LiftFence(ctx, 7, "m1"))
		}
		starts(t, db)
	})
}

// A fence in the new database of a merge names the merge and both ways out.
func TestFenceHere(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), storetest.World(db)
		since := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
		starts(t, db)
		must(t, r.Fence(ctx, 7, worldregistry.FenceHere("m1", "s1", since)))
		_, err := db.OpenNode(ctx, 7, nodeOptions)
		fenced := new(worldregistry.FencedError)
		if !errors.As(err, &fenced) || fenced.Fence != (worldregistry.Fence{Merge: "m1", Into: "s1", Here: true, Since: since}) {
			t.Fatal(err)
		}
		want := `server 7 is fenced: the merge "m1" is being carried out in this database, "s1", since 2026-11-21T03:00:00.000Z; what comes next: "servermerge status PLAN"; to take it back: "servermerge undo PLAN"`
		if fenced.Error() != want {
			t.Errorf("got  %s\nwant %s", fenced, want)
		}
		must(t, r.LiftFence(ctx, 7, "m1"))
		starts(t, db)
	})
}

// A fence says how far its merge is, so that those that may be lifted without its record are told from others. Where none
// stands, none is made by marking it.
func TestFenceState(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), storetest.World(db)
		since := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
		starts(t, db)
		is := func(want worldregistry.FenceState) {
			t.Helper()
			if f, ok := worldregistry.FenceOf(servers(t, db)[0].Holder); !ok || f != (worldregistry.Fence{Merge: "m1", Into: "s1", Since: since, State: want}) {
				t.Fatalf("%+v, want %q", f, want)
			}
		}
		refused := func(want string) {
			t.Helper()
			if _, err := db.OpenNode(ctx, 7, nodeOptions); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
		if err := r.MarkFence(ctx, 7, "m1", worldregistry.FenceOpened); !errors.Is(err, worldregistry.ErrNoFence) {
			t.Errorf("marked where there is no fence: %v", err)
		}
		must(t, r.Fence(ctx, 7, worldregistry.FenceTo("m1", "s1", since)))
		is(worldregistry.FenceMerging)
		refused(`server 7 is fenced: its world goes to "s1" by the merge "m1", since 2026-11-21T03:00:00.000Z; what comes next: "servermerge status PLAN"; to take it back: "servermerge undo PLAN"`)
		if err := r.MarkFence(ctx, 7, "m2", worldregistry.FenceOpened); !errors.Is(err, worldregistry.ErrNoFence) {
			t.Errorf("another merge's fence was marked: %v", err)
		}
		for _, state := range []worldregistry.FenceState{worldregistry.FenceOpened, worldregistry.FenceOpened, worldregistry.FenceDropping} {
			must(t, r.MarkFence(ctx, 7, "m1", state))
			is(state)
			must(t, r.Fence(ctx, 7, worldregistry.FenceTo("m1", "s1", since))) // it is there
			is(state)
			if state == worldregistry.FenceOpened {
				refused(`server 7 is fenced: its world went to "s1" by the merge "m1", on 2026-11-21T03:00:00.000Z, and runs there; to take that merge back and lift the fence: "servermerge undo PLAN"`)
			}
		}
		refused(`server 7 is fenced: an undo drops "s1", which the merge "m1" had made, since 2026-11-21T03:00:00.000Z; to lift it: "servermerge undo PLAN"`)
		must(t, r.LiftFence(ctx, 7, "m1"))
	})
}

// While one server of a database is fenced no other starts there, whether the
// registry lists it or not, and none is listed by trying.
func TestFenceOfTheDatabase(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), storetest.World(db)
		starts(t, db)
		addMerged(t, db, 12, 1)
		for _, holder := range []gameid.Holder{worldregistry.FenceHere("m1", "s1", time.Now()), worldregistry.FenceTo("m1", "s1", time.Now())} {
			must(t, r.Fence(ctx, 7, holder))
			fenced := new(worldregistry.FencedError)
			for _, server := range []gameid.ServerID{8, 12} {
				if _, err := db.OpenNode(ctx, server, nodeOptions); !errors.As(err, &fenced) || fenced.Server != server {
					t.Errorf("server %s: %v", server, err)
				}
			}
			if _, err := db.OpenFreeNode(ctx, store.ServerRange{First: 5, Last: 9}, nodeOptions); !errors.As(err, &fenced) || strings.Contains(err.Error(), "more servers") {
				t.Errorf("any of a range: %v", err)
			}
			if n := len(servers(t, db)); n != 2 {
				t.Errorf("the registry lists %d servers, want 2", n)
			}
			must(t, r.LiftFence(ctx, 7, "m1"))
		}
		node, err := db.OpenNode(ctx, 8, nodeOptions)
		must(t, err)
		must(t, node.Close())
	})
}

// A fence that comes while a node is being opened is seen before the node mints.
func TestFenceWhileOpening(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		ctx, r := t.Context(), storetest.World(db)
		starts(t, db)
		through := fencing{r, func() { must(t, r.Fence(ctx, 7, worldregistry.FenceHere("m1", "s1", time.Now()))) }}
		fenced := new(worldregistry.FencedError)
		if _, err := r.Start(ctx, worldregistry.Server{ID: 8}, through, worldregistry.NodeOptions(nodeOptions)); !errors.As(err, &fenced) {
			t.Errorf("started: %v", err)
		}
		if s := servers(t, db); len(s) != 2 || s[1].Leased {
			t.Errorf("the lease was not given back: %+v", s)
		}
	})
}

// fencing fences before each claim.
type fencing struct {
	*worldregistry.Registry
	fence func()
}

func (f fencing) Floor(ctx context.Context, server gameid.ServerID) (int64, error) { return 0, nil }

func (f fencing) CompareAndSet(ctx context.Context, server gameid.ServerID, old gameid.Record, c gameid.Claim) (bool, error) {
	f.fence()
	return f.Registry.CompareAndSet(ctx, server, old, c)
}

// A server whose rows came by a merge does not start here, whichever way.
func TestMergedServer(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		addMerged(t, db, 12, 5)
		before := servers(t, db)[0]
		eachWay(t, db, 12, func(way string, err error) {
			if err == nil || !strings.Contains(err.Error(), "server 12 was merged into ") {
				t.Errorf("%s: %v", way, err)
			}
		})
		if now := servers(t, db)[0]; now.Epoch != before.Epoch || now.Role != worldregistry.RoleMerged {
			t.Errorf("its row was %+v, now it is %+v", before, now)
		}
	})
}

// addMerged lists a server as one whose rows came by a merge.
func addMerged(t *testing.T, db *store.DB, server gameid.ServerID, mark int64) {
	t.Helper()
	_, err := storetest.World(db).CompareAndSet(t.Context(), server, gameid.Record{}, gameid.Claim{Reserved: mark})
	must(t, err)
	exec(t, db, "UPDATE gameid_servers SET role = 'merged' WHERE server_id = ?", server)
}

func servers(t *testing.T, db *store.DB) []worldregistry.Server {
	t.Helper()
	all, err := storetest.World(db).Servers(t.Context())
	must(t, err)
	return all
}
