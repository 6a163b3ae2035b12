package world_test

import (
	"fmt"
	"testing"

	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// clockedWorlds are worlds whose rows say when they were written last, as the database sets it by
// itself. Row 1 of the first world is renamed, and its counter raised.
func clockedWorlds(t *testing.T, e worldtest.Engine) (all []world.Database, o planner.PlanOptions) {
	t.Helper()
	stamp := "TEXT DEFAULT CURRENT_TIMESTAMP"
	if e.Name != "sqlite" {
		stamp = "DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"
	}
	for i := range 2 {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		worldtest.Exec(t, d, "CREATE TABLE chars (guid INTEGER NOT NULL PRIMARY KEY, name VARCHAR(12) NOT NULL, at_login INTEGER NOT NULL, written "+stamp+")",
			fmt.Sprintf("INSERT INTO chars VALUES (1, 'Ann', 0, '202%d-01-01 00:00:00')", i),
			"CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, next INTEGER NOT NULL, written "+stamp+")",
			"INSERT INTO seq VALUES ('chars', 2, '2020-01-01 00:00:00')")
		all = append(all, d)
	}
	o = worldtest.Flagging("at_login", "| 1")
	o.Names[0].By = "written"
	o.Check.Rules = []rules.Declarations{{Plain: []string{"chars.*", "seq.written"}}}
	o.Check.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "chars.guid"}}
	o.Check.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
	return all, o
}

// A column with ON UPDATE CURRENT_TIMESTAMP stays as it is in a row that a merge changes.
func TestClockedColumnsStay(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all, o := clockedWorlds(t, e)
		p, into := worldtest.MergeOf(t, e, all, o)
		worldtest.Asked(t, into, "SELECT guid, name, at_login, written FROM chars ORDER BY guid", "1|Ann.|1|2020-01-01 00:00:00", "1001|Ann|0|2021-01-01 00:00:00")
		worldtest.Asked(t, into, "SELECT next > 1001, written FROM seq", "1|2020-01-01 00:00:00")
		worldtest.Proved(t, p, into, all)
	})
}
