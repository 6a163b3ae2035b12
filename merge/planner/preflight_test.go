package planner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// What is no longer as planned, or must not be touched, is refused before
// anything is written.
func TestApplyRefuses(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	worlds := worldtest.Clones(t, e, all)
	for _, c := range []struct {
		name string
		do   func(t *testing.T)
		want string
	}{
		{"a server runs on the second world", func(t *testing.T) { worldtest.Serve(t, worlds[1], 2) }, "server 2 runs"},
		{"a server runs on the first world", func(t *testing.T) { worldtest.Serve(t, worlds[0], 1) }, "server 1 runs"},
		{"a server ran", func(t *testing.T) { worldtest.Mint(t, worlds[1], 2) }, "the mark of server 2 moved"},
		{"another schema", func(t *testing.T) { worldtest.Exec(t, worlds[0], "ALTER TABLE items ADD COLUMN extra INTEGER") }, "the schema of its tables has changed since the plan was made"},
		{"fenced by another merge", func(t *testing.T) {
			db, err := store.Open(t.Context(), worlds[1].DSN)
			if err == nil {
				err = storetest.World(db).Fence(t.Context(), 2, worldregistry.FenceTo("other", "elsewhere", worldtest.FixedClock()))
				db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}, `its world goes to "elsewhere" by the merge "other"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			worldtest.RefillAll(t, all, worlds)
			if c.name == "another schema" {
				defer func() { worldtest.Exec(t, worlds[0], "ALTER TABLE items DROP COLUMN extra") }()
			}
			c.do(t)
			unwritten := worldtest.Watched(t, into, worlds)
			_, err := build.Apply(t.Context(), p, into, worlds, job.Options{})
			if refused := new(record.RefusedError); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if !strings.HasPrefix(c.name, "a server runs") { // which renews its lease
				unwritten(c.name)
			}
		})
	}
	worldtest.RefillAll(t, all, worlds)
	if _, err := build.Apply(t.Context(), p, into, []world.Database{worlds[1], worlds[0]}, job.Options{}); err == nil || !strings.Contains(err.Error(), `"s1"`) {
		t.Errorf("databases in another order: %v", err)
	}
	// The new database has something in it: another merge, or a game.
	other := &world.Connection{Database: worldtest.There(t, into), Writes: true}
	err := (&record.Manifest{On: other, ID: "other"}).Create(t.Context(), record.Label{ID: "other"})
	if other.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"it has the record of another merge or rehearsal, other", `is not empty: it has "mails"`} {
		before := []string{worldtest.Dump(t, worlds[0]), worldtest.Dump(t, worlds[1]), worldtest.Dump(t, into)}
		_, err := build.Apply(t.Context(), p, into, worlds, job.Options{})
		if refused := new(record.RefusedError); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if diff := cmp.Diff(before, []string{worldtest.Dump(t, worlds[0]), worldtest.Dump(t, worlds[1]), worldtest.Dump(t, into)}); diff != "" {
			t.Errorf("something was changed:\n%s", diff)
		}
		worldtest.Recordless(t, into)
		worldtest.Exec(t, into, "CREATE TABLE IF NOT EXISTS mails (id INTEGER PRIMARY KEY)")
	}
}

// An account that lacks the right to write a fence is told so before anything is written. What it lacks on the new
// database is in TestIntoNamesTheRightsThatAreMissing.
func TestApplyRights(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	with := func(d world.Database, rights string) world.Database {
		d.DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(d.DSN, "mysql:"))
		return d
	}
	const reads = "SELECT, TRIGGER, EXECUTE, EVENT, SHOW VIEW"
	readers := []world.Database{with(all[0], reads), with(all[1], reads)}
	p, into := worldtest.PlanOf(t, e, readers, planner.PlanOptions{})
	refused := new(record.RefusedError)
	unwritten := worldtest.Watched(t, into, all)
	for i, worlds := range [][]world.Database{{readers[0], all[1]}, {all[0], readers[1]}} {
		if _, err := build.Apply(t.Context(), p, into, worlds, job.Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), fmt.Sprintf("database \"s%d\": the account may not write the fence", i+1)) {
			t.Errorf("%v, want no right to write the fence of s%d", err, i+1)
		}
		unwritten(worlds[i].Name)
	}
	worlds := []world.Database{with(all[0], reads+", UPDATE"), with(all[1], "SELECT, UPDATE")}
	p = worldtest.MustPlan(t, into, worlds, planner.PlanOptions{})
	worldtest.MustApply(t, p, into, worlds)
	// An undo takes the rights to LOCK TABLES and DROP, and says so before it removes anything; with them it continues.
	made := worldtest.Dump(t, into, record.RecordTable)
	for rights, want := range map[string]string{"DROP": `locking the tables of "new"`, "LOCK TABLES": "DROP command denied"} {
		with := with(into, "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, REFERENCES, TRIGGER, "+rights)
		if _, err := build.Undo(t.Context(), p, with, worlds, build.UndoOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the right to %s alone: %v", rights, err)
		}
	}
	if diff := cmp.Diff(made, worldtest.Dump(t, into, record.RecordTable)); diff != "" {
		t.Errorf("something was changed by the undo:\n%s", diff)
	}
	if _, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	worldtest.Dropped(t, into)
}

// The right to raise a counter of the first world is missed before the new database is dropped, not after.
func TestUndoRightsOfCounters(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	for i, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY)", fmt.Sprintf("INSERT INTO counted VALUES (%d)", 10*i+1))
	}
	p, into := worldtest.MergeOf(t, e, all, worldtest.OddAllowed)
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, into, "INSERT INTO counted VALUES (77)")
	reader := world.Database{Name: "s1", DSN: "mysql:" + servertest.Grant(t, "SELECT", strings.TrimPrefix(all[0].DSN, "mysql:"))}
	if _, err := build.Undo(t.Context(), p, into, []world.Database{reader, all[1]}, build.UndoOptions{Force: true}); err == nil || !strings.Contains(err.Error(), "ALTER command denied") {
		t.Errorf("without ALTER: %v", err)
	}
	if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM counted"); n != 3 {
		t.Errorf("%d rows are left, want 3", n)
	}
	if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	worldtest.Dropped(t, into)
	worldtest.Exec(t, all[0], "INSERT INTO counted VALUES (NULL)")
	if n := worldtest.Number(t, all[0], "SELECT MAX(id) FROM counted"); n != 78 {
		t.Errorf("the next key is %d, want 78", n)
	}
}
