package build_test

import (
	"os"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The undo of a rehearsal drops what the rehearsal made, also if its worlds are gone. What others put into that database stays.
func TestUndoTriedWithoutWorlds(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		for _, beside := range []bool{false, true} {
			all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
			for _, d := range all {
				worldtest.Exec(t, d, "CREATE VIEW names AS SELECT name FROM players")
			}
			p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
			if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true}); err != nil {
				t.Fatal(err)
			}
			if beside {
				worldtest.Exec(t, into, "CREATE TABLE other (id INTEGER PRIMARY KEY)")
			}
			for _, d := range all {
				if path, file := strings.CutPrefix(d.DSN, "sqlite:"); file {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
					continue
				}
				server, name, err := world.Server(d)
				if err != nil {
					t.Fatal(err)
				}
				worldtest.Exec(t, server, "DROP DATABASE "+name)
				defer worldtest.Exec(t, server, "CREATE DATABASE "+name) // the test drops it when it ends
			}
			done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			if err != nil || done.Dropped == beside || beside && strings.Join(done.Others, " ") != "other" {
				t.Errorf("%+v, %v", done, err)
			}
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there != beside {
				t.Errorf("there is a new database: %v, %v", there, err)
			}
		}
	})
}
