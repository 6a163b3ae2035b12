package merge

import (
	"errors"
	"slices"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"

	"mergesafe/store"
	"mergesafe/store/storetest"
)

var keepActive = planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}}}

// startable tells whether a server starts on a database.
func startable(t *testing.T, d world.Database, server gameid.ServerID, want bool) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
	if err == nil {
		node.Close()
	}
	if want != (err == nil) {
		t.Errorf("server %s of %q starts: %v", server, d.Name, err)
	}
	if held := new(gameid.HeldError); !want && !errors.As(err, &held) {
		t.Errorf("server %s of %q: %v, want a HeldError", server, d.Name, err)
	}
}

// recordless takes the record of all merges out of a database, as a copy that was restored without these tables
// has none.
func recordless(t *testing.T, d world.Database) {
	t.Helper()
	for _, table := range []string{record.RecordTable, record.MergesTable, record.ProgressTable, record.RenamesTable} {
		exec(t, d, "DROP TABLE IF EXISTS "+table)
	}
}

// Without a record an undo drops nothing, and the fences decide. If nobody was let in, they are lifted.
func TestUndoWithoutRecord(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := []world.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		p, into := mergeOf(t, e, all, planner.PlanOptions{})
		recordless(t, into)
		before := dump(t, into)
		undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		if err != nil || !undone.NoRecord || undone.Dropped || len(undone.Lifted) != 2 {
			t.Errorf("%+v, %v", undone, err)
		}
		if before != dump(t, into) {
			t.Error("the database without a record was changed")
		}
		for i, d := range all {
			startable(t, d, gameid.ServerID(i+1), true)
		}
	})
}

// If the game was let in, nobody knows where the rows are: an undo leaves the fences and changes nothing, whatever is in
// the place of the new database; nor is the plan carried out in another place. By force the worlds live again, and give
// nothing that may have been given there.
func TestUndoWithoutRecordOpened(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := []world.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		p, into := mergeOf(t, e, all, planner.PlanOptions{})
		opened(t, p, into, all)
		mint(t, into, 1)
		given := registryIn(t, into)[0]
		elsewhere := e.fresh(t, "new") // where there is nothing
		recordless(t, into)
		for what, wrong := range map[string]world.Database{"without its record": into, "in another place": elsewhere} {
			before := []string{dump(t, all[0]), dump(t, all[1]), dump(t, wrong)}
			_, err := build.Undo(t.Context(), p, wrong, all, build.UndoOptions{})
			refusedBecause(t, "undo", "there is no record of it", err)
			var refused *record.RefusedError
			if _, err := build.Apply(t.Context(), p, wrong, all, job.Options{}); !errors.As(err, &refused) {
				t.Errorf("an apply to a database %s: %v", what, err)
			}
			if !slices.Equal(before, []string{dump(t, all[0]), dump(t, all[1]), dump(t, wrong)}) {
				t.Errorf("%s: something was changed", what)
			}
			for i, d := range all {
				startable(t, d, gameid.ServerID(i+1), false)
			}
			_, err = build.Open(t.Context(), p, wrong, all, build.Options{})
			refusedBecause(t, "open", "there is no record of it", err)
			if _, err := build.Apply(t.Context(), p, wrong, all, job.Options{Try: true}); !errors.As(err, &refused) {
				t.Errorf("a rehearsal in a database %s: %v", what, err)
			}
			if at, err := build.LookUp(t.Context(), p, wrong, all); err != nil || at.State != record.StateOpening || !at.Lost {
				t.Errorf("%s: %+v, %v", what, at, err)
			}
		}
		undone, err := build.Undo(t.Context(), p, elsewhere, all, build.UndoOptions{Force: true})
		if err != nil || !undone.NoRecord || !undone.Raised || len(undone.Lifted) != 2 {
			t.Fatalf("%+v, %v", undone, err)
		}
		if now := registryIn(t, all[0])[0]; now.Reserved < given.Reserved || now.Generation() <= given.Generation() {
			t.Errorf("the first world is at %d in generation %d, and had given %d in generation %d", now.Reserved, now.Generation(), given.Reserved, given.Generation())
		}
		for i, d := range all {
			startable(t, d, gameid.ServerID(i+1), true)
		}
	})
}
