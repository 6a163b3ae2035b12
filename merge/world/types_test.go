package world_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/evidence"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

var oddTables = []string{"odd `table`", "pairs", "a_child", "counted"}

// oddRows are the rows of one of these tables as the database prints them.
func oddRows(t testing.TB, e worldtest.Engine, table string, all ...world.Database) (rows []string) {
	t.Helper()
	query := "SELECT * FROM `" + strings.ReplaceAll(table, "`", "``") + "`"
	if e.Name == "sqlite" {
		query = `SELECT * FROM "` + strings.ReplaceAll(table, "`", `""`) + `"`
		if table == oddTables[0] {
			query = strings.Replace(query, "*", "*, typeof(any_type), typeof(n), typeof(d), typeof(flag), quote(any_type), quote(n), quote(d), quote(flag), quote(b)", 1)
		}
	} else if table == oddTables[0] {
		query = strings.Replace(query, "*", "*, CAST(f AS DOUBLE), HEX(b), HEX(fixed), HEX(bits), HEX(l1)", 1)
	}
	for _, d := range all {
		for _, row := range worldtest.Rows(t, d, query) {
			rows = append(rows, strings.Join(row, "|"))
		}
	}
	slices.Sort(rows)
	return rows
}

// Rows of all types arrive as they are.
func TestTypes(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		runs := 1
		if *worldtest.Long {
			runs = 30
		}
		for seed := range runs {
			rnd := rand.New(rand.NewPCG(1, uint64(seed)))
			all := []world.Database{worldtest.OddWorld(t, e, rnd, "w0", 0), worldtest.OddWorld(t, e, rnd, "w1", 1), worldtest.OddWorld(t, e, rnd, "w2", 2)}
			want := make(map[string][]string)
			for _, table := range oddTables {
				want[table] = oddRows(t, e, table, all...)
			}
			p, into := worldtest.MergeOf(t, e, all, worldtest.OddAllowed)
			for _, table := range oddTables {
				if diff := cmp.Diff(want[table], oddRows(t, e, table, into)); diff != "" {
					t.Errorf("seed %d, %s:\n%s", seed, table, diff)
				}
			}
			if proof := worldtest.Verified(t, p, into, all); proof.Verdict == verdict.Fail {
				t.Errorf("seed %d: %+v", seed, proof)
			}
		}
	})
}

// The two zeros are equal, so they are one key; and they are two values, which come as they are,
// and of which one is not taken for the other.
func TestNegativeZero(t *testing.T) {
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		double, single := "DOUBLE", "FLOAT"
		if e.Name == "sqlite" {
			double, single = "", "" // a REAL makes it 0
		}
		worlds := func(own string) (all []world.Database) {
			for i, name := range []string{"s1", "s2"} {
				d := e.Fresh(t, name)
				worldtest.Exec(t, d, "CREATE TABLE keyed (k "+double+" NOT NULL PRIMARY KEY, v INTEGER)",
					"CREATE TABLE pairs (a INTEGER NOT NULL, f "+single+" NOT NULL, PRIMARY KEY (a, f))",
					"CREATE TABLE sums (k "+double+" NOT NULL PRIMARY KEY, gold INTEGER)",
					"CREATE TABLE bag (d "+double+", f "+single+")",
					"CREATE TABLE vals (id INTEGER NOT NULL PRIMARY KEY, d "+double+", f "+single+")")
				db := worldtest.Pool(t, d)
				run := func(query string, args ...any) {
					t.Helper()
					if _, err := db.Exec(query, args...); err != nil {
						t.Fatal(err)
					}
				}
				run("INSERT INTO sums VALUES (?, 5)", []float64{0, worldtest.NegativeZero}[i])
				if i == 0 {
					run("INSERT INTO keyed VALUES (1.0, 1), (" + own + ", 2)")
				} else {
					run("INSERT INTO keyed VALUES (2.0, 1), (?, 2)", worldtest.NegativeZero)
				}
				for n := range 3 {
					run("INSERT INTO pairs VALUES (?, ?), (?, 1.0)", 10*i+n, []float64{worldtest.NegativeZero, 0, -1}[n], 10*i+n)
					run("INSERT INTO bag VALUES (?, ?), (?, ?)", worldtest.NegativeZero, 0.0, 0.0, worldtest.NegativeZero)
					run("INSERT INTO vals VALUES (?, ?, ?)", 10*i+n, []float64{worldtest.NegativeZero, 0, 1}[n], []float64{0, worldtest.NegativeZero,
						1}[n])
				}
				db.Close()
				all = append(all, d)
			}
			return all
		}
		tables := []string{"keyed", "pairs", "bag", "vals"}
		rows := func(all ...world.Database) (rows []string) {
			for _, d := range all {
				for _, table := range tables {
					query := "SELECT * FROM " + table
					if e.Name != "sqlite" { // whose driver reads the text of a number, which says -0 too
						query = strings.Replace(query, "*", map[string]string{"keyed": "CAST(k AS CHAR), v",
							"pairs": "a, CAST(f AS CHAR)", "bag": "CAST(d AS CHAR), CAST(f AS CHAR)",
							"vals": "id, CAST(d AS CHAR), CAST(f AS CHAR)"}[table], 1)
					}
					for _, row := range worldtest.Rows(t, d, query) {
						rows = append(rows, table+" "+strings.Join(row, "|"))
					}
				}
			}
			slices.Sort(rows)
			return rows
		}
		all := worlds("3.0")
		want := rows(all...)
		stored := 19
		if e.Name != "sqlite" && servertest.OnMariaDB(t) {
			stored = 0 // it makes them 0
		}
		if n := strings.Count(strings.Join(want, " "), "-0"); n != stored {
			t.Fatalf("%d negative zeros are stored: %q", n, want)
		}
		options := worldtest.OddAllowed
		options.Check.Tables = []rules.TablePolicy{{Tables: []string{"sums"}, Policy: rules.PolicyCombine,
			Columns: map[string]string{"gold": "sum"}}}
		p, into := worldtest.MergeOf(t, e, all, options)
		if diff := cmp.Diff(want, rows(into)); diff != "" {
			t.Errorf("merged:\n%s", diff)
		}
		worldtest.Asked(t, into, "SELECT COUNT(*), SUM(gold) FROM sums", "1|10")
		worldtest.Proved(t, p, into, all)
		for _, c := range []struct{ table, column, do, back string }{
			{"vals", "d", "UPDATE vals SET d = 0.0 WHERE id = 10", "UPDATE vals SET d = ? WHERE id = 10"},
			{"keyed", "k", "UPDATE keyed SET k = 0.0 WHERE v = 2 AND k = 0", "UPDATE keyed SET k = ? WHERE v = 2 AND k = 0"},
			{"pairs", "f", "UPDATE pairs SET f = 0.0 WHERE a = 10 AND f = 0", "UPDATE pairs SET f = ? WHERE a = 10 AND f = 0"},
		} {
			worldtest.Exec(t, into, c.do)
			if slices.Equal(rows(into), want) {
				continue // the server takes them for the same and keeps what it has
			}
			proof := worldtest.Verified(t, p, into, all)
			of := proof.Tables[slices.IndexFunc(proof.Tables, func(p evidence.TableProof) bool { return p.Table == c.table })]
			if proof.Verdict != verdict.Fail || of.Changed != 1 || of.Missing != 0 || of.Others || len(of.Samples) != 1 ||
				!slices.Equal(of.Samples[0].Columns, []string{c.column}) {
				t.Errorf("%s: %+v", c.do, of)
			}
			db := worldtest.Pool(t, into)
			if _, err := db.Exec(c.back, worldtest.NegativeZero); err != nil {
				t.Fatal(err)
			}
			db.Close()
		}
		all = worlds("0.0")
		worldtest.RefusedWith(t, worldtest.Planned(t, e.Fresh(t, "new"), all, options), verdict.CodeKeyCollision, `table "keyed"`)
	})
}
