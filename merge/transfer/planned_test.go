package transfer

import (
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

// What the new database would refuse or change is known by the plan.

// onOne carries out statements on one connection: some set what holds for the session.
func onOne(t *testing.T, d rowio.Database, statements ...string) {
	t.Helper()
	db := pool(t, d)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %.200s: %v", d.Name, s, err)
		}
	}
}

// A row of the first world may break a CHECK of its own table: it came while that was off. It is refused as one of
// another world is, also in a table of which the rows of the first world alone come.
func TestRowsBreakTheirCheck(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		off := "PRAGMA ignore_check_constraints = 1"
		if e.name != "sqlite" {
			servertest.OnlyMariaDB(t, "rows that break a CHECK of their table")
			off = "SET check_constraint_checks = 0"
		}
		for _, table := range []string{"copied", "skipped", "alike"} {
			all := []rowio.Database{e.fresh(t, "s1"), e.fresh(t, "s2")}
			for i, d := range all {
				for _, name := range []string{"copied", "skipped"} {
					exec(t, d, "CREATE TABLE "+name+" (id INT PRIMARY KEY, v INT, CHECK (v > 0))", "INSERT INTO "+name+" VALUES ("+[]string{"1", "100"}[i]+", 5)")
				}
				exec(t, d, "CREATE TABLE alike (id INT PRIMARY KEY, v INT, CHECK (v > 0))", "INSERT INTO alike VALUES (1, 5)")
				if i == 0 || table == "alike" {
					onOne(t, d, off, "UPDATE "+table+" SET v = 0")
				}
			}
			opts := planner.PlanOptions{Check: declare.Options{Rules: namesNothing, Tables: []declare.TablePolicy{
				{Tables: []string{"skipped"}, Policy: declare.PolicySkip}, {Tables: []string{"alike"}, Policy: declare.PolicySame}}}}
			p, err := planner.NewPlan(t.Context(), e.fresh(t, "new"), all, opts)
			if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Table != table || !strings.Contains(p.Refusals[0].Reason, "1 row would be refused by") {
				t.Errorf("%s: %v, %v", table, p.Refusals, err)
			}
		}
	})
}
