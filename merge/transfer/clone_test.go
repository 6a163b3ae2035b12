package transfer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

// A copy from a server lists what is not in it. Its triggers are there, for a plan to find, and
// run nothing: they might write to the database of a game.
func TestCloneLeaves(t *testing.T) {
	e := engines()[1]
	from := e.fresh(t, "s1")
	exec(t, from, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE log (id INTEGER)", "INSERT INTO t VALUES (1)", "CREATE VIEW v AS SELECT * FROM t",
		"CREATE TRIGGER tell BEFORE INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)", "CREATE TRIGGER gone AFTER DELETE ON t FOR EACH ROW INSERT INTO log VALUES (OLD.id)",
		"CREATE PROCEDURE p() SELECT 1")
	to := e.fresh(t, "copy")
	left, err := apply.Clone(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	want := []string{"procedure p", "trigger gone (AFTER DELETE on t), which is there, but runs nothing", "trigger tell (BEFORE INSERT on t), which is there, but runs nothing", "view v"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
	exec(t, to, "INSERT INTO t VALUES (2)", "DELETE FROM t")
	if n := number(t, to, "SELECT COUNT(*) FROM log"); n != 0 {
		t.Errorf("a trigger wrote %d rows", n)
	}
	other := e.fresh(t, "s2")
	exec(t, other, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE log (id INTEGER)", "INSERT INTO t VALUES (9)")
	for _, target := range []rowio.Database{from, to} {
		p, err := planner.NewPlan(t.Context(), target, []rowio.Database{other}, planner.PlanOptions{Check: declare.Options{Rules: namesNothing}})
		if err != nil || !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
			return strings.Contains(r.Reason, `"tell"`) || strings.Contains(r.Reason, "tell")
		}) {
			t.Errorf("the plan into %q does not find the trigger: %v, %v", target.Name, p.Refusals, err)
		}
	}
}

// A copy has every row of every table, ours too, also while a game runs; then nobody holds
// its servers.
func TestClone(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		from := gameWorld(t, e, "s1", 1, 30, "a")
		odd := "CREATE TABLE odd (id INTEGER NOT NULL PRIMARY KEY, twice INTEGER GENERATED ALWAYS AS (id * 2) STORED, d DOUBLE, b BLOB, t TEXT)"
		exec(t, from, odd, "INSERT INTO odd (id, d, b, t) VALUES (1, 0.1, x'00ff', 'ü'), (2, NULL, NULL, NULL)")
		if strings.HasPrefix(from.DSN, "mysql:") {
			exec(t, from, "CREATE TABLE odder (at DATETIME(6) NULL, n BIGINT UNSIGNED, b BIT(9), j JSON, y YEAR, m DECIMAL(30,10), e ENUM('a','b'))",
				"INSERT INTO odder VALUES ('2026-11-21 03:00:00.123456', 18446744073709551615, b'101', '[1]', 2026, 12345678901234567890.0123456789, 'b')")
		}
		held := number(t, from, "SELECT COUNT(*) FROM gameid_servers WHERE holder <> ''")
		to := e.fresh(t, "copy")
		left, err := apply.Clone(t.Context(), from, to)
		if err != nil || len(left) > 0 || held != 0 {
			t.Fatal(left, err)
		}
		if diff := cmp.Diff(dump(t, from), dump(t, to)); diff != "" {
			t.Error(diff)
		}
		if _, err := apply.Clone(t.Context(), from, to); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("into a database that is there: %v", err)
		}

		serve(t, from, 1)
		before := dump(t, from, sqldb.RegistryTable)
		running := e.fresh(t, "running")
		if _, err := apply.Clone(t.Context(), from, running); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, dump(t, running, sqldb.RegistryTable)); diff != "" {
			t.Error(diff)
		}
		if n := number(t, running, "SELECT COUNT(*) FROM gameid_servers WHERE holder <> ''"); n != 0 {
			t.Errorf("%d servers are leased in the copy", n)
		}
		if n := number(t, from, "SELECT COUNT(*) FROM gameid_servers WHERE holder <> ''"); n != 1 {
			t.Errorf("%d servers are leased in the world, want that which runs", n)
		}
	})
}
