package transfer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/store"
)

var keepActive = planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}}}

// startable tells whether a server starts on a database.
func startable(t *testing.T, d rowio.Database, server gameid.ServerID, want bool) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, gameid.Options{})
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
func recordless(t *testing.T, d rowio.Database) {
	t.Helper()
	for _, table := range ledger.Ours {
		exec(t, d, "DROP TABLE IF EXISTS "+table)
	}
}

// Without a record nobody knows where the rows are: an undo leaves the fences, changes nothing and says how to lift
// each of them, whatever is in the place of the new database. Nor is the plan carried out in another place then.
func TestUndoWithoutRecord(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		p, into := planOf(t, e, all, planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), p, into, all, job.Options{}); err != nil {
			t.Fatal(err)
		}
		elsewhere := e.fresh(t, "new") // where there is nothing
		recordless(t, into)
		for what, wrong := range map[string]rowio.Database{"without its record": into, "in another place": elsewhere} {
			before := []string{dump(t, all[0]), dump(t, all[1]), dump(t, wrong)}
			var refused *ledger.RefusedError
			_, err := undo.Undo(t.Context(), p, wrong, all, undo.UndoOptions{Force: true})
			if !errors.As(err, &refused) || len(refused.Lifting) != 2 || !strings.Contains(refused.Lifting[1], "-server 2 ") {
				t.Errorf("an undo of a database %s: %v", what, err)
			}
			if _, err := apply.Apply(t.Context(), p, wrong, all, job.Options{}); !errors.As(err, &refused) {
				t.Errorf("an apply to a database %s: %v", what, err)
			}
			if !slices.Equal(before, []string{dump(t, all[0]), dump(t, all[1]), dump(t, wrong)}) {
				t.Errorf("%s: something was changed", what)
			}
			for i, d := range all {
				startable(t, d, gameid.ServerID(i+1), false)
			}
		}
	})
}
