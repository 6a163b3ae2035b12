package world_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// heap makes databases with a table that has no key: rows that are there several
// times, in one database and in several, and rows that are equal only to a
// collation, or but for a type.
func heap(t *testing.T, e worldtest.Engine) []world.Database {
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2"), e.Fresh(t, "s3")}
	collate := "COLLATE NOCASE"
	if e.Name != "sqlite" {
		collate = "COLLATE utf8mb4_general_ci"
	}
	for i, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE kills (who VARCHAR(20) "+collate+", n INTEGER, f DOUBLE, b BLOB, happened VARCHAR(30))",
			"CREATE TABLE chars (id INTEGER PRIMARY KEY)", fmt.Sprintf("INSERT INTO chars VALUES (%d)", i),
			"INSERT INTO kills VALUES ('Ann', 1, 0.1, x'00ff', '2026-01-01'), ('Ann', 1, 0.1, x'00ff', '2026-01-01'), (NULL, NULL, NULL, NULL, NULL), ('', 0, 0, x'', '')",
			fmt.Sprintf("INSERT INTO kills VALUES ('only %d', %[1]d, 0.%[1]d, NULL, NULL), ('only %[1]d', %[1]d, 0.%[1]d, NULL, NULL)", i))
	}
	worldtest.Exec(t, all[1], "INSERT INTO kills VALUES ('ann', 1, 0.1, x'00ff', '2026-01-01'), ('ANN', 1, 0.1, x'00ff', '2026-01-01'), ('a,b', 1, 1e300, NULL, 'NULL'), ('a', 1, 0.30000000000000004, NULL, NULL)")
	worldtest.Exec(t, all[2], "INSERT INTO kills VALUES ('ann', 1, 0.1, x'00ff', '2026-01-01'), ('a', 1, 0.3, NULL, NULL)")
	return all
}

// heapRows are the rows of the table in the order of their text.
func heapRows(t *testing.T, d world.Database) (rows []string) {
	t.Helper()
	for _, row := range worldtest.Rows(t, d, "SELECT * FROM kills") {
		rows = append(rows, strings.Join(row, "|"))
	}
	slices.Sort(rows)
	return rows
}

var heapAllowed = planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: worldtest.NamesNothing}}

// A table without a key is copied as it is, proved and undone; a row that is equal to some that came is found.
func TestTableWithoutKey(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := heap(t, e)
		p, into := worldtest.PlanOf(t, e, all, heapAllowed)
		if n := p.Table("kills").Rows(); n != 6+10+8 {
			t.Errorf("%d rows to copy", n)
		}
		worldtest.MustApply(t, p, into, all)
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM kills WHERE who = 'ann' AND n = 1"); n != 6+3 {
			t.Errorf("%d rows of Ann", n)
		}
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.NotVerified && proof.Verdict != verdict.Pass || proof.Tables[len(proof.Tables)-1].Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		worldtest.Exec(t, into, "INSERT INTO kills VALUES ('ann', 1, 0.1, x'00ff', '2026-01-01')")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || !proof.Tables[len(proof.Tables)-1].Others {
			t.Errorf("%+v", proof)
		}
		refused := new(record.RefusedError)
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "kills") {
			t.Errorf("undo: %v", err)
		}
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		worldtest.Dropped(t, into)
		worldtest.MergedAndBack(t, e, all, heapAllowed)
	})
}

// A row of a world that changed since the plan is found, and so is one of the new database that was taken away or
// changed.
func TestTableWithoutKeyChanged(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := heap(t, e)
		p, into := worldtest.PlanOf(t, e, all, heapAllowed)
		worldtest.Exec(t, all[1], "UPDATE kills SET f = 0.5 WHERE who = 'a,b'")
		changed := new(record.ChangedError)
		if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); !errors.As(err, &changed) || changed.Table != "kills" || changed.Database != "s2" {
			t.Errorf("apply: %v", err)
		}
		worldtest.Exec(t, all[1], "UPDATE kills SET f = 1e300 WHERE who = 'a,b'")
		worldtest.MustApply(t, p, into, all)
		worldtest.Exec(t, into, "UPDATE kills SET n = 77 WHERE who = 'a,b'", "DELETE FROM kills WHERE who = 'only 2'")
		proof := worldtest.Verified(t, p, into, all)
		got := proof.Tables[len(proof.Tables)-1]
		if got.Table != "kills" || got.Verdict != verdict.Fail || got.Missing != 3 || !got.Others {
			t.Errorf("%+v", got)
		}
		refused := new(record.RefusedError)
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "kills") {
			t.Errorf("undo: %v", err)
		}
	})
}

// Wherever it is interrupted, a copy without a key has every row once in the end, and an undo leaves nothing.
func TestTableWithoutKeyInterrupted(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := heap(t, e)
		p, into := worldtest.PlanOf(t, e, all, heapAllowed)
		failing := func(n int) job.Hooks {
			return job.Hooks{Fail: func(string) error {
				if n--; n < 0 {
					return driver.ErrBadConn
				}
				return nil
			}}
		}
		options := job.Options{Parallel: 1, RetryFor: -1}
		stopped, step := 0, 3
		if e.Name != "sqlite" {
			step = servertest.Scale(12, 3) // a server takes longer for each
		}
		for n := 5; ; n += step {
			_, err := build.ApplyWith(t.Context(), p, into, all, options, failing(n))
			if err == nil {
				break
			}
			if !errors.Is(err, record.ErrStopped) {
				t.Fatal(err)
			}
			stopped++
		}
		var want []string
		for _, d := range all {
			want = append(want, heapRows(t, d)...)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, heapRows(t, into)); diff != "" {
			t.Errorf("after %d interruptions (-worlds +new):\n%s", stopped, diff)
		}
		worldtest.Sound(t, p, into, all)
		for n := 5; ; n += step {
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: options}, failing(n))
			if err == nil || errors.Is(err, record.ErrNoMerge) { // its last word was lost
				break
			}
			if !errors.Is(err, record.ErrStopped) {
				t.Fatal(err)
			}
			stopped++
		}
		worldtest.Dropped(t, into)
		if stopped < 10 {
			t.Errorf("%d interruptions", stopped)
		}
	})
}

// Rows are told apart by values of every type.
func TestTableWithoutKeyOfManyTypes(t *testing.T) {
	servertest.OnMySQLToo(t, testTableWithoutKeyOfManyTypes)
}

func testTableWithoutKeyOfManyTypes(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE odd (b BIT(9), y YEAR, t TIME(3), d DECIMAL(9,3), f FLOAT, s SET('a','b'), e ENUM('x','y'), j JSON, l LONGBLOB, g POINT, ts TIMESTAMP NULL, dt DATE)",
			"INSERT INTO odd VALUES (b'101', 2020, '10:11:12.5', 1.5, 0.1, 'a,b', 'x', '{\"a\":1}', x'00ff', ST_GeomFromText('POINT(1 1)'), '2026-01-01', '2026-01-01')")
	}
	sets := []string{"b = b'100'", "y = 2021", "t = '10:11:12.501'", "d = 1.501", "f = 0.10000001", "s = 'a'", "e = 'y'", "j = '{\"a\":2}'", "l = x'00fe'", "g = ST_GeomFromText('POINT(1 2)')", "ts = '2026-01-02'", "dt = NULL"}
	for _, set := range sets {
		worldtest.Exec(t, all[1], "INSERT INTO odd SELECT * FROM odd LIMIT 1", "UPDATE odd SET "+set+" LIMIT 1")
	}
	for i := range sets { // a table for each
		for _, d := range all {
			worldtest.Exec(t, d, fmt.Sprintf("CREATE TABLE odd%d LIKE odd", i), fmt.Sprintf("INSERT INTO odd%d SELECT * FROM odd", i))
		}
	}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque}}})
	worldtest.Sound(t, p, into, all)
	for i, set := range sets {
		// One row of each world is equal to those of the other world.
		worldtest.Exec(t, into, fmt.Sprintf("UPDATE odd%d SET %s WHERE y = 2020 AND b = b'101' LIMIT 1", i, set))
	}
	for _, table := range worldtest.Verified(t, p, into, all).Tables {
		if (table.Verdict == verdict.Fail) != (table.Table != "odd") {
			t.Errorf("%+v of %q", table, sets)
		}
	}
	worldtest.Exec(t, into, "DELETE FROM odd0", "INSERT INTO odd0 SELECT * FROM "+worldtest.Database(all[0])+".odd0", "INSERT INTO odd0 SELECT * FROM "+worldtest.Database(all[1])+".odd0")
	for _, table := range worldtest.Verified(t, p, into, all).Tables {
		if table.Table == "odd0" && table.Verdict == verdict.Fail {
			t.Errorf("put right: %+v", table)
		}
	}
}
