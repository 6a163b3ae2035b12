package transfer

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// heap makes databases with a table that has no key: rows that are there several
// times, in one database and in several, and rows that are equal only to a
// collation, or but for a type.
func heap(t *testing.T, e engine) []rowio.Database {
	all := []rowio.Database{e.fresh(t, "s1"), e.fresh(t, "s2"), e.fresh(t, "s3")}
	collate := "COLLATE NOCASE"
	if e.name != "sqlite" {
		collate = "COLLATE utf8mb4_general_ci"
	}
	for i, d := range all {
		exec(t, d, "CREATE TABLE kills (who VARCHAR(20) "+collate+", n INTEGER, f DOUBLE, b BLOB, happened VARCHAR(30))",
			"CREATE TABLE chars (id INTEGER PRIMARY KEY)", fmt.Sprintf("INSERT INTO chars VALUES (%d)", i),
			"INSERT INTO kills VALUES ('Ann', 1, 0.1, x'00ff', '2026-01-01'), ('Ann', 1, 0.1, x'00ff', '2026-01-01'), (NULL, NULL, NULL, NULL, NULL), ('', 0, 0, x'', '')",
			fmt.Sprintf("INSERT INTO kills VALUES ('only %d', %[1]d, 0.%[1]d, NULL, NULL), ('only %[1]d', %[1]d, 0.%[1]d, NULL, NULL)", i))
	}
	exec(t, all[1], "INSERT INTO kills VALUES ('ann', 1, 0.1, x'00ff', '2026-01-01'), ('ANN', 1, 0.1, x'00ff', '2026-01-01'), ('a,b', 1, 1e300, NULL, 'NULL'), ('a', 1, 0.30000000000000004, NULL, NULL)")
	exec(t, all[2], "INSERT INTO kills VALUES ('ann', 1, 0.1, x'00ff', '2026-01-01'), ('a', 1, 0.3, NULL, NULL)")
	return all
}

// heapRows are the rows of the table in the order of their text.
func heapRows(t *testing.T, d rowio.Database) string {
	db := pool(t, d)
	defer db.Close()
	var rows []string
	for _, row := range readCell(t, db, "SELECT * FROM kills ORDER BY COALESCE(who, '-'), n, f, HEX(who), happened") {
		rows = append(rows, strings.Join(row, "|"))
	}
	return strings.Join(rows, "\n")
}

var heapAllowed = planner.PlanOptions{Check: declare.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: namesNothing}}

// A table without a key is copied as it is, proved and undone exactly.
func TestTableWithoutKey(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := heap(t, e)
		before := heapRows(t, all[0])
		p := mustPlan(t, all[0], all[1:], heapAllowed)
		if n := p.Table("kills").Rows(); n != 10+8 {
			t.Errorf("%d rows to copy", n)
		}
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM kills WHERE who = 'ann' AND n = 1"); n != 6+3 {
			t.Errorf("%d rows of Ann", n)
		}
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.NotVerified && proof.Verdict != verdict.Pass || proof.Tables[len(proof.Tables)-1].Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		// The game adds a row that is equal to some that came: one of them stays.
		exec(t, all[0], "INSERT INTO kills VALUES ('ann', 1, 0.1, x'00ff', '2026-01-01')")
		undone, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if undone.SameAsBefore || undone.Rows != 10+8+2 {
			t.Errorf("%+v", undone)
		}
		exec(t, all[0], "DELETE FROM kills WHERE HEX(who) = '616E6E'")
		if after := heapRows(t, all[0]); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
		mergedAndBack(t, all, heapAllowed)
	})
}

// A row that was taken away or changed is found, and keeps the undo from what it
// cannot do exactly.
func TestTableWithoutKeyChanged(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := heap(t, e)
		before := heapRows(t, all[0])
		p := mustPlan(t, all[0], all[1:], heapAllowed)
		exec(t, all[1], "UPDATE kills SET f = 0.5 WHERE who = 'a,b'")
		changed := new(ledger.ChangedError)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); !errors.As(err, &changed) || changed.Table != "kills" || changed.Database != "s2" {
			t.Errorf("apply: %v", err)
		}
		exec(t, all[1], "UPDATE kills SET f = 1e300 WHERE who = 'a,b'")
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		exec(t, all[0], "UPDATE kills SET n = 77 WHERE who = 'a,b'", "DELETE FROM kills WHERE who = 'only 2'")
		proof := verified(t, p, all[0], all[1:])
		got := proof.Tables[len(proof.Tables)-1]
		if got.Table != "kills" || got.Verdict != verdict.Fail || got.Missing != 3 || !got.Own {
			t.Errorf("%+v", got)
		}
		refused := new(ledger.RefusedError)
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "3 are gone since they were copied") {
			t.Errorf("undo: %v", err)
		}
		// The changed row cannot be told from one that the game made: it is for a person to remove.
		left := new(evidence.NotUndoneError)
		for range 2 {
			const want = "3 rows that came were changed or removed since, and it has 1 row more"
			_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: true})
			if !errors.As(err, &left) || !strings.Contains(err.Error(), want) {
				t.Fatalf("undo: %v", err)
			}
		}
		exec(t, all[0], "DELETE FROM kills WHERE n = 77")
		if done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil || !done.SameAsBefore {
			t.Fatalf("%+v, %v", done, err)
		}
		if after := heapRows(t, all[0]); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// Wherever it is interrupted, a copy without a key is there in full or not at all,
// and so is its undo.
func TestTableWithoutKeyInterrupted(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := heap(t, e)
		before := heapRows(t, all[0])
		p := mustPlan(t, all[0], all[1:], heapAllowed)
		failing := func(n int) job.Hooks {
			return job.Hooks{Fail: func(string) error {
				if n--; n < 0 {
					return driver.ErrBadConn
				}
				return nil
			}}
		}
		options := job.Options{Parallel: 1, RetryFor: -1}
		stopped := 0
		for n := 5; ; n += 3 {
			_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], options, failing(n))
			if err == nil {
				break
			}
			if !errors.Is(err, ledger.ErrStopped) {
				t.Fatal(err)
			}
			stopped++
			switch rows := number(t, all[0], "SELECT COUNT(*) FROM kills"); rows {
			case 6, 16, 24:
			default:
				t.Errorf("%d rows", rows)
			}
		}
		for n := 5; ; n += 3 {
			_, err := undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: options}, failing(n))
			if err == nil || errors.Is(err, ledger.ErrNoMerge) { // its last word was lost
				break
			}
			if !errors.Is(err, ledger.ErrStopped) {
				t.Fatal(err)
			}
			stopped++
		}
		if after := heapRows(t, all[0]); after != before || stopped < 10 {
			t.Errorf("after %d interruptions, before:\n%s\nafter:\n%s", stopped, before, after)
		}
	})
}

// Rows are told apart by values of every type.
func TestTableWithoutKeyOfManyTypes(t *testing.T) {
	e := engines()[1]
	all := []rowio.Database{e.fresh(t, "s1"), e.fresh(t, "s2")}
	for _, d := range all {
		exec(t, d, "CREATE TABLE odd (b BIT(9), y YEAR, t TIME(3), d DECIMAL(9,3), f FLOAT, s SET('a','b'), e ENUM('x','y'), j JSON, l LONGBLOB, g POINT, ts TIMESTAMP NULL, dt DATE)",
			"INSERT INTO odd VALUES (b'101', 2020, '10:11:12.5', 1.5, 0.1, 'a,b', 'x', '{\"a\":1}', x'00ff', ST_GeomFromText('POINT(1 1)'), '2026-01-01', '2026-01-01')")
	}
	for _, set := range []string{"b = b'100'", "y = 2021", "t = '10:11:12.501'", "d = 1.501", "f = 0.10000001", "s = 'a'", "e = 'y'", "j = '{\"a\":2}'", "l = x'00fe'", "g = ST_GeomFromText('POINT(1 2)')", "ts = '2026-01-02'", "dt = NULL"} {
		exec(t, all[1], "INSERT INTO odd SELECT * FROM odd LIMIT 1", "UPDATE odd SET "+set+" LIMIT 1")
	}
	exec(t, all[0], "INSERT INTO odd SELECT * FROM "+database(all[1])+".odd")
	want := number(t, all[1], "SELECT COUNT(*) FROM odd")
	mergedAndBack(t, all, planner.PlanOptions{Check: declare.Options{Allow: []string{verdict.CodeColumnOpaque}}})
	if n := number(t, all[0], "SELECT COUNT(*) FROM odd"); n != want+1 {
		t.Errorf("%d rows, want %d", n, want+1)
	}
}
