package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A table that is the same in every world comes once, and rows that refer to it come
// along. If it is not the same, the plan is refused.
func TestSameTables(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}
		for i, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE templates (id INTEGER NOT NULL PRIMARY KEY, price INTEGER NOT NULL UNIQUE)",
				"INSERT INTO templates VALUES (1, 10), (2, 20), (3, 30)",
				"CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, template INTEGER NOT NULL, FOREIGN KEY (template) REFERENCES templates (id))",
				fmt.Sprintf("INSERT INTO things VALUES (%d, 1), (%d, 3)", 1000*(i+1), 1000*(i+1)+1))
		}
		options := planner.PlanOptions{Check: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"templates"}, Policy: rules.PolicySame}}}}
		p, _ := worldtest.PlanOf(t, e, all, options)
		left := func(l plan.Left) bool {
			return l.Table == "templates" && strings.Contains(l.Reason, "the same in every world")
		}
		if len(p.Tables) != 2 || !p.Table("templates").Only || !slices.ContainsFunc(p.Left, left) {
			t.Fatalf("copied %+v, left %v", p.Tables, p.Left)
		}
		worldtest.MergedAndBack(t, e, all, options)

		worldtest.Exec(t, all[1], "UPDATE templates SET price = 31 WHERE id = 3")
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options)
		if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeTableDiffers {
			t.Errorf("refused: %v, %v", p.Refusals, err)
		}
	})
}
