package merge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/evidence"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// A world of tables that no game has, with values of every kind. Keys are
// apart by the number of the world.

func oddSchema(e engine) []string {
	if e.name == "sqlite" {
		return []string{
			`CREATE TABLE "odd ""table""" (k INTEGER PRIMARY KEY, "order" TEXT, b BLOB, r REAL, any_type, n NUMERIC, d DATETIME, flag BOOLEAN, twice INTEGER GENERATED ALWAYS AS (k * 2) VIRTUAL)`,
			`CREATE TABLE pairs (a INTEGER NOT NULL, b TEXT NOT NULL COLLATE NOCASE, c BLOB NOT NULL, v INTEGER, PRIMARY KEY (b, a, c)) WITHOUT ROWID`,
			`CREATE TABLE a_child (id TEXT NOT NULL PRIMARY KEY, parent INTEGER REFERENCES "odd ""table""" (k)) WITHOUT ROWID`,
			`CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)`,
		}
	}
	return []string{
		"CREATE TABLE `odd ``table``` (k BIGINT UNSIGNED NOT NULL PRIMARY KEY, `order` VARCHAR(60) NULL, b LONGBLOB NULL, f FLOAT NULL, r DOUBLE NULL, n DECIMAL(30,10) NULL, " +
			"d DATETIME(6) NULL, day DATE NULL, ts TIMESTAMP(3) NULL, hour TIME(2) NULL, y YEAR NULL, bits BIT(9) NULL, e ENUM('x', 'y''z', '') NULL, s SET('p', 'q') NULL, " +
			"j JSON NULL, l1 VARCHAR(20) CHARACTER SET latin1 NULL, fixed BINARY(4) NULL, c CHAR(5) NULL, small TINYINT NULL, " +
			"twice BIGINT UNSIGNED GENERATED ALWAYS AS (k DIV 2) STORED, half VARCHAR(3) GENERATED ALWAYS AS (LEFT(`order`, 3)) VIRTUAL)",
		"CREATE TABLE pairs (a INT NOT NULL, b VARCHAR(40) NOT NULL COLLATE utf8mb4_general_ci, c VARBINARY(8) NOT NULL, v BIGINT NULL, PRIMARY KEY (b, a, c))",
		"CREATE TABLE a_child (id VARCHAR(30) COLLATE utf8mb4_unicode_520_ci NOT NULL PRIMARY KEY, parent BIGINT UNSIGNED NULL, FOREIGN KEY (parent) REFERENCES `odd ``table``` (k))",
		"CREATE TABLE counted (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, v TEXT)",
	}
}

// oddWorld fills one with rows of world n, of 0 to 9.
func oddWorld(t testing.TB, e engine, rnd *rand.Rand, name string, n int) world.Database {
	t.Helper()
	d := e.fresh(t, name)
	exec(t, d, oddSchema(e)...)
	db := pool(t, d)
	defer db.Close()
	db.SetMaxOpenConns(1)
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%s %.200v: %v", query, args, err)
		}
	}
	if e.name == "mariadb" {
		run("SET SESSION sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'")
	}
	null := func(v any) any {
		if rnd.IntN(6) == 0 {
			return nil
		}
		return v
	}
	pick := func(all ...any) any { return null(all[rnd.IntN(len(all))]) }
	some := func(i int, v any) any { // or the negative zero
		if i%4 == 0 {
			return negativeZero
		}
		return v
	}
	text := func(most int) string {
		letters := []rune("abcXYZ äß中😀 '\"\\\t\n\x00%_`")
		r := make([]rune, rnd.IntN(most+1))
		for i := range r {
			r[i] = letters[rnd.IntN(len(letters))]
		}
		return string(r)
	}
	blob := func(most int) []byte {
		b := make([]byte, rnd.IntN(most+1))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	var keys []uint64
	rows := rnd.IntN(60)
	for i := range rows {
		k := uint64(n)*1000 + uint64(i)
		if e.name == "mariadb" && i%7 == 3 {
			k |= 1 << 63
		}
		keys = append(keys, k)
		if e.name == "sqlite" {
			run(`INSERT INTO "odd ""table""" (k, "order", b, r, any_type, n, d, flag) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, int64(k),
				null(text(60)), null(blob(40)), null(some(i, rnd.NormFloat64())),
				pick("7", int64(7), 7.0, []byte("7"), "", []byte{}, negativeZero), pick(int64(-1), "1.50", "x", 1e300),
				pick(int64(1700000000000000), "2024-02-31", "2024-01-02 03:04:05", 1.5), pick(int64(0), int64(1), int64(5),
					"true"))
			continue
		}
		run("INSERT INTO `odd ``table``` (k, `order`, b, f, r, n, d, day, ts, hour, y, bits, e, s, j, l1, fixed, c, small) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", k,
			null(text(60)), null(blob(40)), null(some(i, rnd.Float32()*1e9)), pick(rnd.NormFloat64(), 1e300, negativeZero,
				5e-324), pick("12345678901234567890.0123456789", "-0.0000000001", "0"),
			pick("0000-00-00 00:00:00", "2024-02-31 01:02:03.000004", "9999-12-31 23:59:59.999999"), pick("0000-00-00", "2024-00-15", "1000-01-01"), pick("1970-01-01 00:00:01.001", "2038-01-19 03:14:07.999", "2024-07-01 00:00:00"),
			pick("-838:59:59.00", "838:59:58.99", "00:00:00.01"), pick("0000", "1901", "2155"), pick([]byte{1, 255}, []byte{0, 0}), pick("x", "y'z"), pick("", "p,q", "q"),
			pick(`{"a": [1, 2]}`, "null"), pick("äöÿ", "a  ", ""), null([]byte{1, 0, 0, 0}), pick("a", "ab ", ""), pick(-128, 127, 0))
	}
	if e.name == "mariadb" && rows > 0 {
		run("UPDATE `odd ``table``` SET b = REPEAT(x'00ff27', 700000) WHERE k = ?", keys[0]) // longer than a statement is otherwise
	}
	for i := range rnd.IntN(400) {
		run("INSERT INTO pairs (a, b, c, v) VALUES (?, ?, ?, ?)", i%5, fmt.Sprint(strings.Repeat("Kk", i%3), i/20, "w", n), []byte(fmt.Sprint(i)), null(rnd.Int64()-rnd.Int64()))
	}
	for i := range rnd.IntN(200) {
		var parent any
		if len(keys) > 0 {
			parent = null(keys[rnd.IntN(len(keys))])
			if k, ok := parent.(uint64); ok && e.name == "sqlite" {
				parent = int64(k)
			}
		}
		run("INSERT INTO a_child (id, parent) VALUES (?, ?)", fmt.Sprintf("%c%dé w%d", 'A'+rune(i%50), i, n), parent)
	}
	for i := range rnd.IntN(5) {
		run("INSERT INTO counted (id, v) VALUES (?, ?)", n*100+i+1, text(300))
	}
	return d
}

// negativeZero is equal to 0, and another value. The constant -0.0 is 0.
var negativeZero = math.Copysign(0, -1)

// oddAllowed is what the check cannot look into here.
var oddAllowed = planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: namesNothing}}

var oddTables = []string{"odd `table`", "pairs", "a_child", "counted"}

// oddRows are the rows of one of these tables as the database prints them.
func oddRows(t testing.TB, e engine, table string, all ...world.Database) (rows []string) {
	t.Helper()
	query := "SELECT * FROM `" + strings.ReplaceAll(table, "`", "``") + "`"
	if e.name == "sqlite" {
		query = `SELECT * FROM "` + strings.ReplaceAll(table, "`", `""`) + `"`
		if table == oddTables[0] {
			query = strings.Replace(query, "*", "*, typeof(any_type), typeof(n), typeof(d), typeof(flag), quote(any_type), quote(n), quote(d), quote(flag), quote(b)", 1)
		}
	} else if table == oddTables[0] {
		query = strings.Replace(query, "*", "*, CAST(f AS DOUBLE), HEX(b), HEX(fixed), HEX(bits), HEX(l1)", 1)
	}
	for _, d := range all {
		db := pool(t, d)
		for _, row := range readCell(t, db, query) {
			rows = append(rows, strings.Join(row, "|"))
		}
		db.Close()
	}
	slices.Sort(rows)
	return rows
}

// Rows of all types arrive as they are.
func TestTypes(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		runs := 1
		if *long {
			runs = 30
		}
		for seed := range runs {
			rnd := rand.New(rand.NewPCG(1, uint64(seed)))
			all := []world.Database{oddWorld(t, e, rnd, "w0", 0), oddWorld(t, e, rnd, "w1", 1), oddWorld(t, e, rnd, "w2", 2)}
			want := make(map[string][]string)
			for _, table := range oddTables {
				want[table] = oddRows(t, e, table, all...)
			}
			p, into := mergeOf(t, e, all, oddAllowed)
			for _, table := range oddTables {
				if diff := cmp.Diff(want[table], oddRows(t, e, table, into)); diff != "" {
					t.Errorf("seed %d, %s:\n%s", seed, table, diff)
				}
			}
			if proof := verified(t, p, into, all); proof.Verdict == verdict.Fail {
				t.Errorf("seed %d: %+v", seed, proof)
			}
		}
	})
}

// The two zeros are equal, so they are one key; and they are two values, which come as they are,
// and of which one is not taken for the other.
func TestNegativeZero(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		double, single := "DOUBLE", "FLOAT"
		if e.name == "sqlite" {
			double, single = "", "" // a REAL makes it 0
		}
		worlds := func(own string) (all []world.Database) {
			for i, name := range []string{"s1", "s2"} {
				d := e.fresh(t, name)
				exec(t, d, "CREATE TABLE keyed (k "+double+" NOT NULL PRIMARY KEY, v INTEGER)",
					"CREATE TABLE pairs (a INTEGER NOT NULL, f "+single+" NOT NULL, PRIMARY KEY (a, f))",
					"CREATE TABLE sums (k "+double+" NOT NULL PRIMARY KEY, gold INTEGER)",
					"CREATE TABLE bag (d "+double+", f "+single+")",
					"CREATE TABLE vals (id INTEGER NOT NULL PRIMARY KEY, d "+double+", f "+single+")")
				db := pool(t, d)
				run := func(query string, args ...any) {
					t.Helper()
					if _, err := db.Exec(query, args...); err != nil {
						t.Fatal(err)
					}
				}
				run("INSERT INTO sums VALUES (?, 5)", []float64{0, negativeZero}[i])
				if i == 0 {
					run("INSERT INTO keyed VALUES (1.0, 1), (" + own + ", 2)")
				} else {
					run("INSERT INTO keyed VALUES (2.0, 1), (?, 2)", negativeZero)
				}
				for n := range 3 {
					run("INSERT INTO pairs VALUES (?, ?), (?, 1.0)", 10*i+n, []float64{negativeZero, 0, -1}[n], 10*i+n)
					run("INSERT INTO bag VALUES (?, ?), (?, ?)", negativeZero, 0.0, 0.0, negativeZero)
					run("INSERT INTO vals VALUES (?, ?, ?)", 10*i+n, []float64{negativeZero, 0, 1}[n], []float64{0, negativeZero,
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
					if e.name != "sqlite" { // whose driver reads the text of a number, which says -0 too
						query = strings.Replace(query, "*", map[string]string{"keyed": "CAST(k AS CHAR), v",
							"pairs": "a, CAST(f AS CHAR)", "bag": "CAST(d AS CHAR), CAST(f AS CHAR)",
							"vals": "id, CAST(d AS CHAR), CAST(f AS CHAR)"}[table], 1)
					}
					for _, row := range readCell(t, pool(t, d), query) {
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
		if e.name != "sqlite" && servertest.OnMariaDB(t) {
			stored = 0 // it makes them 0
		}
		if n := strings.Count(strings.Join(want, " "), "-0"); n != stored {
			t.Fatalf("%d negative zeros are stored: %q", n, want)
		}
		options := oddAllowed
		options.Check.Tables = []rules.TablePolicy{{Tables: []string{"sums"}, Policy: rules.PolicyCombine,
			Columns: map[string]string{"gold": "sum"}}}
		p, into := mergeOf(t, e, all, options)
		if diff := cmp.Diff(want, rows(into)); diff != "" {
			t.Errorf("merged:\n%s", diff)
		}
		asked(t, into, "SELECT COUNT(*), SUM(gold) FROM sums", "1|10")
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		for _, c := range []struct{ table, column, do, back string }{
			{"vals", "d", "UPDATE vals SET d = 0.0 WHERE id = 10", "UPDATE vals SET d = ? WHERE id = 10"},
			{"keyed", "k", "UPDATE keyed SET k = 0.0 WHERE v = 2 AND k = 0", "UPDATE keyed SET k = ? WHERE v = 2 AND k = 0"},
			{"pairs", "f", "UPDATE pairs SET f = 0.0 WHERE a = 10 AND f = 0", "UPDATE pairs SET f = ? WHERE a = 10 AND f = 0"},
		} {
			exec(t, into, c.do)
			if slices.Equal(rows(into), want) {
				continue // the server takes them for the same and keeps what it has
			}
			proof := verified(t, p, into, all)
			of := proof.Tables[slices.IndexFunc(proof.Tables, func(p evidence.TableProof) bool { return p.Table == c.table })]
			if proof.Verdict != verdict.Fail || of.Changed != 1 || of.Missing != 0 || of.Others || len(of.Samples) != 1 ||
				!slices.Equal(of.Samples[0].Columns, []string{c.column}) {
				t.Errorf("%s: %+v", c.do, of)
			}
			db := pool(t, into)
			if _, err := db.Exec(c.back, negativeZero); err != nil {
				t.Fatal(err)
			}
			db.Close()
		}
		all = worlds("0.0")
		p, err := planner.NewPlan(t.Context(), e.fresh(t, "new"), all, options)
		if err != nil || !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
			return r.Code == verdict.CodeKeyCollision &&
				r.Table == "keyed"
		}) {
			t.Errorf("0 and -0 as keys: %v, %v", p.Refusals, err)
		}
	})
}
