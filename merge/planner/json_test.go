package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// JSON of MySQL has types inside that its text does not have. Rows with such
// values are refused by name, and all others arrive so that SQL says that they are
// equal. In MariaDB, JSON is text.
func TestJSONTypes(t *testing.T) { servertest.OnMySQLToo(t, testJSONTypes) }

func testJSONTypes(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	mysql := !servertest.OnMariaDB(t)
	keeps := []string{`JSON_OBJECT('a', 1, 'b', JSON_ARRAY(1.5, 'x', NULL, true))`, `'"2020-01-02"'`, `'1e2'`, `'{"d": 18446744073709551615, "n": -1.25e-7}'`, `'"base64:type15:AP9B"'`, `NULL`,
		`JSON_OBJECT('big', CAST(7 AS UNSIGNED), 'dec', 1.25)`, `JSON_QUOTE('é😀\0')`}
	loses := []string{`JSON_OBJECT('d', DATE'2020-01-02')`, `JSON_ARRAY(1, TIME'10:11:12')`, `JSON_OBJECT('a', JSON_OBJECT('dt', TIMESTAMP'2020-01-02 03:04:05.5'))`,
		`JSON_ARRAY(1.10)`, `JSON_ARRAY(0.12345678901234567890123)`}
	if mysql {
		loses = append(loses, `CAST(DATE'2020-01-02' AS JSON)`, `JSON_ARRAY(x'00ff41')`)
	}
	var refused []string
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE mails (id INT PRIMARY KEY, j JSON, other JSON)")
	}
	for i, expr := range append(keeps, loses...) {
		worldtest.Exec(t, all[1], fmt.Sprintf("INSERT INTO mails VALUES (%d, %s, '1')", i, expr))
		if i >= len(keeps) {
			refused = append(refused, fmt.Sprintf("row %d", i))
		}
	}
	into := e.Fresh(t, "new")
	p := worldtest.Planned(t, into, all, worldtest.OddAllowed)
	if mysql {
		want := fmt.Sprintf("in %d rows: %s: convert the column to a text and back first (ALTER TABLE `mails` MODIFY `j` LONGTEXT", len(loses), strings.Join(refused, ", "))
		if len(p.Refusals) != 1 || p.Refusals[0].Source != "s2" || p.Refusals[0].Table != "mails" || !strings.Contains(p.Refusals[0].Reason, want) {
			t.Errorf("got %v, want one of s2 with %q", p.Refusals, want)
		}
		worldtest.Exec(t, all[1], "ALTER TABLE mails MODIFY j LONGTEXT", "ALTER TABLE mails MODIFY j JSON")
	}
	p = worldtest.MustPlan(t, into, all, worldtest.OddAllowed)
	if mysql { // somebody stores a date in the place of its text
		worldtest.Exec(t, all[1], `UPDATE mails SET j = CAST(DATE'2020-01-02' AS JSON) WHERE id = 1`)
		if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); err == nil {
			t.Error("a text that became a date was copied")
		}
		worldtest.Exec(t, all[1], `UPDATE mails SET j = '"2020-01-02"' WHERE id = 1`)
	}
	worldtest.MustApply(t, p, into, all)
	if proof := worldtest.Verified(t, p, into, all); proof.Tables[0].Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
	differ := fmt.Sprintf("SELECT COUNT(*) FROM %s.mails AS a LEFT JOIN %s.mails AS b ON a.id = b.id AND a.j <=> b.j AND a.other = b.other WHERE b.id IS NULL", worldtest.Database(all[1]), worldtest.Database(into))
	if n := worldtest.Number(t, into, differ); n != 0 {
		t.Errorf("SQL says that %d rows differ", n)
	}
	if mysql {
		worldtest.Exec(t, into, `UPDATE mails SET j = CAST(DATE'2020-01-02' AS JSON) WHERE id = 1`)
		if n := worldtest.Number(t, into, differ); n != 1 {
			t.Errorf("SQL says that %d rows differ, want 1", n)
		}
		if proof := worldtest.Verified(t, p, into, all); proof.Tables[0].Verdict != verdict.Fail || proof.Tables[0].Changed != 1 {
			t.Errorf("%+v", proof)
		}
	}
}
