package world_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
)

// A world of every kind of object is made again in stages: as the server describes it, and as it lists what there is.
func TestMadeAgain(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		world := e.database(t, e.world...)
		s := read(t, world)
		there := e.fresh(t)
		if e.name != "sqlite" {
			run(t, there, "DROP DATABASE {own}")
		}
		to := writer(t, there)
		if err := makeAll(t, s, to); err != nil {
			t.Fatal(err)
		}
		if all := s.Differences(read(t, there), false); len(all) > 0 {
			t.Errorf("differences:\n%s", strings.Join(all, "\n"))
		}
		if err := s.EnableEvents(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		if all := s.Differences(read(t, there), true); len(all) > 0 {
			t.Errorf("differences with events:\n%s", strings.Join(all, "\n"))
		}
		same(t, inventory(t, world), inventory(t, there))
		if e.name == "mariadb" {
			const value = "SELECT CONCAT_WS(' ', next_not_cached_value, start_value, cycle_count) FROM numbers"
			got, err := to.Texts(t.Context(), value)
			if err != nil || !slices.Equal(got, []string{"150 100 0"}) {
				t.Errorf("the sequence goes on at %q, %v", got, err)
			}
		}
	})
}

func same(t testing.TB, want, got []string) {
	t.Helper()
	if len(want) < 10 {
		t.Errorf("the inventory has %d lines", len(want))
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("only there: %.600s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("only here: %.600s", line)
		}
	}
}

// inventories are all columns but those of times, of what servers list of a database.
var inventories = map[string]string{
	"TABLES":                  "TABLE_SCHEMA",
	"COLUMNS":                 "TABLE_SCHEMA",
	"STATISTICS":              "TABLE_SCHEMA",
	"TABLE_CONSTRAINTS":       "TABLE_SCHEMA",
	"CHECK_CONSTRAINTS":       "CONSTRAINT_SCHEMA",
	"REFERENTIAL_CONSTRAINTS": "CONSTRAINT_SCHEMA",
	"KEY_COLUMN_USAGE":        "TABLE_SCHEMA",
	"PARTITIONS":              "TABLE_SCHEMA",
	"VIEWS":                   "TABLE_SCHEMA",
	"ROUTINES":                "ROUTINE_SCHEMA",
	"PARAMETERS":              "SPECIFIC_SCHEMA",
	"TRIGGERS":                "TRIGGER_SCHEMA",
	"EVENTS":                  "EVENT_SCHEMA",
	"SCHEMATA":                "SCHEMA_NAME",
}

// measured are columns that tell of rows and of times.
var measured = []string{"CREATED", "LAST_ALTERED", "CREATE_TIME", "UPDATE_TIME", "CHECK_TIME", "CARDINALITY", "TABLE_ROWS", "DATA_LENGTH",
	"AVG_ROW_LENGTH", "INDEX_LENGTH", "DATA_FREE", "MAX_INDEX_LENGTH", "LAST_EXECUTED", "STARTS", "CHECKSUM", "TEMPORARY"}

// inventory lists what a server has of a database, without a word of SHOW CREATE, and the name of the database left out.
func inventory(t testing.TB, d world.Database) (all []string) {
	t.Helper()
	queries := map[string]string{}
	if strings.HasPrefix(d.DSN, "sqlite:") {
		queries["objects"] = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name <> 'gameid_servers' AND name NOT LIKE 'sqlite_seq%'"
		for _, pragma := range []string{"page_size", "encoding", "auto_vacuum", "user_version", "application_id"} {
			queries[pragma] = "PRAGMA " + pragma
		}
	} else {
		for table, column := range inventories {
			queries[table] = "SELECT * FROM information_schema." + table + " WHERE " + column + " = '" + name(d) + "'"
		}
	}
	db, err := sqldb.Dial(t.Context(), d.DSN, sqldb.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for what, query := range queries {
		rows, err := db.Pool().QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			line := what
			for i, v := range values {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				if !slices.Contains(measured, strings.ToUpper(columns[i])) {
					line += fmt.Sprintf(" | %s=%v", columns[i], v)
				}
			}
			if what == "CHECK_CONSTRAINTS" { // MySQL converts literals by any ALTER TABLE
				line = strings.ReplaceAll(line, `_latin1\'`, `_utf8mb4\'`)
			}
			if line = strings.ReplaceAll(line, name(d), "{own}"); !strings.Contains(line, "gameid_servers") {
				all = append(all, line)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// After a failure at any request, the same calls make the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		world := e.database(t, e.world...)
		s := read(t, world)
		stop := errors.New("killed")
		fails := func(t *testing.T, at int) (points int) {
			there := e.fresh(t)
			to := writer(t, there)
			to.Fail = func(point string) error {
				if point != "before create" {
					return nil
				}
				if points++; points == at {
					return stop
				}
				return nil
			}
			if err := makeAll(t, s, to); at > 0 && !errors.Is(err, stop) || at == 0 && err != nil {
				t.Fatalf("%d: %v", at, err)
			}
			to.Close()
			to = writer(t, there)
			if err := makeAll(t, s, to); err != nil {
				t.Fatalf("%d: %v", at, err)
			}
			if all := s.Differences(read(t, there), false); len(all) > 0 {
				t.Errorf("%d: %s", at, strings.Join(all, "\n"))
			}
			return points
		}
		points := fails(t, 0)
		if points < 9 {
			t.Fatalf("%d points", points)
		}
		for at := 1; at <= points; at += servertest.Scale(4, 1) {
			t.Run(fmt.Sprint(at), func(t *testing.T) {
				t.Parallel()
				fails(t, at)
			})
		}
	})
}

// CHECK constraints are the same if only parentheses differ that mean nothing. What differs is said with its parentheses.
func TestChecksCompared(t *testing.T) {
	t.Parallel()
	schema := func(sql string) *world.Schema {
		return &world.Schema{Engine: "mysql", Objects: []world.Object{{Kind: world.Check, Name: "c", Table: "t", SQL: "CONSTRAINT `c` CHECK " + sql}}}
	}
	for _, c := range []struct{ there, here, want string }{
		{"((((`a` <> 2) or (`b` <> 3)) or (`s` = _utf8mb4'q')))", "(((`a` <> 2) or (`b` <> 3) or (`s` = _latin1'q')))", ""},
		{"((((`a` = 1) and (`b` = 2)) and (`f` = 3)))", "(((`a` = 1) and ((`b` = 2) and (`f` = 3))))", ""},
		{"((((`a` <> 2) or (`b` <> 3)) and (`f` = 3)))", "(((`a` <> 2) or ((`b` <> 3) and (`f` = 3))))",
			"((`a` <> 2) or (`b` <> 3)) and (`f` = 3) there, (`a` <> 2) or ((`b` <> 3) and (`f` = 3)) here"},
		{"((((`a` <> 2) or (`b` <> 3)) or (`f` = 3)))", "(((`a` <> 2) or (`b` <> 4) or (`f` = 3)))",
			"((`a` <> 2) or (`b` <> 3)) there, (`a` <> 2) or (`b` <> 4) here"},
		{"((`a` between 1 and 2))", "((`a` between 1 and 3))", "2 there, 3 here"},
		{"((`s` <> '" + strings.Repeat("x", 300) + "'))", "((`s` <> ''))", "'" + strings.Repeat("x", 199) + " ... there, '' here"},
	} {
		if c.want != "" {
			c.want = "check c of table t: " + c.want
		}
		if got := strings.Join(schema(c.there).Differences(schema(c.here), false), "\n"); got != c.want {
			t.Errorf("%s and %s: got %q, want %q", c.there, c.here, got, c.want)
		}
	}
}

// Each change of one thing is found, and said in words.
func TestMutations(t *testing.T) {
	t.Parallel()
	mutations := map[string][][2]string{
		"sqlite": {
			{"PRAGMA user_version = 13", "the database: 12 there, 13 here"},
			{"DROP INDEX by_level", "index by_level of table player: only there"},
			{"DROP TRIGGER later", "trigger later of table player: only there"},
			{"CREATE TABLE more (a)", "table more: only here"},
			{"ALTER TABLE strict_one ADD COLUMN c INT", "table strict_one: nothing there, , c INT here"},
			{"DROP VIEW b_first", "view b_first: only there"},
		},
		"common": {
			{"ALTER TABLE player MODIFY level INT NOT NULL DEFAULT 1 AFTER twice", "column level of table player: number 4 there, 5 here"},
			{"ALTER DATABASE COLLATE utf8mb4_bin", "the database: "},
			{"ALTER TABLE player DROP INDEX by_name, ADD INDEX by_name (name)", "index by_name of table player: UNIQUE there, nothing here"},
			{"ALTER TABLE player DROP INDEX by_name", "index by_name of table player: only there"},
			{"ALTER TABLE player DROP INDEX `by ``level`, ADD INDEX `by ``level` (level, id) COMMENT 'of, (it''s)'", "DESC there, nothing here"},
			{"ALTER TABLE player ALTER level SET DEFAULT 2", "column level of table player: "},
			{"ALTER TABLE player MODIFY secret INT", "column secret of table player: "},
			{"ALTER TABLE log MODIFY text VARCHAR(20) COLLATE utf8mb4_bin", "column text of table log: "},
			{"ALTER TABLE player DROP CONSTRAINT positive", "check positive of table player: only there"},
			{"ALTER TABLE player DROP CONSTRAINT `CHECK`, ADD CONSTRAINT other CHECK (id <> 5)", "check other of table player: only here"},
			{"ALTER TABLE player COMMENT 'else'", "table player: 'AUTO_INCREMENT=3, (' there, 'else' here"},
			{"ALTER TABLE log DROP PRIMARY KEY, ADD PRIMARY KEY (day, id)", "primary key of table log: "},
			{"ALTER TABLE log DROP PARTITION p1", "table log: ,"},
			{"ALTER TABLE item DROP FOREIGN KEY inside, ADD CONSTRAINT outside FOREIGN KEY (parent) REFERENCES item (id) ON DELETE SET NULL ON UPDATE CASCADE", "foreign key outside of table item: only here"},
			{"ALTER TABLE item DROP FOREIGN KEY `owned, (by`", "foreign key owned, (by of table item: only there"},
			{"ALTER TABLE item ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE=0", "table item: COMPRESSED KEY_BLOCK_SIZE=8 there, DYNAMIC here"},
			{"DROP TABLE `späte.re`", "table späte.re: only there"},
			{"ALTER FUNCTION twice COMMENT 'new'", "function twice: "},
			{"DROP FUNCTION twice", "function twice: only there"},
			{"CREATE OR REPLACE SQL SECURITY INVOKER VIEW b_first AS SELECT name, level + 1 AS level FROM player", "view b_first: "},
			{"ALTER DEFINER = `other`@`x` SQL SECURITY INVOKER VIEW b_first AS SELECT name, level FROM player", "view b_first: `test`@`127.0.0.1`"},
			{"DROP TRIGGER a", "trigger a of table player: only there"},
			{"ALTER EVENT often ENABLE", "event often: DISABLE there, ENABLE here"},
			{"ALTER EVENT often ON SCHEDULE EVERY 2 HOUR", "event often: 1"},
			{"ALTER DEFINER = `other`@`x` EVENT often DISABLE", "event often: `test`@`127.0.0.1`"},
		},
		"mysql": {
			{"ALTER TABLE only_mysql ALTER INDEX unseen VISIBLE", "index unseen of table only_mysql: INVISIBLE there, nothing here"},
			{"ALTER TABLE only_mysql ALTER CHECK soft ENFORCED", "check soft of table only_mysql: NOT ENFORCED there, nothing here"},
			{"ALTER TABLE only_mysql DROP INDEX lower_a, ADD INDEX lower_a ((UPPER(a)), id)", "lower there, upper here"},
		},
		"mariadb": {
			{"ALTER TABLE only_mariadb ALTER INDEX k NOT IGNORED", "index k of table only_mariadb: IGNORED there, nothing here"},
			{"ALTER SEQUENCE numbers NOCYCLE", "sequence numbers: cycle there, nocycle here"},
			{"ALTER TABLE only_mariadb DROP PERIOD FOR validity, DROP INDEX spans", "period validity of table only_mariadb: only there"},
			{"SET SESSION sql_mode = ORACLE; DROP PACKAGE BODY tools", "package body tools: only there"},
		},
	}
	onEach(t, func(t *testing.T, e engine) {
		cases := mutations[e.name]
		if e.name != "sqlite" {
			cases = append(mutations["common"], cases...)
		}
		world := e.database(t, e.world...)
		s := read(t, world)
		there, before := e.fresh(t), ""
		if err := makeAll(t, s, writer(t, there)); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			run(t, there, strings.Split(c[0], "; ")...)
			all := strings.Join(s.Differences(read(t, there), false), "\n")
			if !strings.Contains(all, c[1]) || strings.Contains(before, c[1]) {
				t.Errorf("%s: want %q, got %q", c[0], c[1], all)
			}
			before = all
		}
	})
}

// MySQL shows the character set beside the collation of a column that was made with that, as dumps do. It is the same column.
func TestColumnsOfADump(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		if e.name == "sqlite" {
			return
		}
		var all []*world.Schema
		for _, column := range []string{"a VARCHAR(9)", "a VARCHAR(9) COLLATE utf8mb4_bin", "a VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_bin"} {
			all = append(all, read(t, e.database(t, "CREATE TABLE t (id INT PRIMARY KEY, "+column+") CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")))
		}
		if differ := all[0].Differences(all[1], false); len(differ) > 0 || !maps.Equal(all[0].Fingerprints(), all[1].Fingerprints()) {
			t.Errorf("of a dump: %q", differ)
		}
		if differ := all[0].Differences(all[2], false); len(differ) != 1 {
			t.Errorf("of another character set: %q", differ)
		}
	})
}
