package check_test

import (
	"testing"

	"mergesafe/merge/verdict"
)

// Columns and keys of all types are compared, or the check says that they are not.
func TestOpenColumnsOfAllTypes(t *testing.T) {
	key := "CREATE TABLE @.k (id BIGINT NOT NULL PRIMARY KEY)"
	keys := func(ids ...string) []string { // of a world each
		var all []string
		for _, s := range ids {
			all = append(all, "INSERT INTO @.k VALUES "+s)
		}
		return all
	}
	k := keys("(7),(8),(1900)", "(107),(108),(2107)")
	// column is a table with an undeclared column of a type, in which a row of each world
	// has a value.
	column := func(name, sqlType, first, second string, open int64) example {
		e := example{name: name, tables: []string{key, "CREATE TABLE @.t (id BIGINT NOT NULL PRIMARY KEY, v " + sqlType + ")"}, want: verdict.NotVerified, open: map[string]int64{"t.v": open},
			rows: [][]string{{k[0], "INSERT INTO @.t (id, v) VALUES (-1, " + first + ")"}, {k[1], "INSERT INTO @.t (id, v) VALUES (-2, " + second + ")"}}}
		if open == 0 {
			e.want, e.open = verdict.Pass, map[string]int64{}
		}
		return e
	}
	onServer := func(e example) example { e.server = true; return e }
	onSQLite := func(e example) example { e.sqlite = true; return e }
	// keyed is a table with a key of a type that a column of another table names.
	keyed := func(name, keyType, valueType, first, second, value string, open map[string]int64) example {
		return example{name: name, tables: []string{"CREATE TABLE @.p (id " + keyType + " NOT NULL PRIMARY KEY)", "CREATE TABLE @.t (id BIGINT NOT NULL PRIMARY KEY, v " + valueType + ")"}, want: verdict.NotVerified, open: open,
			rows: [][]string{{"INSERT INTO @.p VALUES (" + first + ")", "INSERT INTO @.t VALUES (-1, " + value + ")"}, {"INSERT INTO @.p VALUES (" + second + ")", "INSERT INTO @.t VALUES (-2, NULL)"}}}
	}
	v1 := map[string]int64{"t.v": 1}
	proveAll(t, []example{
		column("integer", "INTEGER", "107", "8", 2),
		column("NULL", "INTEGER", "NULL", "NULL", 0),
		onServer(column("TINYINT", "TINYINT", "107", "8", 2)),
		onServer(column("BOOLEAN", "BOOLEAN", "TRUE", "107", 0)),
		onServer(column("YEAR", "YEAR", "2107", "1900+1", 1)),
		onServer(column("BIT", "BIT(16)", "b'1101011'", "b'1000'", 2)),
		onServer(column("ZEROFILL", "INT(40) ZEROFILL", "107", "8", 2)),
		onServer(column("DECIMAL", "DECIMAL(12,3)", "107.000", "8.5", 1)),
		column("DOUBLE", "DOUBLE", "107", "8.5", 1),
		onServer(column("FLOAT", "FLOAT", "107", "8", 2)),
		onServer(column("generated", "INT GENERATED ALWAYS AS (id + 108) STORED", "DEFAULT", "DEFAULT", 1)),
		onServer(column("ENUM", "ENUM('107','8','x')", "'107'", "'8'", 2)),
		onServer(column("binary text", "VARCHAR(30) CHARACTER SET binary", "'107'", "'x 8'", 2)),
		onServer(column("VARBINARY", "VARBINARY(30)", "'107 0'", "'8'", 2)),
		onServer(column("latin1", "VARCHAR(30) CHARACTER SET latin1", "'né 107'", "'8'", 2)),
		onServer(column("utf8mb3", "VARCHAR(30) CHARACTER SET utf8mb3", "'né 107'", "'8'", 2)),
		onServer(column("utf16", "VARCHAR(30) CHARACTER SET utf16", "'né 107'", "'8'", 2)),
		onServer(column("TEXT", "LONGTEXT", "'né 107'", "'8'", 2)),
		onSQLite(column("NUMERIC", "NUMERIC", "107", "8", 2)),
		onSQLite(column("no type", "", "107", "'so 8'", 2)),
		onSQLite(column("BLOB", "TEXT", "'107'", "'8'", 2)),
		column("DATETIME", "DATETIME", "'2020-01-01 10:08:07'", "'2020-01-01'", 0),
		onServer(keyed("a key that is DECIMAL", "DECIMAL(20,0)", "BIGINT", "7", "107", "107", v1)),
		onServer(keyed("keys that are DECIMAL, both", "DECIMAL(20,0)", "DECIMAL(20,0)", "7", "107", "107", v1)),
		onServer(keyed("a key with a fraction", "DECIMAL(20,1)", "DECIMAL(20,1)", "7.5", "107.5", "107.5", map[string]int64{"p.id as a key": -1})),
		onServer(keyed("a key that is DOUBLE", "DOUBLE", "BIGINT", "7", "107", "107", v1)),
		onServer(keyed("a key that is BIT", "BIT(20)", "BIGINT", "b'111'", "b'1101011'", "107", v1)),
		onServer(keyed("a key that is a SET", "SET('a','b')", "SET('a','b')", "'a'", "'b'", "'b'", map[string]int64{"p.id as a key": -1})),
		onServer(keyed("a key that is an ENUM", "ENUM('gold','silver')", "ENUM('gold','silver')", "'gold'", "'silver'", "'silver'", v1)),
		onServer(keyed("a key that is VARBINARY", "VARBINARY(20)", "VARCHAR(20)", "'Aria'", "'Bran'", "'Bran'", v1)),
		onServer(keyed("a key that is VARBINARY, in another text", "VARBINARY(20)", "VARCHAR(20)", "'Aria'", "'Bran'", "'to Bran!'", v1)),
		onServer(keyed("a key that is INET6", "VARCHAR(40)", "VARCHAR(40)", "'::1'", "'::2'", "'::2'", v1)),
		onServer(keyed("accents that are equal", "VARCHAR(20) COLLATE utf8mb4_unicode_ci", "VARCHAR(20) COLLATE utf8mb4_bin", "'Aria'", "'Élan'", "'elan'", v1)),
		onServer(keyed("spaces that do not count", "CHAR(20) COLLATE utf8mb4_unicode_ci", "VARCHAR(20) COLLATE utf8mb4_unicode_ci", "'Aria'", "'Bran'", "'Bran  '", v1)),
		onServer(keyed("a key in latin1", "VARCHAR(20) CHARACTER SET latin1", "VARCHAR(20)", "'Aria'", "'Bränd'", "'Bränd'", v1)),
		onServer(keyed("BIGINT UNSIGNED", "BIGINT UNSIGNED", "VARCHAR(40)", "9223372036854775809", "18446744073709551615", "'18446744073709551615'", v1)),
		onSQLite(keyed("a key that is NUMERIC", "NUMERIC", "INTEGER", "7", "107", "107", v1)),
		onSQLite(keyed("a key without a type", "", "INTEGER", "7", "107", "107", v1)),
		onSQLite(keyed("negative, without a type", "INTEGER", "", "-7", "-107", "-107", v1)),
	})
}
