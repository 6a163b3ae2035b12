package build_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

var keepActive = planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}}}

// Without a record an undo drops nothing, and the fences decide. If nobody was let in, they are lifted.
func TestUndoWithoutRecord(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 7, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		worldtest.Recordless(t, into)
		before := worldtest.Dump(t, into)
		undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		if err != nil || !undone.NoRecord || undone.Dropped || len(undone.Lifted) != 2 || !slices.Contains(undone.Others, "players") {
			t.Errorf("%+v, %v", undone, err)
		}
		if before != worldtest.Dump(t, into) {
			t.Error("the database without a record was changed")
		}
		for i, d := range all {
			worldtest.Startable(t, d, gameid.ServerID(i+1), true)
		}
	})
}

// If the game was let in, nobody knows where the rows are: an undo leaves the fences and changes nothing, whatever is in
// the place of the new database; nor is the plan carried out in another place. By force the worlds live again, and give
// nothing that may have been given there.
func TestUndoWithoutRecordOpened(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 7, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		worldtest.Opened(t, p, into, all)
		worldtest.Mint(t, into, 1)
		given := worldtest.RegistryIn(t, into)[0]
		elsewhere := e.Fresh(t, "new") // where there is nothing
		worldtest.Recordless(t, into)
		for what, wrong := range map[string]world.Database{"without its record": into, "in another place": elsewhere} {
			before := []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1]), worldtest.Dump(t, wrong)}
			_, err := build.Undo(t.Context(), p, wrong, all, build.UndoOptions{})
			worldtest.RefusedBecause(t, "undo", "is missing or has another name", err)
			var refused *record.RefusedError
			if _, err := build.Apply(t.Context(), p, wrong, all, job.Options{}); !errors.As(err, &refused) {
				t.Errorf("an apply to a database %s: %v", what, err)
			}
			if !slices.Equal(before, []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1]), worldtest.Dump(t, wrong)}) {
				t.Errorf("%s: something was changed", what)
			}
			for i, d := range all {
				worldtest.Startable(t, d, gameid.ServerID(i+1), false)
			}
			_, err = build.Open(t.Context(), p, wrong, all, build.Options{})
			worldtest.RefusedBecause(t, "open", "is missing or has another name", err)
			if _, err := build.Apply(t.Context(), p, wrong, all, job.Options{Try: true}); !errors.As(err, &refused) {
				t.Errorf("a rehearsal in a database %s: %v", what, err)
			}
			if at, err := build.LookUp(t.Context(), p, wrong, all); err != nil || at.State != record.StateOpening || !at.Lost {
				t.Errorf("%s: %+v, %v", what, at, err)
			}
		}
		undone, err := build.Undo(t.Context(), p, elsewhere, all, build.UndoOptions{Force: true})
		if err != nil || !undone.NoRecord || !undone.Raised || !undone.Unseen || len(undone.Lifted) != 2 {
			t.Fatalf("%+v, %v", undone, err)
		}
		if now := worldtest.RegistryIn(t, all[0])[0]; now.Reserved < given.Reserved || now.Generation() <= given.Generation() {
			t.Errorf("the first world is at %d in generation %d, and had given %d in generation %d", now.Reserved, now.Generation(), given.Reserved, given.Generation())
		}
		for i, d := range all {
			worldtest.Startable(t, d, gameid.ServerID(i+1), true)
		}
	})
}

// NEW and the first world were typed in the wrong order. The new database has the servers of the first world, so its registry
// alone does not tell it from that: neither an undo by force nor any other command takes it for the world.
func TestUndoOfExchangedDatabases(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 7, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		worldtest.Opened(t, p, into, all)
		wrongNew, wrongFirst := into, all[0]
		wrongNew.DSN, wrongFirst.DSN = all[0].DSN, into.DSN
		wrong := []world.Database{wrongFirst, all[1]}
		dumps := func() string { return worldtest.Dump(t, all[0]) + worldtest.Dump(t, all[1]) + worldtest.Dump(t, into) }
		before := dumps()
		_, err := build.Undo(t.Context(), p, wrongNew, wrong, build.UndoOptions{Force: true})
		worldtest.RefusedBecause(t, "undo", "it has the record of this merge", err)
		if before != dumps() {
			t.Error("something was changed")
		}
		worldtest.MustDrop(t, p, into, all)
	})
}

// A world has a fence that the account may not change: neither open nor undo does its work by halves. Without the fence, undo writes
// nothing there.
func TestWorldsThatMayNotBeWritten(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 7, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	reader := slices.Clone(all)
	reader[1].DSN = "mysql:" + servertest.Grant(t, "SELECT", strings.TrimPrefix(all[1].DSN, "mysql:"))
	refused := func(what string, err error) {
		t.Helper()
		worldtest.RefusedBecause(t, what, `"s2": the account may not write the fence`, err)
	}
	dumps := func() string { return worldtest.Dump(t, all[0]) + worldtest.Dump(t, all[1]) + worldtest.Dump(t, into) }
	before := dumps()
	_, err := build.Open(t.Context(), p, into, reader, build.Options{Options: once})
	refused("open", err)
	_, err = build.Undo(t.Context(), p, into, reader, build.UndoOptions{Options: once})
	refused("undo", err)
	if dumps() != before {
		t.Error("something was changed")
	}
	worldtest.Exec(t, all[1], "UPDATE "+worldregistry.Table+" SET holder = ''")
	if _, err := build.Undo(t.Context(), p, into, reader, build.UndoOptions{Options: once}); err != nil {
		t.Error(err)
	}
	worldtest.Dropped(t, into)
}
