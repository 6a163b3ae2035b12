package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// sameText finds the rows of a that are not in b, byte by byte.
const sameText = "a.id = b.id AND HEX(a.v) <=> HEX(b.v) AND HEX(a.w) <=> HEX(b.w) WHERE b.id IS NULL"

var ordinary = []string{"Größe", "Привет", "日本語テキスト", "한국어", "中文", "שלום", "ไทย", "Ελλάδα"}

func charsets(t *testing.T, d world.Database) []string {
	t.Helper()
	all := texts(t, d, "SELECT CHARACTER_SET_NAME FROM information_schema.CHARACTER_SETS "+
		"WHERE CHARACTER_SET_NAME <> 'binary' ORDER BY 1")
	if len(all) < 35 {
		t.Fatalf("%d character sets: %v", len(all), all)
	}
	return all
}

// codesWorld is a database with a table for each character set, which has codes of it: all of one
// byte, and with wide some of two. Ordinary text is there as well.
func codesWorld(t *testing.T, e worldtest.Engine, name string, first int, wide bool) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	statements := []string{"CREATE TABLE codes (n INT PRIMARY KEY, b VARBINARY(4) NOT NULL)"}
	var codes []string
	for i := range 256 {
		codes = append(codes, fmt.Sprintf("%02x", i))
	}
	for i := 0; wide && i < 256; i++ {
		for j := i % 11; j < 256; j += 11 {
			codes = append(codes, fmt.Sprintf("%02x%02x", i, j))
		}
	}
	codes = append(codes, "815c", "815f", "a1c0", "a1c3", "a140", "a2e8", "81ad", "a2a1", "d800", "0041d800", "3041",
		"84319534", "8fa2b7", "0001f600")
	for i, b := range codes {
		codes[i] = fmt.Sprintf("(%d, x'%s')", i, b)
	}
	for some := range slices.Chunk(codes, 4000) {
		statements = append(statements, "INSERT INTO codes VALUES "+strings.Join(some, ", "))
	}
	for _, charset := range charsets(t, d) {
		statements = append(statements,
			"CREATE TABLE t_"+charset+" (id INT PRIMARY KEY, v VARCHAR(40), w TEXT, n INT NOT NULL) CHARACTER SET "+charset,
			fmt.Sprintf("INSERT IGNORE INTO t_%s SELECT %d + n, CONVERT(b USING %[1]s), "+
				"CONCAT('A', CONVERT(b USING %[1]s), 'B'), 0 FROM codes WHERE HEX(CONVERT(b USING %[1]s)) = HEX(b)",
				charset, first),
			fmt.Sprintf("INSERT INTO t_%s VALUES (%d, 'Text, 0-9', NULL, 1), (%d, NULL, '', 1)", charset, first-1, first-2))
		for i, text := range ordinary {
			statements = append(statements, fmt.Sprintf("INSERT IGNORE INTO t_%s SELECT %d, CONVERT(s.v USING %[1]s), '', 1 "+
				"FROM (SELECT '%[3]s' AS v) AS s "+
				"WHERE CONVERT(CONVERT(s.v USING %[1]s) USING utf8mb4) COLLATE utf8mb4_bin = s.v", charset, first-3-i, text))
		}
	}
	worldtest.Exec(t, d, append(statements, "DROP TABLE codes")...)
	return d
}

// lossy sends the texts of a table to the client and back, and says which rows became others.
func lossy(t *testing.T, d world.Database, charset string) (ids []string) {
	t.Helper()
	db := worldtest.Pool(t, d)
	defer db.Close()
	worldtest.Exec(t, d, "CREATE TABLE back LIKE t_"+charset)
	defer worldtest.Exec(t, d, "DROP TABLE back")
	rows, err := db.Query("SELECT id, v, w, n FROM t_" + charset)
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	for rows.Next() {
		row := make([]any, 4)
		if err := rows.Scan(&row[0], &row[1], &row[2], &row[3]); err != nil {
			t.Fatal(err)
		}
		for i := range row {
			if b, ok := row[i].([]byte); ok {
				row[i] = string(b)
			}
		}
		args = append(args, row...)
	}
	insert := func(some []any) error {
		const row = "(?, ?, ?, ?)"
		_, err := db.Exec("INSERT IGNORE INTO back VALUES "+strings.Repeat(row+", ", len(some)/4-1)+row, some...)
		return err
	}
	for some := range slices.Chunk(args, 4*500) {
		if insert(some) == nil {
			continue
		}
		for row := range slices.Chunk(some, 4) {
			_ = insert(row) // what the server does not take does not come back
		}
	}
	return texts(t, d, "SELECT a.id FROM t_"+charset+" AS a LEFT JOIN back AS b ON "+sameText+" ORDER BY a.id")
}

func texts(t *testing.T, d world.Database, query string) (all []string) {
	t.Helper()
	for _, row := range worldtest.Rows(t, d, query) {
		all = append(all, row[0])
	}
	return all
}

// sameBytes checks that all rows of the worlds are in a database, byte by byte.
func sameBytes(t *testing.T, in world.Database, charset string, worlds ...world.Database) {
	t.Helper()
	want := int64(0)
	for _, w := range worlds {
		want += worldtest.Number(t, w, "SELECT COUNT(*) FROM t_"+charset)
		differ := fmt.Sprintf("SELECT COUNT(*) FROM %s.t_%s AS a LEFT JOIN %s.t_%[2]s AS b ON "+sameText,
			worldtest.Database(w), charset, worldtest.Database(in))
		if n := worldtest.Number(t, w, differ); n != 0 {
			t.Errorf("%s: %d rows of %s did not come as they are", charset, n, w.Name)
		}
	}
	if n := worldtest.Number(t, in, "SELECT COUNT(*) FROM t_"+charset); n != want {
		t.Errorf("%s: %d rows, want %d", charset, n, want)
	}
}

// Rows are sent in utf8mb4, and what that changes of text in another character set is refused, row
// by row: of each code of each character set it is known. All other text comes as it is.
func TestCharsets(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		if servertest.Kind(t) == servertest.MySQL {
			servertest.Long(t) // a server has a hundred thousand codes, and both read them in the same way
		}
		testCharsets(t)
	})
}

func testCharsets(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	e := worldtest.Engines()[1]
	all := []world.Database{codesWorld(t, e, "s1", 100_100, false), codesWorld(t, e, "s2", 200_100, *worldtest.Long)}
	want, names := make(map[string][]string), charsets(t, all[0])
	hit := 0
	for _, charset := range names {
		for _, d := range all {
			if ids := lossy(t, d, charset); len(ids) > 0 {
				hit, want[d.Name+" t_"+charset] = hit+1, ids
			}
		}
	}
	if hit < 30 {
		t.Errorf("only %d tables have text that does not come back", hit)
	}
	p := worldtest.Planned(t, e.Fresh(t, "new"), all, worldtest.OddAllowed)
	lost := make(map[string][]string)
	for _, r := range p.Refusals {
		table := r.Source + " " + r.Table
		_, find, _ := strings.Cut(r.Reason, "correct the values that SELECT *")
		find, _, _ = strings.Cut(find, " finds")
		world := all[slices.IndexFunc(all, func(d world.Database) bool { return d.Name == r.Source })]
		lost[table] = append(lost[table], texts(t, world, "SELECT id"+find+" ORDER BY id")...)
		n := worldtest.Number(t, world, "SELECT COUNT(*)"+find)
		if !strings.Contains(r.Reason, fmt.Sprintf(" in %s, such as row ", record.CountRows(n))) {
			t.Errorf("%v: want %d rows", r, n)
		}
	}
	for table, found := range lost {
		slices.Sort(found)
		if found = slices.Compact(found); !slices.Equal(found, want[table]) {
			t.Errorf("%s: refused %v, want %v", table, found, want[table])
		}
	}
	for table := range want {
		if lost[table] == nil {
			t.Errorf("%s is not refused", table)
		}
	}
	for _, d := range all {
		for _, charset := range names {
			if ids := want[d.Name+" t_"+charset]; len(ids) > 0 {
				worldtest.Exec(t, d, "DELETE FROM t_"+charset+" WHERE id IN ("+strings.Join(ids, ", ")+")")
			}
		}
	}
	p, into := worldtest.MergeOf(t, e, all, worldtest.OddAllowed)
	worldtest.Proved(t, p, into, all)
	for _, charset := range names {
		sameBytes(t, into, charset, all...)
	}
}

// All kinds of columns with text are looked into, of all rows that come and of no others.
func TestCharsetColumns(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	for i, d := range all {
		worldtest.Exec(t, d,
			"CREATE TABLE a (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(5), t TINYTEXT, m MEDIUMTEXT, l LONGTEXT, "+
				"e ENUM('x', x'5C'), g VARCHAR(9) AS (CONCAT(v, 'x')), `od``d` TEXT NOT NULL, u VARCHAR(5) CHARACTER SET utf8mb4, "+
				"b VARBINARY(5), o VARCHAR(5) CHARACTER SET latin1) CHARACTER SET sjis",
			"CREATE TABLE k (k VARCHAR(5) CHARACTER SET cp1251 PRIMARY KEY, n INT)",
			"CREATE TABLE m (v VARCHAR(5)) CHARACTER SET cp1251",
			"CREATE TABLE w (id INT PRIMARY KEY, v VARCHAR(5), gold INT) CHARACTER SET cp1251",
			"CREATE TABLE f (id INT PRIMARY KEY, v VARCHAR(5), kind INT NOT NULL) CHARACTER SET cp1251",
			"CREATE TABLE same (id INT PRIMARY KEY, v VARCHAR(5)) CHARACTER SET cp1251",
			"INSERT INTO same VALUES (1, '?')",
			fmt.Sprintf("INSERT INTO a (id, `od``d`, u, b, o) VALUES (%d, '', '\\\\', x'5C98', x'81')", i*10),
			fmt.Sprintf("INSERT INTO k VALUES ('k%d', 1)", i),
			fmt.Sprintf("INSERT INTO m VALUES ('m%d')", i),
			"INSERT INTO w VALUES (1, 'w', 1)",
			fmt.Sprintf("INSERT INTO f VALUES (%d, 'f', 0), (%d, x'98', 1)", 10*i+1, 10*i+2))
	}
	opts := worldtest.OddAllowed
	opts.Check.Tables = []rules.TablePolicy{
		{Tables: []string{"same"}, Policy: rules.PolicySame},
		{Tables: []string{"w"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum", "v": "append 4"}}}
	opts.Check.Leave = []rules.Leave{{Table: "f", Where: "kind = 1"}}
	worldtest.Exec(t, all[0], "UPDATE f SET v = x'98' WHERE kind = 0")
	refusals := func(opts planner.PlanOptions) string {
		t.Helper()
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, opts)
		return strings.ReplaceAll(fmt.Sprint(p.Refusals), "\n", " ")
	}
	first := `[database "s1": table "f": the column "v" has text in cp1251 that would change, ` +
		"because rows are sent in utf8mb4, in 1 row, such as row 1: correct the values that SELECT * FROM `f` WHERE " +
		"NOT ((`id` IS NOT NULL AND (`id` IN (2)))) AND NOT (CAST(`v` AS BINARY) <=> CAST(CONVERT(CONVERT(`v` USING utf8mb4) USING cp1251) AS BINARY)) finds]"
	if got := refusals(opts); got != first {
		t.Errorf("got\n%s\nwant\n%s", got, first)
	}
	worldtest.Exec(t, all[0], "UPDATE f SET v = '' WHERE kind = 0")
	if got := refusals(opts); got != "[]" {
		t.Errorf("corrected: %s", got)
	}
	for _, change := range []struct{ table, column, to, in, back string }{
		{"a", "c", "x'5C'", "s2", "NULL"}, {"a", "v", "x'5C'", "s2", "NULL"}, {"a", "t", "x'5C'", "s2", "NULL"},
		{"a", "m", "x'5C'", "s2", "NULL"}, {"a", "l", "REPEAT(x'5C', 100000)", "s2", "NULL"},
		{"a", "e", "2", "s2", "NULL"}, {"a", "od`d", "x'5C'", "s2", "''"}, {"m", "v", "x'98'", "s2", "'m1'"},
		{"w", "v", "x'98'", "s2", "'w'"}, {"w", "v", "x'98'", "s1", "'w'"}, {"k", "k", "x'98'", "s2", "'k1'"},
		{"same", "v", "x'98'", "s2", "'?'"}, {"same", "v", "x'98'", "s1", "'?'"},
	} {
		world := all[strings.Index("s1 s2", change.in)/3]
		set := "UPDATE " + change.table + " SET `" + strings.ReplaceAll(change.column, "`", "``") + "` = "
		worldtest.Exec(t, world, set+change.to)
		want := fmt.Sprintf("database %q: table %q: the column %q has text in ", change.in, change.table, change.column)
		if change.table == "k" {
			want += "cp1251 that would change, because rows are sent in utf8mb4, in 1 row, such as row ?: "
		}
		if got := refusals(opts); !strings.Contains(got, want) || strings.Count(got, "has text in") != 1 {
			t.Errorf("%+v:\n%s\nwant %s", change, got, want)
		}
		without := opts
		without.Check.Tables = append(slices.Clone(opts.Check.Tables), rules.TablePolicy{Tables: []string{change.table}, Policy: rules.PolicySkip})
		alone := "[]" // the rows of the first world come all the same
		if change.in == "s1" {
			alone = want
		}
		if got := refusals(without); !strings.Contains(got, alone) || alone != "[]" && strings.Count(got, "has text in") != 1 {
			t.Errorf("%+v, without the table: %s", change, got)
		}
		worldtest.Exec(t, world, set+change.back)
	}
	if got := refusals(opts); got != "[]" {
		t.Errorf("at the end: %s", got)
	}
}
