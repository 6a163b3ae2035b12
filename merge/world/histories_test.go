package world_test

import (
	"strings"
	"testing"

	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A history of migrations is not merged: the new database has that of the first world, and a world at
// another migration refuses the plan.
func TestHistoriesStay(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for i, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE schema_migrations (version VARCHAR(32) NOT NULL PRIMARY KEY)", "INSERT INTO schema_migrations VALUES ('20240101')",
				"CREATE TABLE mails (id INTEGER PRIMARY KEY)", []string{"INSERT INTO mails VALUES (1)", "INSERT INTO mails VALUES (2)"}[i])
		}
		allowed := planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeAutoIncrement}}}
		p, _ := worldtest.PlanOf(t, e, all, allowed)
		if len(p.Tables) != 2 || p.Tables[0].Only || !p.Tables[1].Only || p.Tables[1].Name != "schema_migrations" || len(p.Left) != 1 || p.Left[0].Table != "schema_migrations" || !strings.Contains(p.Left[0].Reason, "rails") {
			t.Errorf("copied: %v, left: %v", p.Tables, p.Left)
		}
		worldtest.MergedAndBack(t, e, all, allowed)
		worldtest.Exec(t, all[1], "INSERT INTO schema_migrations VALUES ('20240102')")
		again := worldtest.Planned(t, e.Fresh(t, "new"), all, allowed)
		if len(again.Refusals) != 1 || again.Refusals[0].Code != verdict.CodeSchemaMigration {
			t.Errorf("refused for %v", again.Refusals)
		}
	})
}
