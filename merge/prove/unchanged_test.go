package prove_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What a world has beside the rows that come is as it was planned, too: apply looks at it before its first write, and
// open at the proof.
func TestUnchangedBesideTheRows(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all, opts := worldtest.CountingGame(t, e)
		for _, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE kinds (id INT NOT NULL PRIMARY KEY, what VARCHAR(9) NOT NULL)", "INSERT INTO kinds VALUES (1, 'a'), (2, 'b')",
				"INSERT INTO chars (guid, name, level) VALUES (900, 'system', 1)")
		}
		opts.Check.Tables = append(opts.Check.Tables, rules.TablePolicy{Tables: []string{"kinds"}, Policy: rules.PolicySame})
		opts.Check.Rekey.Spaces[0].Keep = "900"
		sequences := e.Name == "mariadb"
		if sequences {
			for _, d := range all {
				worldtest.Exec(t, d, "CREATE SEQUENCE sq START WITH 50")
			}
			opts.Check.Allow = append(opts.Check.Allow, verdict.CodeTableSkipped+":sq")
		}
		p, into := worldtest.PlanOf(t, e, all, opts)
		counted, back := "UPDATE sqlite_sequence SET seq = 6000 WHERE name = 'chars'", "UPDATE sqlite_sequence SET seq = 900 WHERE name = 'chars'"
		if e.Name != "sqlite" {
			counted, back = "ALTER TABLE chars AUTO_INCREMENT = 6001", "ALTER TABLE chars AUTO_INCREMENT = 1"
		}
		type change struct{ what, world, statement, back, want string }
		cases := []change{
			{"a counter of the first world", "w0", counted, back, `the counter of table "chars" was 901 and is 6001`},
			{"a counter of another world", "w1", counted, back, `the counter of table "chars" was 901 and is 6001`},
		}
		rows := []change{ // which all engines read alike
			{"a row that is the same everywhere", "w1", "UPDATE kinds SET what = 'c' WHERE id = 1", "UPDATE kinds SET what = 'a' WHERE id = 1",
				"its rows, which are the same in every database, are not the same"},
			{"one more of them", "w1", "INSERT INTO kinds VALUES (3, 'c')", "DELETE FROM kinds WHERE id = 3", "its rows, which are the same in every database, are not the same"},
			{"a built-in row", "w1", "UPDATE chars SET level = 2 WHERE guid = 900", "UPDATE chars SET level = 1 WHERE guid = 900", "its built-in rows (guid 900) are not the same"},
			{"a counter in a row of another world", "w1", "UPDATE seq SET next = 7000", "UPDATE seq SET next = 32", `the counter next of table "seq", row item, was 32 and is 7000`},
			{"a table more", "w1", "CREATE TABLE more (id INT NOT NULL PRIMARY KEY)", "DROP TABLE more", "table more"},
		}
		if e.Name == "sqlite" {
			cases = append(cases, rows...)
		}
		if sequences {
			cases = append(cases, change{"a sequence", "w0", "DO SETVAL(sq, 9000)", "ALTER SEQUENCE sq RESTART 50", `the sequence "sq" was`})
		}
		each := func(check func() error) {
			t.Helper()
			for _, c := range cases {
				d := all[p.World(c.world)]
				worldtest.Exec(t, d, c.statement)
				if err := check(); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v, want %q", c.what, err, c.want)
				}
				worldtest.Exec(t, d, c.back)
			}
		}
		each(func() error {
			_, err := build.Apply(t.Context(), p, into, all, job.Options{})
			return err
		})
		worldtest.MustApply(t, p, into, all)
		each(func() error {
			done, err := build.Open(t.Context(), p, into, all, build.Options{})
			if errors.Is(err, build.ErrNotProved) {
				return fmt.Errorf("%v", done.Proof.Findings)
			}
			return err
		})
		worldtest.Proved(t, p, into, all)
		worldtest.Exec(t, into, back)
		if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprint(proof.Findings), "its counter is at") {
			t.Errorf("a lowered counter: %+v, %v", proof, err)
		}
	})
}

// A merge that is opened while it is verified is not said to have failed.
func TestVerifyBesideOpen(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	reads := 0
	proof, err := prove.VerifyWith(t.Context(), p, into, all, job.Options{Parallel: 1}, job.Hooks{Fail: func(what string) error {
		if what == "read" {
			if reads++; reads == 12 { // it has begun
				worldtest.Opened(t, p, into, all)
			}
		}
		return nil
	}})
	if !errors.Is(err, record.ErrBusy) {
		t.Errorf("%+v, %v", proof, err)
	}
	worldtest.Proved(t, p, into, all)
}

// Worlds whose keys were disjoint keep theirs: after an undo none of them gives a number that the new database gave.
func TestUndoRaisesDisjointWorlds(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all := []world.Database{e.Fresh(t, "w0"), e.Fresh(t, "w1")}
	for i, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE chars (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(9) NOT NULL)",
			fmt.Sprintf("INSERT INTO chars VALUES (%d, 'a'), (%d, 'b')", 1000*i+1, 1000*i+2))
	}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeAutoIncrement}}})
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, into, "INSERT INTO chars (name) VALUES ('c'), ('d')")
	given := worldtest.Number(t, into, "SELECT MAX(id) FROM chars")
	if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		worldtest.Exec(t, d, "INSERT INTO chars (name) VALUES ('e')")
		if next := worldtest.Number(t, d, "SELECT MAX(id) FROM chars"); next <= given {
			t.Errorf("%s gives %d, and %d was given in the new database", d.Name, next, given)
		}
	}
}
