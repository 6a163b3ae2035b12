package world_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A table of SQLite has up to 2000 columns, whatever is done with it.
func TestWideTables(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.Engines()[0]
	var columns, values []string
	for i := range 1999 {
		columns, values = append(columns, fmt.Sprintf("c%d INTEGER", i)), append(values, fmt.Sprint(i))
	}
	const keyless = "without a key"
	for name, of := range map[string]struct {
		id     string
		rows   [2][]int // of each world
		policy rules.TablePolicy
	}{
		"copied": {"INTEGER PRIMARY KEY", [2][]int{{1, 2}, {3, 4}}, rules.TablePolicy{}},
		keyless:  {"INTEGER", [2][]int{{1, 2}, {1, 3}}, rules.TablePolicy{}},
		"combined": {"INTEGER PRIMARY KEY", [2][]int{{1, 2}, {1, 3}},
			rules.TablePolicy{Policy: rules.PolicyCombine, Columns: map[string]string{"c0": "sum"}}},
		"same": {"INTEGER PRIMARY KEY", [2][]int{{1, 2}, {1, 2}}, rules.TablePolicy{Policy: rules.PolicySame}},
	} {
		t.Run(name, func(t *testing.T) {
			all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
			for i, d := range all {
				worldtest.Exec(t, d, "CREATE TABLE t (id "+of.id+", "+strings.Join(columns, ", ")+")",
					"CREATE TABLE other (id INTEGER PRIMARY KEY)", fmt.Sprintf("INSERT INTO other VALUES (%d)", i+1))
				for _, row := range of.rows[i] {
					worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO t VALUES (%d, %s)", row, strings.Join(values, ", ")))
				}
			}
			options := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Allow: []string{verdict.CodeAutoIncrement}}}
			if of.policy.Policy != "" {
				of.policy.Tables = []string{"t"}
				options.Check.Tables = []rules.TablePolicy{of.policy}
			}
			if name == keyless {
				worldtest.Refuses(t, e.Fresh(t, "new"), all, options, "it has no key and 2000 columns")
				for _, d := range all {
					worldtest.Exec(t, d, "ALTER TABLE t DROP COLUMN c7")
				}
			}
			worldtest.MergedAndBack(t, e, all, options)
		})
	}
}
