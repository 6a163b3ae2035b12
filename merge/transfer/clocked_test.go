package transfer

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// clockedWorlds are worlds whose rows say when they were written last, as the database sets it by
// itself. Row 1 of the target is renamed, and its counter raised.
func clockedWorlds(t *testing.T, e engine) (all []rowio.Database, o planner.PlanOptions) {
	t.Helper()
	stamp := "TEXT DEFAULT CURRENT_TIMESTAMP"
	if e.name != "sqlite" {
		stamp = "DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"
	}
	for i := range 2 {
		d := e.fresh(t, fmt.Sprint("s", i+1))
		exec(t, d, "CREATE TABLE chars (guid INTEGER NOT NULL PRIMARY KEY, name VARCHAR(12) NOT NULL, at_login INTEGER NOT NULL, written "+stamp+")",
			fmt.Sprintf("INSERT INTO chars VALUES (1, 'Ann', 0, '202%d-01-01 00:00:00')", i),
			"CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, next INTEGER NOT NULL, written "+stamp+")",
			"INSERT INTO seq VALUES ('chars', 2, '2020-01-01 00:00:00')")
		all = append(all, d)
	}
	o = flagging("at_login", "| 1")
	o.Names[0].By = "written"
	o.Check.Rules = []declare.Declarations{{Plain: []string{"chars.*", "seq.written"}}}
	o.Check.Rekey.Counters = []declare.CounterRow{{At: "seq.next", Space: "chars.guid"}}
	o.Check.Tables = []declare.TablePolicy{{Tables: []string{"seq"}, Policy: declare.PolicySkip}}
	return all, o
}

// A column with ON UPDATE CURRENT_TIMESTAMP stays as it is in a row that a merge changes, and
// in one that an undo puts back.
func TestClockedColumnsStay(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all, o := clockedWorlds(t, e)
		before := dump(t, all[0])
		p := mustPlan(t, all[0], all[1:], o)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		asked(t, all[0], "SELECT guid, name, at_login, written FROM chars ORDER BY guid", "1|Ann.|1|2020-01-01 00:00:00", "1001|Ann|0|2021-01-01 00:00:00")
		asked(t, all[0], "SELECT next > 1001, written FROM seq", "1|2020-01-01 00:00:00")
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.Pass {
			t.Errorf("%s: %+v", proof.Verdict, proof.Tables)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, all[0], ledger.KeysTable); after != before {
			t.Errorf("before:\n%s\nafter the undo:\n%s", before, after)
		}
	})
}

// A trigger that the raising of a counter would run refuses the plan.
func TestTriggerOfCounter(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all, o := clockedWorlds(t, e)
		body := "INSERT INTO heard VALUES (NEW.next)"
		if e.name == "sqlite" {
			body = "BEGIN " + body + "; END"
		} else {
			body = "FOR EACH ROW " + body
		}
		for _, d := range all {
			exec(t, d, "CREATE TABLE heard (n INTEGER)", "CREATE TRIGGER tells AFTER UPDATE ON seq "+body)
		}
		p, err := planner.NewPlan(t.Context(), all[0], all[1:], o)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Refusals); !strings.Contains(got, `the trigger "tells"`) || !strings.Contains(got, "the counter in its row") {
			t.Errorf("refused: %s", got)
		}
	})
}
