package build_test

import (
	"fmt"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// MySQL rewrites the constants of CHECK constraints when a table gets its indexes and its counter. The merge is proved and
// undone nevertheless, and the new database has the constraints of a world that never was merged.
func TestConstraintsThatMySQLRewrites(t *testing.T) {
	t.Parallel()
	into := constrained(t, "timed", "at TIME, day DATE, tag VARCHAR(20) CHARACTER SET latin1, KEY (at), "+
		"CONSTRAINT times CHECK (at < '100:00:00' AND day > 20000101), CONSTRAINT named CHECK (tag <> 'nobody')",
		"(at, day, tag) VALUES ('10:00:00', '2020-01-01', '%s')", "timed.at", "timed.day", "timed.tag")
	next := "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'timed'"
	if n := worldtest.Number(t, into, next); n < 6 {
		t.Errorf("the counter is at %d", n)
	}
}

// MySQL prints nested AND and OR for NOT and for comparisons of rows, and flat ones once it has read its own text. The merge
// is made, proved and undone nevertheless, and the new database has the constraints of a world that never was merged.
func TestConstraintsThatMySQLFlattens(t *testing.T) {
	t.Parallel()
	constrained(t, "nested", "a INT, b INT, f INT, s VARCHAR(20), at TIME, KEY (a), "+
		"CONSTRAINT anyof CHECK (NOT (a = 2 AND b = 3) OR s = 'q'), CONSTRAINT allof CHECK (NOT (a > 1 OR b > 2) AND b IS NOT NULL), "+
		"CONSTRAINT pair CHECK ((a, b) = (1, 2) AND f = 3), CONSTRAINT late CHECK (NOT (a = 2 AND at > '100:00:00') OR f = 4)",
		"(a, b, f, s, at) VALUES (1, 2, 3, '%s', '10:00:00')", "nested.a", "nested.b", "nested.f", "nested.s", "nested.at")
}

// constrained merges two worlds of a table on MySQL and undoes that, merges them again, and compares the constraints of the new
// database, which it returns, with those of a third world. In row, %s is the name of a world.
func constrained(t *testing.T, table, columns, row string, plain ...string) (into world.Database) {
	t.Helper()
	servertest.Needs(t, servertest.MySQL)
	e := worldtest.Engines()[1]
	worldOf := func(name string, rows int) world.Database {
		d := e.Fresh(t, name)
		worldtest.Exec(t, d, "CREATE TABLE "+table+" (id INT AUTO_INCREMENT PRIMARY KEY, "+columns+")")
		for range rows {
			worldtest.Exec(t, d, "INSERT INTO "+table+" "+fmt.Sprintf(row, name))
		}
		return d
	}
	all := []world.Database{worldOf("w1", 3), worldOf("w2", 2)}
	opts := planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{table + ".id"}}}},
		Rules: []rules.Declarations{{Plain: plain}}}}
	worldtest.MergedAndBack(t, e, all, opts)
	_, into = worldtest.MergeOf(t, e, all, opts)
	sameConstraints(t, into, worldOf("w3", 1), opts.Check)
	return into
}

// sameConstraints fails unless a check finds the same CHECK constraints in two databases.
func sameConstraints(t *testing.T, one, other world.Database, opts rules.Options) {
	t.Helper()
	report, err := worldtest.Checked(t.Context(), []world.Database{one, other}, opts)
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, r := range report.Results {
		if r.Code == verdict.CodeSchemaCheck {
			checks++
			if r.Verdict != verdict.Pass {
				t.Errorf("%s: %v", r.Verdict, r.Gaps)
			}
		}
	}
	if checks == 0 {
		t.Error("no constraints were compared")
	}
}
