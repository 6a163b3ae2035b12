package build_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Tables that refer to themselves and to each other are copied.
func TestCircularReferences(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		w := func(name string, from int) world.Database {
			d := e.Fresh(t, name)
			worldtest.Exec(t, d, "CREATE TABLE b (id INTEGER NOT NULL PRIMARY KEY, a INTEGER)",
				"CREATE TABLE a (id INTEGER NOT NULL PRIMARY KEY, next INTEGER, b INTEGER, FOREIGN KEY (next) REFERENCES a (id), FOREIGN KEY (b) REFERENCES b (id))")
			if e.Name == "mariadb" {
				worldtest.Exec(t, d, "ALTER TABLE b ADD FOREIGN KEY (a) REFERENCES a (id)")
			}
			var as, bs []string
			for i := range 1200 { // each refers to one that comes later
				as = append(as, fmt.Sprintf("(%d, %d, %d)", from+i, from+(i*7+1)%1200, from+(i*11+5)%1200))
				bs = append(bs, fmt.Sprintf("(%d, %d)", from+i, from+(i*13+2)%1200))
			}
			db := worldtest.Pool(t, d)
			defer db.Close()
			db.SetMaxOpenConns(1)
			for _, s := range []string{map[string]string{"mariadb": "SET foreign_key_checks = 0", "sqlite": "PRAGMA foreign_keys = 0"}[e.Name],
				"INSERT INTO a VALUES " + strings.Join(as, ","), "INSERT INTO b VALUES " + strings.Join(bs, ",")} {
				if _, err := db.Exec(s); err != nil {
					t.Fatal(err)
				}
			}
			return d
		}
		all := []world.Database{w("w0", 0), w("w1", 10_000), w("w2", 20_000)}
		p, into := worldtest.PlanOf(t, e, all, worldtest.OddAllowed)
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Batch: time.Microsecond}); err != nil {
			t.Fatal(err)
		}
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass || proof.Tables[0].Rows != 3600 {
			t.Errorf("%+v", proof)
		}
	})
}

// A counter continues beyond what any of the worlds has given out, and those of the worlds stay.
func TestCounters(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		create := "CREATE TABLE mails (id INTEGER PRIMARY KEY AUTOINCREMENT, v INTEGER)"
		if e.Name == "mariadb" {
			create = "CREATE TABLE mails (id INTEGER PRIMARY KEY AUTO_INCREMENT, v INTEGER)"
		}
		all := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}
		worldtest.Exec(t, all[0], create, "INSERT INTO mails VALUES (1, 1), (2, 1)")
		worldtest.Exec(t, all[1], create, "INSERT INTO mails VALUES (11, 1), (500, 1)", "DELETE FROM mails WHERE id = 500")
		before := []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}
		p, into := worldtest.MergeOf(t, e, all, worldtest.OddAllowed)
		worldtest.Exec(t, into, "INSERT INTO mails (v) VALUES (7)")
		if n := worldtest.Number(t, into, "SELECT id FROM mails WHERE v = 7"); n != 501 {
			t.Errorf("the next is %d, want 501", n)
		}
		worldtest.Exec(t, into, "DELETE FROM mails WHERE v = 7")
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		for i, d := range all {
			if after := worldtest.Dump(t, d); after != before[i] {
				t.Errorf("before:\n%s\nafter:\n%s", before[i], after)
			}
		}
	})
}
