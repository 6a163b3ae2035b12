package transfer

import (
	"strings"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// A history of migrations is not merged: the target keeps its own, and a source at
// another migration refuses the plan.
func TestHistoriesStay(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{e.fresh(t, "s1"), e.fresh(t, "s2")}
		for i, d := range all {
			exec(t, d, "CREATE TABLE schema_migrations (version VARCHAR(32) NOT NULL PRIMARY KEY)", "INSERT INTO schema_migrations VALUES ('20240101')",
				"CREATE TABLE mails (id INTEGER PRIMARY KEY)", []string{"INSERT INTO mails VALUES (1)", "INSERT INTO mails VALUES (2)"}[i])
		}
		allowed := planner.PlanOptions{Check: declare.Options{Allow: []string{verdict.CodeAutoIncrement}}}
		p := mustPlan(t, all[0], all[1:], allowed)
		if len(p.Tables) != 1 || len(p.Left) != 1 || p.Left[0].Table != "schema_migrations" || !strings.Contains(p.Left[0].Reason, "rails") {
			t.Errorf("copied: %v, left: %v", p.Tables, p.Left)
		}
		mergedAndBack(t, all, allowed)
		exec(t, all[1], "INSERT INTO schema_migrations VALUES ('20240102')")
		p, err := planner.NewPlan(t.Context(), all[0], all[1:], allowed)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeSchemaMigration {
			t.Errorf("refused for %v", p.Refusals)
		}
	})
}
