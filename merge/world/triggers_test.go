package world_test

import (
	"fmt"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The triggers of the first world are in the new database, and none of any world runs while rows come, are renamed
// or counted.
func TestTriggers(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		trigger := func(name, event string) string {
			return "CREATE TRIGGER " + name + " " + event + " ON t " + worldtest.Body(e, "INSERT INTO log VALUES (1)")
		}
		all := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}
		for i, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, age INTEGER NOT NULL)",
				fmt.Sprintf("INSERT INTO t VALUES (%d, 'same', %d)", i+1, i), "CREATE TABLE log (n INTEGER)",
				trigger("ins", "AFTER INSERT"), trigger("upd", "AFTER UPDATE"), trigger("del", "BEFORE DELETE"))
		}
		names := []plan.NamePolicy{{Table: "t", Column: "name", MaxLength: 20, Keep: plan.KeepActive, By: "age"}}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Names: names, Check: rules.Options{Rules: worldtest.NamesNothing}})
		worldtest.Proved(t, p, into, all)
		for _, d := range append(all, into) {
			worldtest.Asked(t, d, "SELECT COUNT(*) FROM log", "0")
		}
		worldtest.Exec(t, into, "INSERT INTO t VALUES (9, 'new', 9)", "UPDATE t SET age = 10 WHERE id = 9", "DELETE FROM t WHERE id = 9")
		worldtest.Asked(t, into, "SELECT COUNT(*) FROM log", "3")
	})
}
