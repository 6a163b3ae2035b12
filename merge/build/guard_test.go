package build_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// guarded makes sure, of a merge that was interrupted anywhere, that no own server of the new database
// starts before it is opened, and none of the worlds that the plan fences while rows come.
func guarded(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	at, err := build.LookUp(context.WithoutCancel(t.Context()), p, into, worlds)
	if err != nil {
		t.Fatal(err)
	}
	if at.State == record.StateNone || at.State == record.StateOpen {
		return
	}
	for _, s := range worldtest.RegistryIn(t, into) {
		if s.Role != worldregistry.RoleOwn {
			continue
		}
		if f, ok := worldregistry.FenceOf(s.Holder); !ok || !f.Here || f.Merge != p.ID || s.Held() == nil {
			t.Fatalf("the merge is %q, and server %s of the new database can start: %+v", at.State, s.ID, s)
		}
	}
	if at.Copied() == 0 || at.State == record.StateUndoing {
		return // not fenced yet, or not any more
	}
	for _, f := range at.Fences {
		if !f.Fenced {
			t.Fatalf("the merge is %q, and server %s of %s can start", at.State, f.Server, f.World)
		}
	}
}

// unguarded makes sure that no server of a database has a fence.
func unguarded(t testing.TB, d world.Database) {
	t.Helper()
	for _, s := range worldtest.RegistryIn(t, d) {
		if err := s.Held(); err != nil {
			t.Fatalf("server %s cannot start: %v", s.ID, err)
		}
	}
}

// halfway carries out a plan until some items are copied, and stops there.
func halfway(t *testing.T, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := int64(-1)
	_, err := build.ApplyWith(ctx, p, into, worlds, job.Options{Parallel: 1, Progress: func(now job.Progress) {
		switch {
		case now.Step != record.StepCopy || now.Table != "items":
		case before < 0:
			before = now.Rows
		case now.Rows > before:
			cancel()
		}
	}}, job.Hooks{Batch: time.Nanosecond})
	if !errors.Is(err, record.ErrStopped) {
		t.Fatalf("got %v, want that it stopped", err)
	}
}

// force takes the fences off a database by hand, as an operator may who does not
// know better.
func force(t *testing.T, p *plan.Plan, d world.Database) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range worldtest.RegistryIn(t, d) {
		if err := storetest.World(db).LiftFence(t.Context(), s.ID, p.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// play runs a game on a world: a new player with one item.
func play(t *testing.T, d world.Database, server gameid.ServerID, name string, owner string) (item gameid.ID) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(ctx, server, storetest.NodeOptions)
	if err != nil {
		t.Fatal(err)
	}
	player, err1 := gameid.NewGenerator[entity.Player](node).Next()
	thing, err2 := gameid.NewGenerator[entity.Item](node).Next()
	now := entity.Time(time.Now())
	err3 := starter.Players.Insert(ctx, db, entity.Player{ID: player, Account: "new", Name: name, Level: 1, CreatedAt: now, UpdatedAt: now})
	err4 := starter.Items.Insert(ctx, db, entity.Item{ID: thing, Owner: player, Template: 9, Count: 1, CreatedAt: now})
	if err := errors.Join(err1, err2, err3, err4, node.Close()); err != nil {
		t.Fatal(err)
	}
	if owner != "" {
		worldtest.Exec(t, d, "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = '"+owner+"') WHERE template = 9")
	}
	return thing.ID()
}

// From its first write until it is opened no game starts on the new database, and the
// refusal names the merge and both ways out.
func TestNewDatabaseIsFenced(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 400, "bert")}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	halfway(t, p, into, all)
	guarded(t, p, into, all)
	for _, d := range []world.Database{into, all[0]} {
		db, err := store.Open(t.Context(), d.DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.OpenNode(t.Context(), 1, storetest.NodeOptions)
		fenced := new(worldregistry.FencedError)
		if !errors.As(err, &fenced) || fenced.Fence.Merge != p.ID || d == into && !strings.Contains(err.Error(), "servermerge status PLAN") || !strings.Contains(err.Error(), "servermerge undo PLAN") {
			t.Errorf("the server of %s starts: %v", d.Name, err)
		}
	}
	// Nor does it take part in another merge, as the first world or as another.
	other := worldtest.GameWorld(t, e, "s9", 9, 3, "ines")
	for _, pair := range [][]world.Database{{into, other}, {other, into}} {
		again := worldtest.Planned(t, e.Fresh(t, "newer"), pair, planner.PlanOptions{})
		if n := strings.Count(fmt.Sprint(again.Refusals), "the merge "+p.ID+" was begun there and not completed: resume it or undo it first"); n != 1 {
			t.Errorf("said %d times: %v", n, again.Refusals)
		}
	}
	worldtest.MustApply(t, p, into, all)
	worldtest.Startable(t, into, 1, false)
	worldtest.Opened(t, p, into, all)
	worldtest.Startable(t, into, 1, true)
	worldtest.Startable(t, all[0], 1, false)
	worldtest.Startable(t, all[1], 2, false)
}

// An open that is killed when all is done but the gate goes on by the same command, or is undone; and
// an undo that is killed at its very end has come to it.
func TestKilledBeforeLifting(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	for _, again := range []bool{true, false} {
		worldtest.MustApply(t, p, into, all)
		_, err := build.With(t.Context(), p, into, all, build.Options{Options: job.Options{RetryFor: -1}}, job.Hooks{Fail: func(point string) error {
			if point == "before unguard" {
				return context.Canceled
			}
			return nil
		}})
		if err == nil {
			t.Fatal("nothing went wrong")
		}
		worldtest.Startable(t, into, 1, false)
		if again {
			if done, err := build.Open(t.Context(), p, into, all, build.Options{}); err != nil || done.Before {
				t.Errorf("%+v, %v", done, err)
			}
			unguarded(t, into)
		}
		_, err = build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{RetryFor: -1}}, job.Hooks{Fail: func(point string) error {
			if point == "after lifting" {
				return context.Canceled
			}
			return nil
		}})
		if err == nil {
			t.Fatal("nothing went wrong")
		}
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); !errors.Is(err, record.ErrNoMerge) {
			t.Errorf("again: %v", err)
		}
		if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
			t.Errorf("%s is there after its undo: %v", into.Name, err)
		}
		for i, d := range all {
			worldtest.Startable(t, d, gameid.ServerID(i+1), true)
		}
		p, into = worldtest.PlanOf(t, e, all, planner.PlanOptions{}) // the undo of an open database moved marks
	}
}

// A game server that comes between the last look and the fence stops the merge before its first row;
// one that runs when an undo comes keeps its database.
func TestServerComesBetween(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	worldtest.Mint(t, all[0], 5) // the first world has two servers, and the first is fenced when the second is found running
	worlds := worldtest.Clones(t, e, all)
	for _, c := range []struct {
		name  string
		comes func(t *testing.T)
		want  string
	}{
		{"and runs", func(t *testing.T) { worldtest.Serve(t, worlds[0], 5) }, "server 5"},
		{"and ran", func(t *testing.T) { worldtest.Mint(t, worlds[0], 5) }, "the mark of server 5 moved"},
		{"and runs on the second", func(t *testing.T) { worldtest.Serve(t, worlds[1], 2) }, "server 2"},
	} {
		worldtest.RefillAll(t, all, worlds)
		p, into := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{})
		t.Run(c.name, func(t *testing.T) {
			came := false
			_, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{RetryFor: -1}, job.Hooks{Fail: func(point string) error {
				if point == "before fence" && !came {
					came = true
					c.comes(t)
				}
				return nil
			}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			at, err := build.LookUp(t.Context(), p, into, worlds)
			if err != nil || at.Copied() != 0 {
				t.Errorf("rows were copied: %+v, %v", at, err)
			}
		})
		if undone, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil || !undone.Dropped {
			t.Errorf("%s: %+v, %v", c.name, undone, err)
		}
		for _, d := range worlds {
			for _, s := range worldtest.RegistryIn(t, d) {
				if _, fenced := worldregistry.FenceOf(s.Holder); fenced {
					t.Errorf("%s: a fence stays: %+v", c.name, s)
				}
			}
		}
	}
	worldtest.RefillAll(t, all, worlds)
	p, into := worldtest.MergeOf(t, e, worlds, planner.PlanOptions{})
	worldtest.Opened(t, p, into, worlds)
	t.Run("an undo", func(t *testing.T) {
		came := false
		_, err := build.UndoWith(t.Context(), p, into, worlds, build.UndoOptions{}, job.Hooks{Fail: func(point string) error {
			if point == "before guard" && !came {
				came = true
				worldtest.Serve(t, into, 5)
			}
			return nil
		}})
		worldtest.RefusedBecause(t, "undo", "server 5 runs", err)
	})
	if undone, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{Force: true}); err != nil || !undone.Dropped {
		t.Fatalf("%+v, %v", undone, err)
	}
	worldtest.Startable(t, worlds[0], 1, true)
	worldtest.Startable(t, worlds[0], 5, true)
}

// A game that wrote to a world of an interrupted merge, past its fence, is noticed by name. The way on is the undo; then
// plan again.
func TestGamePlayedMeanwhile(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for _, c := range []struct {
		where int // a world
		want  []string
	}{
		{0, []string{`"s1"`, "the mark of server 1 moved", "undo the merge, then plan again"}},
		{1, []string{`"s2"`, "the mark of server 2 moved", "undo the merge, then plan again"}},
	} {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 400, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{RangeRows: 10_000})
		halfway(t, p, into, all)
		d, server := all[c.where], gameid.ServerID(c.where+1)
		force(t, p, d)
		play(t, d, server, "newcomer", "")
		_, err := build.Apply(t.Context(), p, into, all, job.Options{})
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", d.Name, err, w)
			}
		}
		worldtest.MustDrop(t, p, into, all)
		p, into = worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		worldtest.Proved(t, p, into, all)
	}
}

// Without a registry no fence keeps a game away: rows that came to the new database are found by the proof.
func TestNoRegistry(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 5000)}
	p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
	wrote := false
	_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Pause: func(context.Context) error {
		if !wrote && worldtest.Number(t, into, "SELECT COUNT(*) FROM things") > 1000 {
			wrote = true
			worldtest.Exec(t, into, "INSERT INTO things VALUES (78, NULL, 'new', 1)")
		}
		return nil
	}}, job.Hooks{Batch: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || proof.Tables[0].Rows != 5011 || proof.Tables[0].Want != 5010 || !proof.Tables[0].Others {
		t.Errorf("%+v", proof)
	}
}

// A game server that ran while the merge did, past the fence, keeps it from being
// completed, also if it only moved its mark.
func TestMarkMovedMeanwhile(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for _, there := range []bool{true, false} { // in the new database, or in a world
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 400, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		d, server := all[1], gameid.ServerID(2)
		if there {
			d, server = into, 1
		}
		ran := false
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1, Pause: func(context.Context) error {
			if !ran {
				ran = true
				force(t, p, d)
				worldtest.Mint(t, d, server)
			}
			return nil
		}}, job.Hooks{})
		want := fmt.Sprintf("the mark of server %s moved from ", server)
		if of := new(record.ChangedError); !errors.As(err, &of) || of.Database != d.Name || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ": another process has written to it since the merge began: undo the merge, then plan again") {
			t.Errorf("%s: it was completed: %v", d.Name, err)
		}
		worldtest.MustDrop(t, p, into, all)
		worldtest.Startable(t, all[0], 1, true)
		worldtest.Startable(t, all[1], 2, true)
	}
}
