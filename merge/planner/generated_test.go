package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// generatedWorlds are two worlds with a table of these columns, of rows that sessions wrote which are not strict.
func generatedWorlds(t *testing.T, e worldtest.Engine, columns string, rows ...string) (all []world.Database) {
	t.Helper()
	for i, values := range rows {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		onOne(t, d, "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'", "CREATE TABLE pl ("+columns+")", "INSERT INTO pl "+values)
		all = append(all, d)
	}
	return all
}

// generatedOptions give the keys of s2 other values, and names that are taken.
func generatedOptions(all []world.Database) planner.PlanOptions {
	return planner.PlanOptions{
		Check: rules.Options{Rules: worldtest.NamesNothing, Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}, Offsets: map[string]uint64{"s2": 1_000_000}}}}},
		Names: []plan.NamePolicy{{Table: "pl", Column: "name", Template: "{name}.{source}"}},
	}
}

// A generated column that is too narrow for a new key or a new name, or that has what only a server gives that is not
// strict, refuses the plan, with the row and a statement that helps.
func TestGeneratedRefused(t *testing.T) {
	e := worldtest.Engines()[1]
	const common = "id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, t VARCHAR(20), n INT"
	const plain = "(id, name, t, n) VALUES (10, 'p10', '5', 5)"
	type test struct {
		column      string
		s1, s2      string // further rows
		source, row string
		says        string
		correct     string // "": by the statement of the refusal
	}
	tests := map[string]test{
		"a number of a new key":      {"TINYINT UNSIGNED AS (id DIV 4000) STORED", "", "(250000, 'a', '', 0)", "s2", "250000", "Out of range", ""},
		"a text of a new name":       {"VARCHAR(6) AS (name) STORED", "(1, 'Annabe', '', 0)", "(2, 'Annabe', '', 0)", "s2", "2", "for column 'g'", ""},
		"a virtual one":              {"TINYINT UNSIGNED AS (id DIV 4000) VIRTUAL", "", "(250000, 'a', '', 0)", "s2", "250000", "Out of range", ""},
		"one that reads another one": {"INT AS (id) VIRTUAL, h TINYINT AS (g DIV 8000) STORED", "", "(250000, 'a', '', 0)", "s2", "250000", "Out of range", ""},
		"bytes of a new name":        {"VARBINARY(6) AS (name) STORED", "(1, 'Annabe', '', 0)", "(2, 'Annabe', '', 0)", "s2", "2", "for column 'g'", ""},
		"no number, of s1":           {"INT AS (CAST(t AS SIGNED)) STORED", "(1, 'a', 'abc', 0)", "", "s1", "1", "Truncated incorrect", "UPDATE pl SET t = '0' WHERE t = 'abc'"},
		"no number, of s2":           {"INT AS (CAST(t AS SIGNED)) STORED", "", "(1, 'a', '12abc', 0)", "s2", "1", "Truncated incorrect", "UPDATE pl SET t = '0' WHERE t = '12abc'"},
		"a number that was cut":      {"TINYINT AS (n) STORED", "(1, 'a', '', 300)", "", "s1", "1", "Out of range", ""},
		"a text that was cut":        {"VARCHAR(2) AS (t) STORED", "(1, 'a', 'abc', 0)", "", "s1", "1", "for column 'g'", ""},
		"a text of no such letters":  {"VARCHAR(20) CHARSET latin1 AS (t) STORED", "", "(1, 'a', '日本', 0)", "s2", "1", "Incorrect string value", "UPDATE pl SET t = '0' WHERE id = 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rows := func(more string) string {
				if more == "" {
					return plain
				}
				return plain + ", " + more
			}
			all := generatedWorlds(t, e, common+", g "+tt.column, rows(tt.s1), strings.NewReplacer("10", "20").Replace(rows(tt.s2)))
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, generatedOptions(all))
			worldtest.RefusedFor(t, p, err, all[slices.IndexFunc(all, func(d world.Database) bool { return d.Name == tt.source })], tt.says)
			reason := p.Refusals[0].Reason
			if !strings.Contains(reason, "row "+tt.row+": its generated column") {
				t.Errorf("refused for %s", reason)
			}
			statement := tt.correct
			if statement == "" {
				statement = strings.TrimSuffix(reason[strings.Index(reason, "ALTER TABLE"):], ";")
			}
			for _, d := range all {
				worldtest.Exec(t, d, statement)
			}
			worldtest.PlanOf(t, e, all, generatedOptions(all))
		})
	}
}

// MySQL compares what a function gives with a stored number without a warning, and a strict one does not store it.
func TestGeneratedOfFunctions(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		for column, value := range map[string]string{"INT AS (COALESCE(t, '0')) STORED": "abc", "INT AS (IF(t IS NULL, 1, t)) STORED": "", "DOUBLE AS (IFNULL(t, '0')) STORED": "1e999"} {
			row := fmt.Sprintf("(id, name, t) VALUES (1, 'a', '%s')", value)
			all := generatedWorlds(t, e, "id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, t VARCHAR(20), g "+column, row, "(id, name, t) VALUES (2, 'b', '5')")
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, generatedOptions(all))
			worldtest.RefusedFor(t, p, err, all[0], `row 1: its generated column "g" cannot be computed by a strict server`)
		}
	})
}

// What is the same in all rows need not be computed for one of them: the column is named all the same.
func TestGeneratedOfAConstant(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		var all []world.Database
		for i, name := range []string{"s1", "s2"} {
			d := e.Fresh(t, name)
			onOne(t, d, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `CREATE TABLE pl (id INT PRIMARY KEY, g INT AS (LENGTH('a\nb')) VIRTUAL, KEY (g))`,
				fmt.Sprintf("INSERT INTO pl (id) VALUES (%d), (%d)", 1000*i+1, 1000*i+2))
			all = append(all, d)
		}
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
		if err != nil {
			t.Fatal(err)
		}
		if reasons := strings.Join(worldtest.ReasonsOf(p), "\n"); !servertest.OnMariaDB(t) && !strings.Contains(reasons, `row 1: its generated column "g" has a value that differs`) { // MariaDB keeps the text as it was meant
			t.Errorf("refused for %q", reasons)
		}
	})
}

// SQLite has what another version of it stored, or another declaration.
func TestStoredOtherwise(t *testing.T) {
	e := worldtest.OnSQLite(t)
	var all []world.Database
	for i, name := range []string{"s1", "s2"} {
		d := e.Fresh(t, name)
		worldtest.Exec(t, d, "CREATE TABLE pl (id INTEGER PRIMARY KEY, v REAL, u TEXT COLLATE NOCASE, g TEXT AS (v + 1) STORED, h INTEGER AS (u) STORED, i AS (v) STORED, w TEXT AS (v) VIRTUAL, f REAL AS (id + 9007199254740992) STORED)",
			fmt.Sprintf("INSERT INTO pl (id, v, u) VALUES (%d, 0.1 + 0.2, 'Ä'), (%d, 1e100, '17'), (%d, NULL, NULL), (%d, 5, x'ff00')", 1000*i+1, 1000*i+2, 1000*i+3, 1000*i+4))
		all = append(all, d)
	}
	worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
	worldtest.Exec(t, all[1], "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'v + 1', 'v + 2') WHERE name = 'pl'", "PRAGMA writable_schema = RESET")
	worldtest.Exec(t, all[0], "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'v + 1', 'v + 2') WHERE name = 'pl'", "PRAGMA writable_schema = RESET", "UPDATE pl SET v = v")
	p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
	worldtest.RefusedFor(t, p, err, all[1], `row 1001: its generated column "g" has a value that differs from what the SQLite of the merge computes: correct the row, or drop the column`)
	worldtest.Exec(t, all[1], "UPDATE pl SET v = v")
	worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
	retype := func(from, to string) {
		for _, d := range all {
			onOne(t, d, "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, '"+from+"', '"+to+"') WHERE name = 'pl'", "PRAGMA writable_schema = RESET")
		}
	}
	retype("i AS (v)", "i AS (CAST(v AS INTEGER))")
	worldtest.Exec(t, all[0], "UPDATE pl SET v = v")
	worldtest.Exec(t, all[1], "UPDATE pl SET v = v WHERE v <> 5") // of which i stays 5.0
	worldtest.Refuses(t, e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}, `row 1004: its generated column "i" has a value that differs`)
	worldtest.Exec(t, all[1], "UPDATE pl SET v = v")
	worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
	for _, typ := range []string{"NUM", "NUMERIC", "DOUBLE", "BINARY", "INTEGER", "BLOB", "VARCHAR(9)", "DATETIME", "ANY"} { // which turn one into the other, or keep it
		var all []world.Database
		for i, name := range []string{"s1", "s2"} {
			d := e.Fresh(t, name)
			worldtest.Exec(t, d, "CREATE TABLE pl (id INTEGER PRIMARY KEY, v REAL, n NUM, b, g "+typ+" AS (v) STORED, h "+typ+" AS (n) STORED, i "+typ+" AS (b) STORED, j "+typ+" AS (v + b) STORED)",
				fmt.Sprintf("INSERT INTO pl (id, v, n, b) VALUES (%d, 1, 1, 1), (%d, 1.0, 1.0, 1.0), (%d, '1', '1', '1'), (%d, '1.0', '1.0', x'31'), (%d, 1e20, 1e20, 1e20), (%d, NULL, NULL, NULL)", 10*i+1, 10*i+2, 10*i+3, 10*i+4, 10*i+5, 10*i+6))
			all = append(all, d)
		}
		worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
	}
}

// An index over what another version of SQLite computed refuses the plan: of the one that the merge makes, the game would find that it
// is damaged.
func TestIndexedOtherwise(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for _, index := range []string{"pl (lower(v))", "pl (w)", "pl (id) WHERE w = '1.5'"} {
		var all []world.Database
		for i, name := range []string{"s1", "s2"} {
			d := e.Fresh(t, name)
			worldtest.Exec(t, d, "CREATE TABLE pl (id INTEGER PRIMARY KEY, v REAL, w AS (v || '') VIRTUAL)", "CREATE INDEX \"a b\" ON "+index, fmt.Sprintf("INSERT INTO pl (id, v) VALUES (%d, 0.1 + 0.2), (%d, 5), (%d, NULL), (%d, 1.5)", 10*i+1, 10*i+2, 10*i+3, 10*i+4))
			all = append(all, d)
		}
		opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}
		worldtest.PlanOf(t, e, all, opts)
		onOne(t, all[1], "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(replace(sql, 'lower(v)', 'lower(v + 1)'), 'v ||', 'v + 1 ||')", "PRAGMA writable_schema = RESET", "REINDEX")
		onOne(t, all[1], "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'v + 1', 'v')", "PRAGMA writable_schema = RESET")
		reason := worldtest.Refuses(t, e.Fresh(t, "new"), all, opts, `its index a b has other values than the SQLite of the merge computes`)
		_, drop, _ := strings.Cut(reason, "when that is open: ")
		for _, d := range all {
			worldtest.Exec(t, d, drop)
		}
		worldtest.PlanOf(t, e, all, opts)
	}
}

// So does one that is too narrow for what rows become that are combined.
func TestGeneratedOfCombined(t *testing.T) {
	e := worldtest.Engines()[1]
	all := generatedWorlds(t, e, "id INT PRIMARY KEY, n INT NOT NULL, g TINYINT AS (n) STORED", "(id, n) VALUES (1, 70), (2, 1)", "(id, n) VALUES (1, 80), (2, 1)")
	opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Tables: []rules.TablePolicy{
		{Tables: []string{"pl"}, Policy: rules.PolicyCombine, Columns: map[string]string{"n": "sum"}}}}}
	if reason := worldtest.Refuses(t, e.Fresh(t, "new"), all, opts, `its generated column "g" cannot be computed`); !strings.Contains(reason, "row 1") {
		t.Errorf("%q names no row", reason)
	}
	for _, d := range all {
		worldtest.Exec(t, d, "ALTER TABLE pl MODIFY g BIGINT GENERATED ALWAYS AS (n) STORED")
	}
	p, into := worldtest.MergeOf(t, e, all, opts)
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
	worldtest.Asked(t, into, "SELECT id, g FROM pl ORDER BY id", "1|150", "2|2")
}

// What a strict server stores is no reason to refuse, however it converts what is computed.
func TestGeneratedTaken(t *testing.T) {
	const columns = "id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, at DATETIME(6), f DOUBLE, e ENUM('x', 'X', 'y') CHARACTER SET latin1, s SET('p', 'q'), b VARBINARY(9), bits BIT(9), " +
		"day DATE, hour TIME(2), y YEAR, l VARCHAR(9) CHARACTER SET latin1, d DECIMAL(20, 10), "
	const row = "(%d, '%s', '2026-01-02 03:04:05.678901', 0.1, 2, 'p,q', x'00ff27', b'101010101', '2024-02-29', '-12:34:56.78', 2026, 'äöÿ', -1.0000000001)"
	const list = "(id, name, at, f, e, s, b, bits, day, hour, y, l, d) VALUES "
	const nothing = "(%d, '%s', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
	worldtest.OnEachWay(t, func(t *testing.T, e worldtest.Engine) {
		for _, c := range []struct{ generated, stay, change, want string }{ // the columns that stay as they are, those that change with the key or the name, and of a row what they become
			{"g1 DECIMAL(9, 2) AS (id / 3) STORED, g2 INT AS (id / 3) STORED, g3 FLOAT AS (f / 3) STORED, g4 DATE AS (at) STORED, g5 CHAR(30) AS (CONCAT(name, ' ')) STORED, " +
				"g6 BINARY(12) AS (b) STORED, g7 VARCHAR(30) AS (UPPER(name)) VIRTUAL, g10 BIGINT AS (g2 * 2) STORED, KEY (g7), KEY (g1)",
				"g3, g4, g6", "g1, g2, g7, g10", "333333.67|333334|ANNABE.S2|666668"},
			{"g8 INT AS (e + s + bits) STORED, g9 VARCHAR(20) CHARACTER SET latin1 AS (CONCAT(l, 'ä')) STORED, g11 TEXT AS (CONCAT_WS('''`', day, hour, y, d, e)) STORED, " +
				"g13 VARCHAR(40) AS (IF(name LIKE '%.s2', name, NULL)) STORED, g14 INT AS (7 DIV (id - id)) STORED, g15 ENUM('p10', 'p20') AS (IF(name LIKE 'p_0', name, NULL)) STORED",
				"g8, g9, g11, g14, g15", "g13", "Annabe.s2"},
		} {
			all := generatedWorlds(t, e, columns+c.generated,
				list+fmt.Sprintf(row, 0, "p10")+", "+fmt.Sprintf(row, 1, "Annabe")+", "+fmt.Sprintf(nothing, 2, "n"),
				list+fmt.Sprintf(row, 0, "p20")+", "+fmt.Sprintf(row, 1, "Annabe")+", "+fmt.Sprintf(nothing, 2, "N2"))
			p, into := worldtest.MergeOf(t, e, all, generatedOptions(all))
			worldtest.Proved(t, p, into, all)
			query := "SELECT name, " + c.stay + " FROM pl WHERE name NOT LIKE 'Anna%' ORDER BY name"
			want := slices.Concat(worldtest.Rows(t, all[0], query), worldtest.Rows(t, all[1], query))
			slices.SortFunc(want, slices.Compare)
			got := worldtest.Rows(t, into, query)
			slices.SortFunc(got, slices.Compare)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("got %v, want %v", got, want)
			}
			worldtest.Asked(t, into, "SELECT "+c.change+" FROM pl WHERE id = 1000001", c.want)
		}
	})
}

// The proof names a generated column of the new database that holds another value than a strict server computes.
func TestGeneratedProved(t *testing.T) {
	e := worldtest.Engines()[1]
	for _, key := range []string{"PRIMARY KEY", "NOT NULL"} {
		const rows = "(id, n, t) VALUES (%d, 5, 'a'), (%[1]d1, 5, 'a')"
		all := generatedWorlds(t, e, "id INT "+key+", n INT, t VARCHAR(9), g TINYINT AS (n) STORED, h VARCHAR(2) AS (t) STORED", fmt.Sprintf(rows, 1), fmt.Sprintf(rows, 2))
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass || len(proof.Findings) != 0 {
			t.Fatalf("%+v", proof)
		}
		row := "row 21"
		if key == "NOT NULL" {
			row = "a row"
		}
		for change, want := range map[string]string{
			"UPDATE pl SET n = 300 WHERE id = 21":   row + `: its generated column "g" cannot be computed`,
			"UPDATE pl SET t = 'abc' WHERE id = 21": row + `: its generated column "h" cannot be computed`,
		} {
			onOne(t, into, "SET sql_mode = ''", change)
			proof := worldtest.Verified(t, p, into, all)
			if proof.Verdict != verdict.Fail || len(proof.Findings) != 1 || !strings.Contains(proof.Findings[0].Reason, want) {
				t.Errorf("%s: %v, %v", change, proof.Verdict, proof.Findings)
			}
			onOne(t, into, "UPDATE pl SET n = 5, t = 'a' WHERE id = 21")
		}
	}
}

// An index over a virtual column, or an expression, that depends on the session refuses the plan, where the server has other
// settings than our sessions: the index of the new database would be filled with other values than games look for.
func TestSessionBoundIndex(t *testing.T) {
	servertest.NotShort(t)
	for name, server := range map[string]*servertest.Server{servertest.MariaDB: servertest.Private(t), servertest.MySQL: servertest.PrivateMySQL(t)} {
		e := worldtest.EngineOn(server)
		plan := func(zone, column, index, drop string) []string {
			var all []world.Database
			for i, at := range []string{"2024-01-01 03:00:00", "2024-02-02 03:00:00"} {
				d := e.Fresh(t, fmt.Sprint("s", i+1))
				worldtest.Exec(t, d, "SET GLOBAL time_zone = '"+zone+"'")
				worldtest.Exec(t, d, "CREATE TABLE pl (id INT PRIMARY KEY, y TIMESTAMP NULL, n INT"+column+", "+index+")", fmt.Sprintf("INSERT INTO pl (id, y, n) VALUES (%d, '%s', 5), (%d, '%[2]s', 5)", i+1, at, i+11)) // equal ones, too
				if drop != "" {
					worldtest.Exec(t, d, drop)
				}
				all = append(all, d)
			}
			opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}
			return worldtest.ReasonsOf(worldtest.Planned(t, e.Fresh(t, "new"), all, opts))
		}
		const virtual = ", v DATE AS (DATE(y)) VIRTUAL"
		refused := map[string]string{"KEY k (v)": virtual, "UNIQUE k (v, id)": virtual, "KEY k (v, n)": ", v DECIMAL(6, 4) AS (HOUR(y) / 100) VIRTUAL"}
		if name == servertest.MySQL {
			refused["KEY k ((DATE(y)))"] = ""
			refused["KEY k ((CONCAT(y, 'a''b\\\\c')))"] = ""
		}
		for index, column := range refused {
			reasons := strings.Join(plan("+09:00", column, index, ""), "\n")
			const want = "its index k covers what this server computes with its own time_zone and sql_mode"
			if !strings.Contains(reasons, want) {
				t.Errorf("%s, %s: %s", name, index, reasons)
			}
			_, drop, _ := strings.Cut(reasons, "when that is open: ")
			drop, _, _ = strings.Cut(drop, ";")
			if reasons := plan("+09:00", column, index, drop); len(reasons) > 0 {
				t.Errorf("%s, %s, and %s: %v", name, index, drop, reasons)
			}
			if reasons := plan("+00:00", column, index, ""); len(reasons) > 0 {
				t.Errorf("%s, %s, with our time zone: %v", name, index, reasons)
			}
		}
		if reasons := plan("+09:00", ", v INT AS (n + 1) VIRTUAL", "KEY (v)", ""); len(reasons) > 0 {
			t.Errorf("%s, of a number: %v", name, reasons)
		}
		if name == servertest.MySQL {
			plan("+09:00", ", j JSON", "KEY ((CAST(j -> '$.a' AS UNSIGNED ARRAY)))", "") // which no SELECT computes
		}
	}
}

// What MySQL divides has as many digits as the session says: where that is otherwise, values were stored that the new database does
// not compute, or its server computes others.
func TestGeneratedOfDigits(t *testing.T) {
	servertest.NotShort(t)
	servertest.Needs(t, servertest.MySQL)
	e, other := worldtest.Engines()[1], worldtest.EngineOn(servertest.PrivateMySQL(t))
	worldtest.Exec(t, other.Fresh(t, "x"), "SET GLOBAL div_precision_increment = 8")
	worlds := func(digits ...int) (all []world.Database) {
		for i, n := range digits {
			on := e
			if n == 8 {
				on = other
			}
			d := on.Fresh(t, fmt.Sprint("s", i+1))
			onOne(t, d, fmt.Sprint("SET div_precision_increment = ", n), "CREATE TABLE pl (id INT PRIMARY KEY, a INT, g DECIMAL(20, 10) AS (a / 7) STORED)", fmt.Sprintf("INSERT INTO pl (id, a) VALUES (%d, 14), (%d, 1)", 10*i+1, 10*i+2))
			all = append(all, d)
		}
		return all
	}
	opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}
	for _, digits := range [][]int{{4, 6}, {4, 8}} {
		worldtest.Refuses(t, e.Fresh(t, "new"), worlds(digits...), opts, `row 12: its generated column "g" has a value that differs`)
	}
	worldtest.Refuses(t, e.Fresh(t, "new"), worlds(8, 8), opts, "the server: it has div_precision_increment=4, and the world's has 8: quotients would have other digits. To do: SET GLOBAL div_precision_increment = 8;")
	worldtest.PlanOf(t, other, worlds(8, 8), opts)
}

// A column of SQLite that is declared plain needs no other declaration if its values are of several types, which are no numbers.
func TestPlainColumnOfAnyType(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY, n INT)", "INSERT INTO notes VALUES (1, 'text'), (2, x'00'), (3, 3)")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"notes.id"}})
		d.Plain = append(d.Plain, "notes.n")
	})
	if got := worldtest.RefusalsOf(t, e.Fresh(t, "new"), all, opts); got != "" {
		t.Error(got)
	}
}

// MariaDB lets only sessions of one sql_mode make a column that is computed otherwise in another one, if it is stored or indexed.
func TestGeneratedOfAMode(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		for column, refused := range map[string]bool{
			"v INT AS (u - 5) VIRTUAL, KEY (v)": true, "v INT AS (ABS(u - 5)) STORED": true, "v INT AS (u - 5) VIRTUAL": false,
			"v INT AS (CAST(u AS SIGNED) - 5) VIRTUAL, KEY (v)": false, "w INT AS (u - 5) VIRTUAL, v INT AS (w + 1 - 1) STORED, KEY (u)": false,
		} {
			var all []world.Database
			for i := range 2 {
				d := e.Fresh(t, fmt.Sprint("s", i+1))
				onOne(t, d, "SET sql_mode = 'NO_UNSIGNED_SUBTRACTION'", "CREATE TABLE pl (id INT PRIMARY KEY, u INT UNSIGNED, "+column+")", fmt.Sprintf("INSERT INTO pl (id, u) VALUES (%d, 7), (%d, 5)", 10*i+1, 10*i+2))
				all = append(all, d)
			}
			opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}}
			if refused && servertest.OnMariaDB(t) {
				worldtest.Refuses(t, e.Fresh(t, "new"), all, opts, "table pl: in another sql_mode, the server computes a generated column of it otherwise: Error 1901")
				how := "VIRTUAL"
				if strings.Contains(column, "STORED") {
					how = "STORED"
				}
				for _, d := range all {
					worldtest.Exec(t, d, "ALTER TABLE pl MODIFY v INT AS (CAST(u AS SIGNED) - 5) "+how)
				}
			}
			p, into := worldtest.MergeOf(t, e, all, opts)
			worldtest.Proved(t, p, into, all)
			worldtest.Asked(t, into, "SELECT id, v FROM pl WHERE v = 2 ORDER BY id", "1|2", "11|2")
		}
	})
}

// Of a virtual column of a table of MySQL that our sessions cannot compute, the plan names the row, though the check cannot read it.
func TestVirtualNotComputed(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		var all []world.Database
		for i, rows := range []string{"(1, 7), (2, 3), (3, 9)", "(11, 7), (12, 8)"} {
			d := e.Fresh(t, fmt.Sprint("s", i+1))
			onOne(t, d, "SET sql_mode = 'NO_UNSIGNED_SUBTRACTION'", "CREATE TABLE pl (id INT PRIMARY KEY, u INT UNSIGNED, v INT AS (u - 5) VIRTUAL)", "INSERT INTO pl (id, u) VALUES "+rows)
			all = append(all, d)
		}
		for _, declared := range [][]rules.Declarations{nil, worldtest.NamesNothing} {
			reasons := worldtest.RefusalsOf(t, e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: declared}})
			if !servertest.OnMariaDB(t) && !strings.Contains(reasons, `row 2: its generated column "v" cannot be computed by a strict server`) { // MariaDB does not compute it when it writes
				t.Errorf("refused for %q", reasons)
			}
		}
	})
}

// Older versions of SQLite store in STRICT tables what a newer one refuses, and then does not read.
func TestStrictNotComputed(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for column, want := range map[string]string{
		"v INT AS (x) VIRTUAL": `database "s2": table "pl": row 13: its generated column "v" cannot be computed: value refused by the database: constraint failed: cannot store TEXT value`,
		"v INT AS (x) STORED":  `database "s2": table "pl": row 13: its generated column "v" has a value that differs`,
		"v INT":                `table "pl": refused-value: v: 1 row would be refused by s1 for its INT of a STRICT table: s2: 1`,
	} {
		var all []world.Database
		for i := range 2 {
			d := e.Fresh(t, fmt.Sprint("s", i+1))
			worldtest.Exec(t, d, "CREATE TABLE pl (id INTEGER PRIMARY KEY, x ANY, "+column+")", fmt.Sprintf("INSERT INTO pl (id, x) VALUES (%d, 7), (%d, 5)", 10*i+1, 10*i+2))
			all = append(all, d)
		}
		worldtest.Exec(t, all[1], "INSERT INTO pl (id, x) VALUES (13, 'abc'), (14, 1)")
		if column == "v INT" {
			worldtest.Exec(t, all[1], "UPDATE pl SET v = x")
		}
		for _, d := range all {
			onOne(t, d, "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'pl'", "PRAGMA writable_schema = RESET")
		}
		for _, declared := range [][]rules.Declarations{nil, worldtest.NamesNothing} {
			opts := planner.PlanOptions{Check: rules.Options{Rules: declared}}
			if reasons := worldtest.RefusalsOf(t, e.Fresh(t, "new"), all, opts); !strings.Contains(reasons, want) {
				t.Errorf("%s: refused for %q", column, reasons)
			}
		}
	}
}
