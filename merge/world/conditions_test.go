package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// refusedCase is a table t of a target, the same of a source, and the source's rows, which
// have id 1, 2, 3 and so on.
type refusedCase struct {
	target, source string
	rows           []string // values beside id
	code           string   // of what is found; more is in subject
	extra          int64    // rows that the target would take, but as something else
}

// What the check says the target would refuse is what the target refuses when the
// rows are inserted.
func TestRefusedRowsAreThose(t *testing.T) {
	t.Parallel()
	const check, partition, value = verdict.CodeRefusedCheck, verdict.CodeRefusedPartition, verdict.CodeRefusedValue
	same := func(target, source string) refusedCase { return refusedCase{target: target, source: source} }
	with := func(c refusedCase, code string, rows ...string) refusedCase { c.code, c.rows = code, rows; return c }
	cases := map[string][]refusedCase{
		"sqlite": {
			with(same("a INT CHECK (a > 0)", "a INT"), check, "1", "0", "NULL", "-5"),
			with(same("a INT CONSTRAINT pos CHECK /* why ) */ (t.A > 0 -- not 0\n AND a<>7)", "a INT"), check, "1", "0", "7", "8"),
			with(same("a TEXT COLLATE NOCASE, CHECK (a IN ('x', 'it''s', \"y\"))", "a TEXT COLLATE NOCASE"), check, "'X'", "'it''s'", "'y'", "'z'"),
			with(same("a TEXT CHECK (length(a) BETWEEN 2 AND 3), b INT CHECK (b IS NOT NULL), \"CHECK\" INT DEFAULT (1)", "a TEXT, b INT, \"CHECK\" INT"), check, "'aa', 1, 1", "'a', 1, 2", "'aaaa', 1, 3", "'abc', NULL, 1"),
			with(same("a JSON CHECK (json_valid(a))", "a JSON"), check, "'{}'", "'{'", "NULL"),
			with(same("a INT CHECK (CASE WHEN a > 3 THEN a < 5 ELSE a = 1 END)", "a INT"), check, "1", "2", "4", "9"),
			with(same("a CHECK (typeof(a) = 'integer')", "a"), check, "1", "'1x'", "x'00'"),
			with(same("a INT, b TEXT, c REAL, d BLOB, e ANY) STRICT --", "a INT, b TEXT, c REAL, d BLOB, e ANY"), value,
				"1, 'x', 1, x'00', 'y'", "NULL, NULL, NULL, NULL, NULL", "'x', 'x', 1, x'00', 1", "'7', 7, '1.5', x'00', 1", "1, x'00', 1, x'00', 1", "1, 'x', 'y', x'00', 1", "1, 'x', 1, 'z', 1"),
		},
		"mysql": {
			with(same("a INT CHECK (a > 0)", "a INT"), check, "1", "0", "NULL", "-5"),
			with(same("a VARCHAR(20), CONSTRAINT b1 CHECK (a <> 'it''s' AND a <> 'b\\\\s' AND a NOT LIKE '%é)%')", "a VARCHAR(20)"), check, "'x'", "'it''s'", "'b\\\\s'", "'aé)b'", "'aéb'"),
			with(same("a VARCHAR(20) COLLATE utf8mb4_bin, CHECK (a IN ('X', 'y'))", "a VARCHAR(20) COLLATE utf8mb4_bin"), check, "'X'", "'x'", "'y'"),
			with(same("a INT, b INT, CHECK (a + b BETWEEN 1 AND 5 OR a IS NULL)", "a INT, b INT"), check, "1, 1", "9, 9", "NULL, 7", "3, NULL"),
			with(same("a DATE, CHECK (a >= '2020-01-01')", "a DATE"), check, "'2020-01-01'", "'2019-12-31'", "'0000-00-00'"),
			with(same("a ENUM('x','it''s','b\\\\s')", "a ENUM('x','it''s','b\\\\s')"), value, "'x'", "'it''s'", "'b\\\\s'", "'zzz'", "''", "NULL"),
			with(same("a ENUM('','x')", "a ENUM('','x')"), value, "''", "'x'"),
			with(same("a ENUM('x','it''s')", "a VARCHAR(9)"), value, "'x'", "'IT''S'", "'y'", "''"),
			with(same("a SET('x','y')", "a SET('x','y','z')"), value, "'x,y'", "''", "'z'", "'x,z'", "'y'"),
			with(same("a TINYINT", "a INT"), value, "1", "-128", "-129", "127", "128"),
			with(same("a BIGINT UNSIGNED", "a BIGINT"), value, "1", "-1", "9223372036854775807"),
			with(same("a VARCHAR(3)", "a VARCHAR(9)"), value, "'abc'", "'abcd'", "'éêè'"),
			with(same("a VARCHAR(9) CHARACTER SET latin1", "a VARCHAR(9)"), value, "'abc'", "'é'", "'火'"),
			with(same("a TINYTEXT", "a TEXT"), value, "'abc'", "REPEAT('é', 127)", "REPEAT('é', 128)"),
			with(same("a VARBINARY(3)", "a BLOB"), value, "x'010203'", "x'01020304'"),
			with(same("a INT NOT NULL", "a INT"), value, "1", "NULL"),
			with(same("a DECIMAL(4,1)", "a DECIMAL(9,1)"), value, "1.5", "999.9", "1000"),
			with(refusedCase{"a DECIMAL(4,1)", "a DECIMAL(9,3)", nil, "", 1}, value, "1.5", "1.25", "1000"),
			with(same("a TIMESTAMP NULL", "a DATETIME"), value, "'2020-01-01'", "'1969-01-01'", "'2039-01-01'"),
			with(same("w INT, PRIMARY KEY (id, w)) PARTITION BY RANGE (w) (PARTITION a VALUES LESS THAN (5), PARTITION b VALUES LESS THAN (10)", "w INT, PRIMARY KEY (id, w)"), partition, "1", "9", "10", "-5"),
			with(same("d DATE) PARTITION BY RANGE (YEAR(d)) (PARTITION a VALUES LESS THAN (2020)", "d DATE"), partition, "'2019-05-05'", "'2020-01-01'", "NULL"),
			with(same("d DATE) PARTITION BY RANGE (YEAR(d)) (PARTITION a VALUES LESS THAN (2020), PARTITION b VALUES LESS THAN MAXVALUE", "d DATE"), "", "'2019-05-05'", "'2020-01-01'"),
			with(same("d DATE, n VARCHAR(5)) PARTITION BY RANGE COLUMNS (d, n) (PARTITION a VALUES LESS THAN ('2020-01-01', 'm')", "d DATE, n VARCHAR(5)"), partition,
				"'2019-01-01', 'z'", "'2020-01-01', 'a'", "'2020-01-01', NULL", "'2020-01-01', 'm'", "'2021-01-01', 'a'"),
			with(same("d INT, n INT) PARTITION BY RANGE COLUMNS (d, n) (PARTITION a VALUES LESS THAN (5, MAXVALUE)", "d INT, n INT"), partition, "5, 99", "6, 0", "NULL, 7"),
			with(same("w INT) PARTITION BY LIST (w) (PARTITION a VALUES IN (1, 2, NULL), PARTITION b VALUES IN (3)", "w INT"), partition, "1", "NULL", "3", "4"),
			with(same("w INT) PARTITION BY LIST (w) (PARTITION a VALUES IN (1, 2)", "w INT"), partition, "1", "NULL", "3"),
			with(same("w VARCHAR(5)) PARTITION BY LIST COLUMNS (w) (PARTITION a VALUES IN ('a', 'it''s', 'é')", "w VARCHAR(5)"), partition, "'a'", "'it''s'", "'é'", "'x'"),
			with(same("w VARCHAR(5), v INT) PARTITION BY LIST COLUMNS (w, v) (PARTITION a VALUES IN (('a', 1), ('b', 2)), PARTITION b VALUES IN (('c,', 3), (NULL, 4))", "w VARCHAR(5), v INT"), partition,
				"'a', 1", "'a', 2", "'c,', 3", "NULL, 4", "NULL, 5"),
		},
	}
	onlyMariaDB := []refusedCase{ // DEFAULT is the partition of the rest
		with(same("w INT) PARTITION BY LIST (w) (PARTITION a VALUES IN (1, 2), PARTITION b DEFAULT", "w INT"), "", "1", "0", "3", "NULL"),
		with(same("w VARCHAR(5)) PARTITION BY LIST COLUMNS (w) (PARTITION a VALUES IN ('a'), PARTITION b DEFAULT", "w VARCHAR(5)"), "", "'a'", "'x'", "NULL"),
		with(same("w INT, v INT) PARTITION BY LIST COLUMNS (w, v) (PARTITION a DEFAULT, PARTITION b VALUES IN ((1, 2))", "w INT, v INT"), "", "1, 2", "2, 2", "NULL, 2"),
		with(same("`PARTITION` INT COMMENT 'PARTITION b DEFAULT', `DEFAULT` INT) PARTITION BY LIST (`PARTITION`) (PARTITION a VALUES IN (0)", "`PARTITION` INT, `DEFAULT` INT"), partition, "0, 0", "3, 0"),
	}
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			kind := "mysql"
			if e.name == "sqlite" {
				kind = "sqlite"
			}
			target, source := e.world(t), e.world(t)
			cases := cases[kind]
			if kind == "mysql" && servertest.OnMariaDB(t) {
				cases = append(cases, onlyMariaDB...)
			}
			for i, c := range cases {
				id := "id INT NOT NULL, "
				create := func(definition string) string {
					return "CREATE TABLE " + fmt.Sprintf("t%02d", i) + " (" + id + definition + ")"
				}
				named := strings.NewReplacer("t.A", fmt.Sprintf("t%02d.A", i))
				target.exec(t, named.Replace(create(c.target)))
				conn, err := source.db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if kind == "mysql" {
					mustExec(t, conn, "SET sql_mode = ''")
				}
				mustExec(t, conn, create(c.source))
				for n, row := range c.rows {
					mustExec(t, conn, fmt.Sprintf("INSERT INTO t%02d VALUES (%d, %s)", i, n+1, row))
				}
				conn.Close()
			}
			found := checkAll(t, target, source)
			for i, c := range cases {
				table := fmt.Sprintf("t%02d", i)
				refused := refusedByInsert(t, kind, target, source, table)
				want := make(map[string]int64)
				if n := refused + c.extra; n > 0 {
					want[c.code] = n
				}
				got := make(map[string]int64)
				for _, r := range found {
					if r.Table != table {
						continue
					}
					if r.Verdict == verdict.NotVerified {
						t.Errorf("%s: %s: %v", c.target, r.Subject, r.Gaps)
					}
					if r.Count > 0 {
						got[r.Code] += r.Count
					}
					if len(r.Samples) != int(min(r.Count, rules.Samples)) {
						t.Errorf("%s: %d samples of %d", c.target, len(r.Samples), r.Count)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-refused +found):\n%s", c.target, diff)
				}
			}
		})
	}
}

// checkAll returns what is found of rows that the target would refuse.
func checkAll(t *testing.T, target, source *world) (found []verdict.Result) {
	t.Helper()
	report := checked(t, target, source)
	for _, r := range report.Results {
		switch r.Code {
		case verdict.CodeRefusedCheck, verdict.CodeRefusedPartition, verdict.CodeRefusedValue, verdict.CodeRefusedSize:
			found = append(found, r)
		}
	}
	return found
}

func checked(t *testing.T, target, source *world) *verdict.Report {
	t.Helper()
	a, err := Open(t.Context(), "a", target.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(t.Context(), "b", source.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	report, err := mergeCheck(t.Context(), []catalog.Source{a, b}, rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// refusedByInsert inserts the rows as a merge does, and counts those that the target
// refuses.
func refusedByInsert(t *testing.T, kind string, target, source *world, table string) (refused int64) {
	t.Helper()
	conn, err := target.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if kind == "mysql" {
		if err := sqldb.MySQL.Prepare(t.Context(), conn, sqldb.WriteRows); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range source.query(t, "SELECT * FROM "+table+" ORDER BY id") {
		if _, err := conn.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES ("+sqldb.Marks(len(row))+")", row...); err != nil {
			refused++
		}
	}
	return refused
}

// What cannot be evaluated on the rows of another database is not verified, and
// the reason says why.
func TestConditionsThatCannotBeTried(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		target, source := newSQLiteWorld(t), newSQLiteWorld(t)
		target.exec(t, "CREATE TABLE own (a TEXT CHECK (sqlite_version() <> a))", "CREATE TABLE coll (a TEXT COLLATE NOCASE CHECK (a <> 'X'))",
			"CREATE TABLE less (a INT, b INT, CHECK (a > b))", "CREATE TABLE row (a INT CHECK (rowid > 5))")
		source.exec(t, "CREATE TABLE own (a TEXT)", "CREATE TABLE coll (a TEXT)", "CREATE TABLE less (a INT)", "CREATE TABLE row (a INT)",
			"INSERT INTO own VALUES ('x')", "INSERT INTO coll VALUES ('x')", "INSERT INTO less VALUES (1)", "INSERT INTO row VALUES (1)")
		expectUnclear(t, checkAll(t, target, source), map[string]string{
			"own": "the result of sqlite_version may depend", "coll": "COLLATE BINARY here", "less": "has no column b", "row": "the result of rowid may depend"})
	})
	t.Run("mysql", func(t *testing.T) {
		target, source := newServerWorld(t), newServerWorld(t)
		want := map[string]string{"own": "the result of soundex may depend", "coll": "COLLATE utf8mb4_bin here", "less": "has no column b", "zeros": "a is ZEROFILL",
			"lax": "a strict server may refuse a row: the database says: Warning 1292: Truncated"}
		target.exec(t, "CREATE TABLE lax (id INT PRIMARY KEY, a VARCHAR(9), CHECK (a + 1 > 0))")
		source.exec(t, "CREATE TABLE lax (id INT PRIMARY KEY, a VARCHAR(9))", "INSERT INTO lax VALUES (1, '7'), (2, '1x')")
		target.exec(t, "CREATE TABLE zeros (a INT(5) ZEROFILL, CHECK (CONCAT(a) LIKE '000%'))", "CREATE TABLE own (a VARCHAR(9), CHECK (SOUNDEX(a) <> 'A'))", "CREATE TABLE coll (a VARCHAR(9) COLLATE utf8mb4_general_ci, CHECK (a <> 'X'))", "CREATE TABLE less (a INT, b INT, CHECK (a > b))")
		source.exec(t, "CREATE TABLE zeros (a INT(5) ZEROFILL)", "INSERT INTO zeros VALUES (7)", "CREATE TABLE own (a VARCHAR(9))", "CREATE TABLE coll (a VARCHAR(9) COLLATE utf8mb4_bin)", "CREATE TABLE less (a INT)",
			"INSERT INTO own VALUES ('x')", "INSERT INTO coll VALUES ('x')", "INSERT INTO less VALUES (1)")
		expectUnclear(t, checkAll(t, target, source), want)
	})
}

// What MySQL and MariaDB need not compute of a row that is there cannot be tried: they would say that it passes, and refuse it
// when it is written.
func TestConditionsThatServersSkip(t *testing.T) {
	t.Parallel()
	servertest.OnMySQLToo(t, func(t *testing.T) {
		target, source := newServerWorld(t), newServerWorld(t)
		check := func(name, condition string) {
			columns := "CREATE TABLE " + name + " (id INT PRIMARY KEY, a VARCHAR(9) NOT NULL, b INT, c BIGINT NOT NULL"
			target.exec(t, columns+", CHECK ("+condition+"))")
			source.exec(t, columns+")", "INSERT INTO "+name+" VALUES (1, '7', 5, 9)")
		}
		want := make(map[string]string)
		for i, condition := range []string{"c + 1 IS NOT NULL", "NOT (c - 10 IS NULL)", "COALESCE(CAST(a AS SIGNED), 0) IS NOT NULL", "ISNULL(c + 1) = 0",
			"IFNULL(c + 0, 1) IS NOT NULL", "b > 0 AND (c + 1) * 2 IS NOT NULL", "IF(b > 0, c + 1, 0) IS NOT NULL", "(b, c) IN ((5, 9), (6, 9))"} {
			name := fmt.Sprintf("skipped%d", i)
			check(name, condition)
			want[name] = "computed only when a row is written"
		}
		for i, condition := range []string{"a IS NOT NULL", "ISNULL(b) = 0", "b > 3 AND c IS NOT NULL", "COALESCE(b, c, 0) IS NOT NULL", "(b IS NULL) = (IFNULL(b, 'x') IS NULL)",
			"b IN (4, 5)", "IF(b > 3, 1, 0) = 1", "COALESCE(b, GREATEST(c, 1)) > 0", "CHAR_LENGTH(TRIM(a)) IS NOT NULL", "b + 1 IS NOT NULL", "(b / c) * 2 IS NOT NULL", "NULLIF(TRIM(a), '') IS NOT NULL", "c > 0 AND b - 1 IS NOT NULL", "(b + 1 > 3) IS TRUE", "(b + 1 > 9) IS NOT TRUE", "(CASE WHEN c IS NULL THEN 0 ELSE 1 END) = 1"} {
			check(fmt.Sprintf("tried%d", i), condition)
		}
		expectUnclear(t, checkAll(t, target, source), want)
	})
}

// Functions that depend on their arguments alone can be tried.
func TestPureFunctions(t *testing.T) {
	t.Parallel()
	common := []string{"json_set(j, '$.a', 1)", "json_insert(j, '$.b', 1)", "json_replace(j, '$.a', 1)", "json_remove(j, '$.a')", "json_quote('x')",
		"acos(x)", "asin(x)", "atan(x)", "cos(x)", "sin(x)", "tan(x)", "radians(x)", "degrees(x)", "pi() + x"}
	server := []string{"from_base64('YQ==')", "to_base64(j)", "json_overlaps(j, '[1]') + 1", "json_search('[\"a\"]', 'one', 'a')",
		"json_merge_patch(j, '{}')", "json_array_append(j, '$', 1)", "cot(x + 1)", "from_days(730000 + x)"}
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			target, source := e.world(t), e.world(t)
			all := append(slices.Clone(common), server...)
			switch e.name {
			case "sqlite":
				all = append(slices.Clone(common), "printf('%s', j)")
			case servertest.MySQL:
				all = append(all, "json_pretty(j)")
			}
			for i, function := range all {
				create := fmt.Sprintf("CREATE TABLE f%d (x DOUBLE, j VARCHAR(20)", i)
				check := function + " IS NOT NULL"
				if e.name != "sqlite" { // which may skip that
					check = "CONCAT(" + function + ", '') <> 'none'"
				}
				target.exec(t, create+", CHECK ("+check+"))")
				source.exec(t, create+")", fmt.Sprintf("INSERT INTO f%d VALUES (0.5, '{\"a\": 2}')", i))
			}
			tried := 0
			for _, r := range checkAll(t, target, source) {
				if r.Verdict != verdict.Pass {
					t.Errorf("%s: %s %v", r.Subject, r.Verdict, r.Gaps)
				}
				if r.Code == verdict.CodeRefusedCheck {
					tried++
				}
			}
			if tried < len(all) {
				t.Errorf("tried %d of %d", tried, len(all))
			}
		})
	}
}

func expectUnclear(t *testing.T, found []verdict.Result, want map[string]string) {
	t.Helper()
	for _, r := range found {
		if r.Code != verdict.CodeRefusedCheck || r.Verdict == verdict.Pass {
			continue
		}
		if r.Verdict != verdict.NotVerified || want[r.Table] == "" || !strings.Contains(r.Gaps[0].Reason, want[r.Table]) {
			t.Errorf("%s: %s: %v", r.Table, r.Verdict, r.Gaps)
		}
		delete(want, r.Table)
	}
	for table := range want {
		t.Errorf("%s: it passed", table)
	}
}

// A constraint that is not enforced refuses nothing, and only MySQL has such.
func TestNotEnforced(t *testing.T) {
	t.Parallel()
	servertest.Needs(t, servertest.MySQL)
	target, source := newServerWorld(t), newServerWorld(t)
	target.exec(t, "CREATE TABLE off (a INT, CONSTRAINT one CHECK (a > 1) NOT ENFORCED, CONSTRAINT two CHECK (a > 0))")
	source.exec(t, "CREATE TABLE off (a INT)", "INSERT INTO off VALUES (1)")
	found := checkAll(t, target, source)
	if len(found) != 1 || found[0].Subject != "two" || found[0].Verdict != verdict.Pass {
		t.Errorf("found %v", found)
	}
}

// What a schema does besides holding rows is compared.
func TestDriftOfRealDatabases(t *testing.T) {
	t.Parallel()
	target, source := newServerWorld(t), newServerWorld(t)
	const up = "CREATE TABLE up (id INT PRIMARY KEY)"
	target.exec(t, up, "CREATE TABLE a (id INT PRIMARY KEY, u INT, CONSTRAINT f FOREIGN KEY (u) REFERENCES up (id))", "CREATE TABLE b (id INT PRIMARY KEY, u INT, CHECK (u > 0))")
	source.exec(t, up, "CREATE TABLE a (id INT PRIMARY KEY, u INT, CONSTRAINT f FOREIGN KEY (u) REFERENCES up (id) ON DELETE SET NULL ON UPDATE CASCADE)",
		"CREATE TABLE b (id INT PRIMARY KEY, u INT, CHECK (u > 1))",
		"CREATE PROCEDURE p () SELECT 1", "CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO DELETE FROM a WHERE id < 0",
		"ALTER DATABASE CHARACTER SET latin1")
	want := map[string]string{
		"schema-reference a": "foreign key u → up.id is not the same as in a: ON DELETE SET NULL ON UPDATE CASCADE, and no action",
		"schema-check b":     "is not in a: after the merge nothing enforces it",
		"schema-routine ":    "EVENT daily is not in a: it would be lost",
		"schema-charset ":    "default collation is not the same as in a: latin1_swedish_ci, and utf8mb4_",
	}
	for _, r := range checked(t, target, source).Results {
		at := r.Code + " " + r.Table
		if want[at] == "" {
			continue
		}
		if r.Verdict != verdict.NotVerified || !strings.Contains(r.Gaps[0].Reason, want[at]) {
			t.Errorf("%s: %s: %v", at, r.Verdict, r.Gaps)
		}
		if r.Code == verdict.CodeSchemaRoutine && len(r.Gaps) != 2 {
			t.Errorf("routines: %v", r.Gaps)
		}
		delete(want, at)
	}
	for at := range want {
		t.Errorf("%s: no finding", at)
	}
}
