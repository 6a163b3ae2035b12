package build_test

import (
	"slices"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/build"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Whatever engine the server takes by default, all that a merge makes in the new database has
// transactions, and the merge is undone.
func TestDefaultEngine(t *testing.T) {
	t.Parallel()
	e := worldtest.Engines()[1]
	engine := "MyISAM"
	if servertest.OnMariaDB(t) {
		engine = "Aria"
	}
	seen := []string{sqldb.SchemaTable, sqldb.RegistryTable, sqldb.NumbersTable} // in package internal/fleet
	for _, c := range []struct {
		all     []world.Database
		options planner.PlanOptions
	}{{worldtest.ThreeLogins(t, e), planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)}}, {worldtest.ResetWorlds(t, e), worldtest.ResetOptions}} {
		for i := range c.all {
			c.all[i].DSN += "?default_storage_engine=" + engine
		}
		into := e.Fresh(t, "new")
		into.DSN += "?default_storage_engine=" + engine
		p := worldtest.MustPlan(t, into, c.all, c.options)
		worldtest.MustApply(t, p, into, c.all)
		db := worldtest.Pool(t, into)
		const engines = "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = DATABASE() AND engine IS NOT NULL"
		for _, table := range worldtest.ReadCell(t, db, engines) {
			if table[1] != "InnoDB" {
				t.Errorf("%s is of %s", table[0], table[1])
			}
			seen = append(seen, table[0])
		}
		db.Close()
		if _, err := build.Undo(t.Context(), p, into, c.all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range sqldb.Tables() {
		if !slices.Contains(seen, table) {
			t.Errorf("%s was not made: it is not tested", table)
		}
	}
}
