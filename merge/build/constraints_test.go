package build_test

import (
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
	servertest.Needs(t, servertest.MySQL)
	e := worldtest.Engines()[1]
	worldOf := func(name string, rows int) world.Database {
		d := e.Fresh(t, name)
		worldtest.Exec(t, d, "CREATE TABLE timed (id INT AUTO_INCREMENT PRIMARY KEY, at TIME, day DATE, tag VARCHAR(20) CHARACTER SET latin1, KEY (at), "+
			"CONSTRAINT times CHECK (at < '100:00:00' AND day > 20000101), CONSTRAINT named CHECK (tag <> 'nobody'))")
		for range rows {
			worldtest.Exec(t, d, "INSERT INTO timed (at, day, tag) VALUES ('10:00:00', '2020-01-01', '"+name+"')")
		}
		return d
	}
	all := []world.Database{worldOf("w1", 3), worldOf("w2", 2)}
	opts := planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"timed.id"}}}},
		Rules: []rules.Declarations{{Plain: []string{"timed.at", "timed.day", "timed.tag"}}}}}
	worldtest.MergedAndBack(t, e, all, opts)

	_, into := worldtest.MergeOf(t, e, all, opts)
	sameConstraints(t, into, worldOf("w3", 1), opts.Check)
	next := "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'timed'"
	if n := worldtest.Number(t, into, next); n < 6 {
		t.Errorf("the counter is at %d", n)
	}
}

// MySQL nests what NOT and comparisons of rows become, and no longer once it reads its own text. The merge is made, proved
// and undone nevertheless, and the new database has the constraints of a world that never was merged.
func TestConstraintsThatMySQLFlattens(t *testing.T) {
	t.Parallel()
	servertest.Needs(t, servertest.MySQL)
	e := worldtest.Engines()[1]
	worldOf := func(name string, rows int) world.Database {
		d := e.Fresh(t, name)
		worldtest.Exec(t, d, "CREATE TABLE nested (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT, f INT, s VARCHAR(20), at TIME, KEY (a), "+
			"CONSTRAINT anyof CHECK (NOT (a = 2 AND b = 3) OR s = 'q'), CONSTRAINT allof CHECK (NOT (a > 1 OR b > 2) AND b IS NOT NULL), "+
			"CONSTRAINT pair CHECK ((a, b) = (1, 2) AND f = 3), CONSTRAINT late CHECK (NOT (a = 2 AND at > '100:00:00') OR f = 4))")
		for range rows {
			worldtest.Exec(t, d, "INSERT INTO nested (a, b, f, s, at) VALUES (1, 2, 3, '"+name+"', '10:00:00')")
		}
		return d
	}
	all := []world.Database{worldOf("w1", 3), worldOf("w2", 2)}
	opts := planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"nested.id"}}}},
		Rules: []rules.Declarations{{Plain: []string{"nested.a", "nested.b", "nested.f", "nested.s", "nested.at"}}}}}
	worldtest.MergedAndBack(t, e, all, opts)

	_, into := worldtest.MergeOf(t, e, all, opts)
	sameConstraints(t, into, worldOf("w3", 1), opts.Check)
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
