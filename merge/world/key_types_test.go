package world_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// keyType is a type that a column of a key can have, with values: SQL, and no two are equal.
type keyType struct {
	column string
	values []string
	exact  string // an expression that tells values apart which are printed alike; may be empty
}

// valuesOf are n values.
func valuesOf(n int, value func(i int) string) (all []string) {
	for i := range n {
		all = append(all, value(i))
	}
	return all
}

// numbersOf are numbers between two, the ends too.
func numbersOf(low, high int64) []string {
	n := min(high-low, 800)
	step := float64(high-low) / float64(n)
	return valuesOf(int(n)+1, func(i int) string { return fmt.Sprint(low + int64(step*float64(i))) })
}

// textsOf are words that sort in one way by their letters and in others by their bytes, some of them with
// another letter or a space at the end.
func textsOf(letters string) []string {
	some := []rune(letters)
	return valuesOf(600, func(i int) string {
		word := string([]rune{some[i%len(some)], some[i/len(some)%len(some)]}) + fmt.Sprint(i)
		if i%5 == 0 {
			word += " "
		}
		return fmt.Sprintf("CONVERT(x'%x' USING utf8mb4)", word)
	})
}

// asNumber tells the values of a BIT, an ENUM or a SET apart.
const asNumber = "CAST(x AS UNSIGNED)"

const westernLetters, easternLetters = "aBzZ _äÖßé'\t", "aZ 中国あア"

// mysqlKeyTypes are the types of a server; both is how many of them MariaDB and MySQL have, which come first.
func mysqlKeyTypes(mariadb bool) (types []keyType, both int) {
	bits := func(n int) keyType {
		most := uint64(1)<<n - 1
		values := min(most, 600)
		return keyType{column: fmt.Sprintf("BIT(%d)", n), exact: asNumber,
			values: valuesOf(int(values)+1, func(i int) string { return fmt.Sprint(most / values * uint64(i)) })}
	}
	times := func(column string, values ...string) keyType {
		// In some zones there are two of an hour among these, and in others none.
		return keyType{column: column, values: append(values, valuesOf(500, func(i int) string {
			return time.Date(2001, 10, 28, 0, 20*i, 0, 0, time.UTC).Format("'2006-01-02 15:04:05'")
		})...)}
	}
	texts := func(column, letters string) keyType { return keyType{column: column, values: textsOf(letters)} }
	members := valuesOf(300, func(i int) string { return fmt.Sprintf("'m%d'", i*7919%300) })
	all := []keyType{
		{column: "TINYINT", values: numbersOf(-128, 127)}, {column: "SMALLINT UNSIGNED", values: numbersOf(0, 65535)},
		{column: "MEDIUMINT",
			values: numbersOf(-8388608, 8388607)},
		{column: "INT",
			values: numbersOf(-2147483648, 2147483647)},
		{column: "BIGINT",
			values: valuesOf(600, func(i int) string { return fmt.Sprint(int64(i-300) * 30744573456182586) })},
		{column: "BIGINT UNSIGNED",
			values: valuesOf(600, func(i int) string { return fmt.Sprint(uint64(i) * 30744573456182586) })},
		{column: "DECIMAL(38,4)",
			values: valuesOf(600, func(i int) string {
				return fmt.Sprintf("%s123456789012345678901234567890.%04d", "-"[i%2:], i)
			})},
		{column: "DECIMAL(65,0)",
			values: valuesOf(600, func(i int) string { return "9" + strings.Repeat("1", 60) + fmt.Sprint(1000+i) })},
		{column: "DECIMAL(5,0) UNSIGNED ZEROFILL", values: numbersOf(0, 99999)},
		{column: "FLOAT", exact: "x + 0e0",
			values: valuesOf(600, func(i int) string { return fmt.Sprintf("%de-6", (i-300)*16777) })},
		{column: "DOUBLE", exact: "x + 0e0",
			values: valuesOf(600, func(i int) string { return fmt.Sprintf("%d.1e%d", i-300, i%40-20) })},
		bits(1), bits(8), bits(9), bits(40), bits(63), bits(64),
		{column: "YEAR", values: append(numbersOf(1901, 2155), "'0000'")},
		{column: "DATE",
			values: append(valuesOf(600, func(i int) string {
				return time.Date(1000+i, 1, i, 0, 0, 0, 0, time.UTC).Format("'2006-01-02'")
			}),
				"'0000-00-00'", "'2024-00-15'", "'2024-02-00'", "'2024-02-31'", "'9999-12-31'")},
		{column: "TIME",
			values: valuesOf(600, func(i int) string { return fmt.Sprintf("SEC_TO_TIME(%d)", (i-300)*10000) })},
		{column: "TIME(6)",
			values: append(valuesOf(600, func(i int) string {
				return fmt.Sprintf("SEC_TO_TIME(%d.00000%d)", (i-300)*9999, i%10)
			}), "'-838:59:59'", "'-00:00:00.000001'")},
		times("DATETIME", "'0000-00-00 00:00:00'", "'2024-00-15 01:02:03'", "'2024-02-31 23:59:59'", "'9999-12-31 23:59:59'"),
		times("DATETIME(6)", "'0000-00-00'", "'2024-02-31 23:59:59.999999'",
			"'1000-01-01 00:00:00.000001'", "'1000-01-01 00:00:00.000010'"),
		times("TIMESTAMP", "'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"),
		times("TIMESTAMP(3)", "'1970-01-01 00:00:01.001'", "'2001-10-28 00:59:59.999'"),
		texts("CHAR(12)", westernLetters), texts("CHAR(12) COLLATE utf8mb4_bin", westernLetters),
		texts("VARCHAR(12) COLLATE utf8mb4_bin", easternLetters+"😀"),
		texts("VARCHAR(12) COLLATE utf8mb4_general_ci", westernLetters),
		texts("VARCHAR(12) COLLATE utf8mb4_unicode_ci", easternLetters),
		texts("VARCHAR(12) COLLATE utf8mb4_german2_ci", westernLetters),
		texts("VARCHAR(12) CHARACTER SET latin1", westernLetters),
		texts("VARCHAR(12) CHARACTER SET latin1 COLLATE latin1_german2_ci", westernLetters),
		texts("VARCHAR(12) CHARACTER SET ascii", "abcXYZ _'"),
		texts("VARCHAR(12) CHARACTER SET utf8mb3", easternLetters),
		texts("VARCHAR(12) CHARACTER SET gbk", easternLetters),
		texts("VARCHAR(12) CHARACTER SET sjis", "aZ あア国"),
		texts("VARCHAR(12) CHARACTER SET euckr", "aZ 가"),
		texts("VARCHAR(12) CHARACTER SET ucs2", easternLetters),
		texts("VARCHAR(12) CHARACTER SET utf16", easternLetters+"😀"),
		texts("VARCHAR(12) CHARACTER SET utf32", easternLetters+"😀"),
		{column: "VARCHAR(700) COLLATE utf8mb4_bin",
			values: valuesOf(300, func(i int) string { return fmt.Sprintf("CONCAT(REPEAT('x', 600), %d)", i) })},
		{column: "BINARY(4)",
			values: valuesOf(600, func(i int) string { return fmt.Sprintf("x'%02x%04x00'", i%3, i*100) })},
		{column: "VARBINARY(20)",
			values: valuesOf(600, func(i int) string { return fmt.Sprintf("x'%02x%s'", i/8, strings.Repeat("00", i%8)) })},
		{column: "VARBINARY(1600)",
			values: valuesOf(300, func(i int) string { return fmt.Sprintf("CONCAT(REPEAT('x', 1500), %d)", i) })},
		{column: "ENUM('b', 'a')", exact: asNumber, values: []string{"'a'", "'b'"}},
		{column: "ENUM('warrior', 'Mage', 'archer', '')", exact: asNumber,
			values: []string{"'warrior'", "'Mage'", "'archer'", "''"}},
		{column: "ENUM('z''z', 'y,y', 'x\"x', '\\\\', '(', '10', '9', '2')", exact: asNumber,
			values: []string{"'z''z'", "'y,y'", "'x\"x'", "'\\\\'", "'('", "'10'", "'9'", "'2'"}},
		{column: "ENUM('ö', 'o', 'ä', 'ß') CHARACTER SET latin1 COLLATE latin1_bin", exact: asNumber,
			values: []string{"'ö'", "'o'", "'ä'", "'ß'"}},
		{column: "ENUM('国', '中', 'a') CHARACTER SET gbk", exact: asNumber,
			values: []string{"'国'", "'中'", "'a'"}},
		{column: "ENUM(" + strings.Join(members, ", ") + ")", exact: asNumber, values: members},
		{column: "SET('q', 'p', 'r')", exact: asNumber,
			values: valuesOf(8, func(i int) string { return fmt.Sprint(i) })},
		{column: "SET('ö', 'z''z', ' a') CHARACTER SET latin1", exact: asNumber,
			values: valuesOf(8, func(i int) string { return fmt.Sprint(i) })},
		{column: "SET(" + strings.Join(members[:64], ", ") + ")", exact: asNumber,
			values: valuesOf(600, func(i int) string { return fmt.Sprint(uint64(i) * 30744573456182586) })},
	}
	if !mariadb {
		return append(all, texts("VARCHAR(12) COLLATE utf8mb4_0900_ai_ci", westernLetters),
			texts("VARCHAR(12) COLLATE utf8mb4_0900_as_cs", easternLetters),
			texts("CHAR(12) COLLATE utf8mb4_0900_bin", westernLetters),
			keyType{column: "ENUM('Ö', 'o', 'z') COLLATE utf8mb4_0900_as_cs", exact: asNumber,
				values: []string{"'Ö'", "'o'", "'z'"}}), len(all)
	}
	return append(all, texts("VARCHAR(12) COLLATE utf8mb4_nopad_bin", westernLetters),
		texts("CHAR(12) COLLATE utf8mb4_unicode_520_nopad_ci", westernLetters),
		texts("VARCHAR(12) COLLATE utf8mb4_uca1400_ai_ci", westernLetters),
		keyType{column: "UUID", values: valuesOf(600, func(i int) string {
			return fmt.Sprintf("'%08x-%04x-%04x-8000-%012x'", i*7919, i%7, 0x1000*(i%8), 600-i)
		})},
		keyType{column: "INET4",
			values: valuesOf(600, func(i int) string { return fmt.Sprintf("'%d.%d.2.3'", i%256, i/256) })},
		keyType{column: "INET6", values: valuesOf(600, func(i int) string {
			return fmt.Sprintf([]string{"'::%x'", "'%x::1'", "'::ffff:1.2.%d.4'", "'2001:db8::%x:0'"}[i%4], i/4+2)
		})}), len(all)
}

func sqliteKeyTypes() []keyType {
	mixed := slices.Concat([]string{"''", "x''", "9223372036854775807", "-1e300"},
		valuesOf(200, func(i int) string { return fmt.Sprint(i - 100) }),
		valuesOf(200, func(i int) string { return fmt.Sprintf("%d.5", i-100) }),
		valuesOf(200, func(i int) string { return fmt.Sprintf("'%d.5x'", i) }),
		valuesOf(200, func(i int) string { return fmt.Sprintf("x'%04x'", i*100) }))
	quoted := func(value string) string {
		return strings.NewReplacer("CONVERT(x", "CAST(x", " USING utf8mb4)", " AS TEXT)").Replace(value)
	}
	var texts []string
	for _, value := range textsOf(westernLetters + easternLetters) {
		texts = append(texts, quoted(value))
	}
	big := valuesOf(600, func(i int) string { return fmt.Sprint(int64(i-300) * 30744573456182586) })
	reals := valuesOf(600, func(i int) string { return fmt.Sprintf("%d.25e%d", i-300, i%40-20) })
	return []keyType{
		{column: "INTEGER",
			values: big},
		{column: "INT",
			values: append(mixed[404:700:700], big...)},
		{column: "BOOLEAN",
			values: []string{"0", "1"}},
		{column: "REAL", values: append(reals, "0.0", "1e300", "'x'", "x'00'")},
		{column: "TEXT",
			values: append(texts, "x'0041'", "x'ff'")},
		{column: "TEXT COLLATE NOCASE",
			values: texts},
		{column: "VARCHAR(12) COLLATE RTRIM",
			values: texts},
		{column: "BLOB",
			values: append(mixed, "'7'", "7", "7.25")},
		{column: "",
			values: mixed},
		{column: "NUMERIC",
			values: mixed},
		{column: "DECIMAL(10,5)",
			values: mixed},
		{column: "DATETIME",
			values: append(mixed, "'2024-02-31'", "'2024-01-02 03:04:05'")},
		{column: "TIMESTAMP",
			values: mixed},
		{column: "DATE",
			values: mixed},
	}
}

// typedTable is one table of a type: where in its key the column is.
type typedTable struct {
	keyType
	name, key, create string
}

// typedTables are the tables of a type, with the column as first, middle and last part of a key, and as all of it.
func typedTables(n int, of keyType, suffix string) (all []typedTable) {
	for _, key := range []string{"x, id", "a, x, id", "a, x", "x"} {
		name := fmt.Sprintf("t%d_%d", n, len(all))
		create := fmt.Sprintf("CREATE TABLE %s (v INTEGER NULL, id INTEGER NOT NULL, a INTEGER NOT NULL, x %s NOT NULL, ", name, of.column)
		all = append(all, typedTable{of, name, key, create + "PRIMARY KEY (" + key + "))" + suffix})
	}
	return all
}

// fill gives a table the rows of one of several worlds.
func (k typedTable) fill(run func(query string), world, rows int) {
	rnd := rand.New(rand.NewPCG(3, uint64(len(k.values))))
	values := slices.Clone(k.values)
	rnd.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	var all []string
	for i := range rows {
		x, a := i%len(values), i/len(values)*3+world // each value once with each
		switch k.key {
		case "a, x, id":
			a = i % 3
		case "x":
			x = 3*i + world
		}
		if x < len(values) {
			all = append(all, fmt.Sprintf("(%d, %d, %d, %s)", rnd.IntN(1000), 3*i+world, a, values[x]))
		}
	}
	for some := range slices.Chunk(all, 500) {
		run("INSERT INTO " + k.name + " (v, id, a, x) VALUES " + strings.Join(some, ", "))
	}
}

// typedWorlds makes three worlds with the rows of these tables, and one that has the rows of all.
func typedWorlds(t *testing.T, e worldtest.Engine, tables []typedTable, rows ...int) (all []world.Database, oracle world.Database) {
	t.Helper()
	for world, n := range append(rows, 0) {
		d := e.Fresh(t, fmt.Sprint("s", world+1))
		db := worldtest.Pool(t, d)
		db.SetMaxOpenConns(1)
		run := func(query string) {
			t.Helper()
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%.300s: %v", query, err)
			}
		}
		if e.Name != "sqlite" {
			run("SET SESSION sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES', time_zone = '+00:00'")
		}
		run("BEGIN")
		for _, k := range tables {
			run(k.create)
			k.fill(run, world, n)
		}
		run("COMMIT")
		if all, oracle = append(all, d), d; len(all) <= len(rows) {
			db.Close()
			continue
		}
		for i, from := range all[:len(rows)] {
			name := fmt.Sprint("w", i)
			if e.Name == "sqlite" {
				run("ATTACH '" + strings.TrimPrefix(from.DSN, "sqlite:") + "' AS " + name)
			} else {
				name = worldtest.Database(from)
			}
			for _, k := range tables {
				run("INSERT INTO " + k.name + " SELECT * FROM " + name + "." + k.name)
			}
		}
		db.Close()
	}
	return all[:len(rows)], oracle
}

// hashes are what SQL says of the rows of each table: their number, and a hash over all of them.
func (k typedTable) hash(t *testing.T, e worldtest.Engine, d world.Database) string {
	t.Helper()
	if e.Name == "sqlite" {
		const row = "SELECT typeof(x) || quote(x) || ' ' || a || ' ' || id || ' ' || v AS r FROM "
		return fmt.Sprint(worldtest.Rows(t, d, "SELECT COUNT(*), group_concat(r) FROM ("+row+k.name+" ORDER BY r)"))
	}
	row := "HEX(x), CAST(x AS CHAR), a, id, v"
	if k.exact != "" {
		row += ", " + k.exact
	}
	row = "SHA2(CONCAT_WS('|', " + row + "), 256)"
	const sums = "SELECT COUNT(*), SUM(CONV(LEFT(%[1]s, 8), 16, 10)), SUM(CONV(RIGHT(%[1]s, 8), 16, 10)) FROM %[2]s"
	return fmt.Sprint(worldtest.Rows(t, d, fmt.Sprintf(sums, row, k.name)))
}

// stopped runs a step that ends at some points, before a transaction is committed, in it and after, and once more
// to its end; in the short form at two of them.
func stopped(t *testing.T, step func(job.Hooks) error) {
	t.Helper()
	for n, point := range []string{"after commit", "before commit", "after commit", "before drop", "after insert", ""} {
		if !*worldtest.Long && (point == "after commit" || point == "after insert") {
			continue
		}
		var left atomic.Int64 // workers share it
		left.Store(int64(2 * n))
		h := job.Hooks{Batch: time.Microsecond, Fail: func(at string) error {
			if at == point && left.Add(-1) < 0 {
				return worldtest.ErrKilled
			}
			return nil
		}}
		if err := step(h); err != nil && (point == "" || !errors.Is(err, worldtest.ErrKilled)) {
			t.Fatalf("stopped %d times: %v", n, err)
		}
	}
}

// typedOptions declare that the columns name nothing.
func typedOptions(e worldtest.Engine) planner.PlanOptions {
	options := planner.PlanOptions{Check: rules.Options{
		Rules: []rules.Declarations{{Plain: []string{"*.a", "*.id", "*.v"}, Shared: []string{"*.x"}}},
		Allow: []string{verdict.CodeAutoIncrement},
	}}
	if e.Name == "sqlite" { // the check compares no value that is not of the declared type
		options.Check.Allow = append(options.Check.Allow, verdict.CodeKeyCollision)
	}
	return options
}

// typedMerge carries out a plan for tables and undoes it, stopped in each step: afterwards the new database has what
// SQL puts together, and at the end nothing is left of it.
func typedMerge(t *testing.T, e worldtest.Engine, tables []typedTable, options planner.PlanOptions, all []world.Database, oracle world.Database) {
	t.Helper()
	have := func(when string, d world.Database, want func(k typedTable) string) {
		t.Helper()
		for _, k := range tables {
			if got, want := k.hash(t, e, d), want(k); got != want {
				t.Errorf("%s: after the %s %s has %.300s, want %.300s", k.create, when, d.Name, got, want)
			}
		}
	}
	before := make([]map[string]string, len(all))
	for i, d := range all {
		before[i] = make(map[string]string)
		for _, k := range tables {
			before[i][k.name] = k.hash(t, e, d)
		}
	}
	p, into := worldtest.PlanOf(t, e, all, options)
	stopped(t, func(h job.Hooks) error {
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, h)
		return err
	})
	have("merge", into, func(k typedTable) string { return k.hash(t, e, oracle) })
	proof := worldtest.Verified(t, p, into, all)
	if proof.Verdict == verdict.Fail || proof.Verdict != verdict.Pass && len(p.Check.Allowed) == 0 {
		t.Errorf("%+v", proof)
	}
	stopped(t, func(h job.Hooks) error {
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, h)
		if errors.Is(err, record.ErrNoMerge) {
			err = nil
		}
		return err
	})
	worldtest.Dropped(t, into)
	for i, d := range all {
		have("undo", d, func(k typedTable) string { return before[i][k.name] })
	}
}

// A column of any type may be any part of a key: its rows come, are proved and go again, whatever the order and the
// form that the database has for its values.
func TestKeyTypes(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		types, both, suffixes := sqliteKeyTypes(), 0, []string{"", " WITHOUT ROWID"}
		if e.Name != "sqlite" {
			types, both = mysqlKeyTypes(servertest.OnMariaDB(t))
			suffixes = []string{""}
		}
		merged := func(t *testing.T, tables []typedTable, ranges int64, rows ...int) {
			all, oracle := typedWorlds(t, e, tables, rows...)
			options := typedOptions(e)
			options.RangeRows = ranges
			typedMerge(t, e, tables, options, all, oracle)
		}
		var some []typedTable
		cases := 0
		for i, of := range types {
			for j, suffix := range suffixes {
				tables := typedTables(100*j+i, of, suffix)
				cases += len(tables)
				if *worldtest.Long {
					t.Run(fmt.Sprintf("%.20q%s", of.column, suffix), func(t *testing.T) { merged(t, tables, 1000, 300, 3000, 500) })
				} else if i >= both || servertest.OnMariaDB(t) == (i%2 == 0) {
					some = append(some, tables[(i+j)%4]) // of the types that both servers have, each takes half
				}
			}
		}
		if *worldtest.Long {
			t.Logf("%d types, %d keys of them", len(types), cases)
			return
		}
		merged(t, some, 20, 100, 60)
	})
}
