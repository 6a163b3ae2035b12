package change_test

import (
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

// A new name that breaks a CHECK of the first world, which the old one kept, is refused
// by the plan; one that keeps it is merged.
func TestNewNamesAreTried(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		for _, tt := range []struct {
			name, check, template string
			first                 bool // its rows are renamed
			want                  string
		}{
			{"kept", "name NOT LIKE '%!%'", "{name}.s{server}", false, ""},
			{"broken", "name NOT LIKE '%.S%'", "{name}.s{server}", false, `database "s2": table "chars": with the values that the merge gives it, row 11: `},
			{"with another column", "name NOT LIKE '%.s%' OR level > 1", "{name}.s{server}", false, `database "s2": table "chars": with the values that the merge gives it, row 11: `},
			{"of the first world", "name NOT LIKE '%.s%' OR level > 1", "{name}.s{server}", true, `database "s1": table "chars": with the values that the merge gives it, row 1: `},
			{"unclear", unclearCheck(e), "{name}.s{server}", false, map[bool]string{false: "a row: it cannot be tested against the constraint"}[e.Name == "sqlite"]},
		} {
			t.Run(tt.name, func(t *testing.T) {
				all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
				collate := "COLLATE NOCASE"
				if e.Name != "sqlite" {
					collate = "COLLATE utf8mb4_general_ci"
				}
				for i, d := range all {
					table := "CREATE TABLE chars (id INTEGER PRIMARY KEY, name VARCHAR(20) " + collate + " UNIQUE, level INT, seen INT"
					if i == 0 {
						table += ", CONSTRAINT spelling CHECK (" + tt.check + ")"
					}
					worldtest.Exec(t, d, table+")")
				}
				seen := "1"
				if tt.first {
					seen = "9"
				}
				worldtest.Exec(t, all[0], "INSERT INTO chars VALUES (1, 'Ann', 1, 5), (2, 'Bob', 2, 5)")
				worldtest.Exec(t, all[1], "INSERT INTO chars VALUES (11, 'ann', 1, "+seen+"), (12, 'BOB', 2, "+seen+"), (13, 'Cleo', 1, 1)")
				into := e.Fresh(t, "new")
				p := worldtest.Planned(t, into, all, planner.PlanOptions{
					Names: []plan.NamePolicy{{Table: "chars", Column: "name", Template: tt.template, Keep: plan.KeepActive, By: "seen"}},
					Check: rules.Options{Allow: []string{verdict.CodeRefusedCheck, verdict.CodeSchemaCheck, "server-conflict", "world-cloned", "world-merged", "auto-increment"}, Rules: worldtest.NamesNothing},
				})
				if tt.want == "" {
					if len(p.Refusals) > 0 {
						t.Fatal(p.Refusals)
					}
					worldtest.MustApply(t, p, into, all)
					return
				}
				if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return strings.Contains(r.String(), tt.want) }) {
					t.Errorf("refused: %v", p.Refusals)
				}
			})
		}
	})
}

func unclearCheck(e worldtest.Engine) string {
	if e.Name == "sqlite" {
		return "printf('%s', name) <> 'x'"
	}
	return "SOUNDEX(name) <> 'x'"
}

// What the tables of the first world would refuse refuses the plan, whatever is allowed.
func TestPlanRefusesWhatTablesRefuse(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	worldtest.Exec(t, all[0], "CREATE TABLE chars (id INTEGER PRIMARY KEY, level INT CHECK (level < 100))", "INSERT INTO chars VALUES (1, 99)")
	worldtest.Exec(t, all[1], "CREATE TABLE chars (id INTEGER PRIMARY KEY, level INT)", "INSERT INTO chars VALUES (11, 100), (12, 7)")
	p := worldtest.Planned(t, e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Allow: []string{
		verdict.CodeRefusedCheck, "server-conflict", "world-cloned", "world-merged", "auto-increment"}, Rules: worldtest.NamesNothing}})
	if len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeRefusedCheck || !strings.Contains(p.Refusals[0].Reason, "1 row would be refused by s1") {
		t.Errorf("refused: %v", p.Refusals)
	}
}
