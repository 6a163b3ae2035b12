package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

func attackWorlds(t *testing.T, tables []string, rows ...[]string) *sqlWorlds {
	w := sqliteWorlds(t, t.TempDir(), len(rows))
	t.Cleanup(w.close)
	w.everywhere(t, tables...)
	for i, r := range rows {
		w.at(t, i, r...)
	}
	return w
}

// sparseKeys inserts many keys that lie far apart, those given among them.
func sparseKeys(table string, seed uint64, keys ...int64) (all []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range 140 {
		var values []string
		for range 1000 {
			values = append(values, fmt.Sprintf("(%d)", r.Int64N(1<<60)))
		}
		all = append(all, "INSERT OR IGNORE INTO @."+table+" VALUES "+strings.Join(values, ","))
	}
	for _, k := range keys {
		all = append(all, fmt.Sprintf("INSERT INTO @.%s VALUES (%d)", table, k))
	}
	return all
}

// Keys that lie too far apart to be kept are compared as well as others. That rows are read again for that is said.
func TestSparseKeys(t *testing.T) {
	servertest.NotShort(t)
	const a, b = 1<<61 + 5, 1<<61 + 7
	told := make(map[string]bool)
	note := func(p rules.Progress) { told[p.World+"."+p.Table+": "+p.Again] = p.Again != "" }
	tables := []string{"CREATE TABLE @.k (id INTEGER PRIMARY KEY)", "CREATE TABLE @.l (id INTEGER PRIMARY KEY)", "CREATE TABLE @.t (id INTEGER PRIMARY KEY, v INTEGER)"}
	t.Run("skipped", func(t *testing.T) {
		w := attackWorlds(t, tables, append(sparseKeys("k", 1, a), "INSERT INTO @.t VALUES (-1, -9)"), append(sparseKeys("k", 2, b), fmt.Sprintf("INSERT INTO @.t VALUES (-2, %d)", int64(b))))
		report := w.check(t, rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"k"}, Policy: rules.PolicySkip}}})
		if open := openColumns(report); open["t.v"] == 0 {
			t.Errorf("%v, want t.v open: it names a row that is not copied", open)
		}
	})
	t.Run("all at home", func(t *testing.T) {
		w := attackWorlds(t, tables, append(sparseKeys("k", 1, a), fmt.Sprintf("INSERT INTO @.t VALUES (-1, %d)", int64(a))), append(sparseKeys("k", 2, b), fmt.Sprintf("INSERT INTO @.t VALUES (-2, %d)", int64(b))))
		if open := openColumns(w.check(t, rules.Options{Progress: note})); open["t.v"] != 0 {
			t.Errorf("%v, want t.v closed", open)
		}
		if again := "v may name rows of k.id, whose keys are too many to keep in memory"; !told["w0.t: "+again] || !told["w1.t: "+again] {
			t.Errorf("told %v, want %q of both", told, again)
		}
	})
}

// A column that a composite reference declares is declared.
func TestCompositeReferencesCloseTheirColumns(t *testing.T) {
	w := attackWorlds(t, []string{"CREATE TABLE @.p (realm INTEGER, id INTEGER, PRIMARY KEY (id, realm))", "CREATE TABLE @.i (id INTEGER PRIMARY KEY, r INTEGER, o INTEGER)"},
		[]string{"INSERT INTO @.p VALUES (1,1)", "INSERT INTO @.i VALUES (1001, 1, 1), (1002, 7, 101)"},
		[]string{"INSERT INTO @.p VALUES (1,101)", "INSERT INTO @.i VALUES (2001, 1, 101)"})
	report := w.check(t, rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{{Table: "i", Columns: []string{"r", "o"}, ToTable: "p", ToColumns: []string{"realm", "id"}}}}}, Allow: []string{verdict.CodeReferenceDangle}})
	if open := openColumns(report); open["i.o"] != 0 {
		t.Errorf("i.o is open though it is declared: %v\n%s", open, brief(report))
	}
}

// One column can be allowed, and no more than one.
func TestAllowOpenColumn(t *testing.T) {
	w := attackWorlds(t, []string{"CREATE TABLE @.p (id INTEGER PRIMARY KEY)", "CREATE TABLE @.i (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)"},
		[]string{"INSERT INTO @.p VALUES (1)", "INSERT INTO @.i VALUES (1001, 101, 101)"},
		[]string{"INSERT INTO @.p VALUES (101)", "INSERT INTO @.i VALUES (2001, NULL, NULL)"})
	for allow, want := range map[string]verdict.Verdict{"i.a": verdict.NotVerified, "i.a i.b": verdict.Pass} {
		var opts rules.Options
		for _, at := range strings.Fields(allow) {
			opts.Allow = append(opts.Allow, verdict.CodeReferenceUndeclared+":"+at)
		}
		if report := w.check(t, opts); report.Verdict != want {
			t.Errorf("%s: %s, want %s", allow, report.Verdict, want)
		}
	}
	for _, allow := range []string{"", ":i", ":i.*", ":*.a", ":i.{0..3}"} {
		if _, err := w.tryCheck(t, rules.Options{Allow: []string{verdict.CodeReferenceUndeclared + allow}}); err == nil {
			t.Errorf("%q is taken", allow)
		}
	}
}

// Worlds need not have the same tables and columns.
func TestOpenColumnsOfDifferentSchemas(t *testing.T) {
	w := sqliteWorlds(t, t.TempDir(), 3)
	defer w.close()
	w.at(t, 0, "CREATE TABLE @.p (id INTEGER PRIMARY KEY)", "CREATE TABLE @.i (id INTEGER PRIMARY KEY, a INTEGER)", "CREATE VIEW @.v AS SELECT 1 AS id",
		"INSERT INTO @.p VALUES (1)", "INSERT INTO @.i VALUES (1001, 101), (1002, 777)")
	w.at(t, 1, "CREATE TABLE @.p (id INTEGER PRIMARY KEY, b TEXT)", "CREATE TABLE @.i (id INTEGER PRIMARY KEY, a TEXT)", "CREATE TABLE @.e (id INTEGER PRIMARY KEY)",
		"INSERT INTO @.p VALUES (101, 'p 1')", "INSERT INTO @.i VALUES (2001, 'of 1')")
	w.at(t, 2, "CREATE TABLE @.i (id INTEGER PRIMARY KEY)", "CREATE TABLE @.e (id TEXT PRIMARY KEY)", "INSERT INTO @.i VALUES (3001)", "INSERT INTO @.e VALUES ('777')")
	open := openColumns(w.check(t, rules.Options{}))
	if open["i.a"] != 2 || open["p.b"] != 1 {
		t.Errorf("%v, want 2 rows of i.a and 1 of p.b", open)
	}
	if open["e.id as a key"] != -1 {
		t.Errorf("%v: the keys of e are of two types, and nothing says so", open)
	}
}
