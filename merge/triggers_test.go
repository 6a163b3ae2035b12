package merge

import (
	"fmt"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// The triggers of the first world are in the new database, and none of any world runs while rows come, are renamed
// or counted.
func TestTriggers(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		trigger := func(name, event string) string {
			return "CREATE TRIGGER " + name + " " + event + " ON t " + body(e, "INSERT INTO log VALUES (1)")
		}
		all := []world.Database{e.fresh(t, "a"), e.fresh(t, "b")}
		for i, d := range all {
			exec(t, d, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, age INTEGER NOT NULL)",
				fmt.Sprintf("INSERT INTO t VALUES (%d, 'same', %d)", i+1, i), "CREATE TABLE log (n INTEGER)",
				trigger("ins", "AFTER INSERT"), trigger("upd", "AFTER UPDATE"), trigger("del", "BEFORE DELETE"))
		}
		names := []plan.NamePolicy{{Table: "t", Column: "name", MaxLength: 20, Keep: plan.KeepActive, By: "age"}}
		p, into := mergeOf(t, e, all, planner.PlanOptions{Names: names, Check: rules.Options{Rules: namesNothing}})
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		for _, d := range append(all, into) {
			asked(t, d, "SELECT COUNT(*) FROM log", "0")
		}
		exec(t, into, "INSERT INTO t VALUES (9, 'new', 9)", "UPDATE t SET age = 10 WHERE id = 9", "DELETE FROM t WHERE id = 9")
		asked(t, into, "SELECT COUNT(*) FROM log", "3")
	})
}
