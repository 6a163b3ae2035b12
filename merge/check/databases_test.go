package check_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// On real databases, too, exactly what stands against a merge is found, be the
// schema and the rows what they may.
func TestAnySchemaOnRealDatabases(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dir, n := t.TempDir(), 0
		real := engine{
			driver: "sqlite", quickly: "?_pragma=synchronous(0)&_pragma=journal_mode(memory)",
			types: map[catalog.Kind]string{catalog.KindInteger: "INTEGER", catalog.KindBytes: "BLOB", catalog.KindText: "TEXT"},
			collations: map[string]string{
				mergetest.Binary: "BINARY", mergetest.NoCase: "NOCASE",
			},
			dsn: func() string { n++; return filepath.Join(dir, fmt.Sprintf("%d.db", n)) },
		}
		real.compareAll(t, 60)
	})
	t.Run("mariadb", func(t *testing.T) {
		var dsns []string
		for range 4 {
			dsns = append(dsns, servertest.DSN(t))
		}
		n := 0
		real := engine{
			driver: "mysql",
			types:  map[catalog.Kind]string{catalog.KindInteger: "INT", catalog.KindBytes: "VARBINARY(8)", catalog.KindText: "VARCHAR(16)"},
			collations: map[string]string{
				mergetest.Binary: "utf8mb4_bin", mergetest.NoCase: "utf8mb4_general_ci",
			},
			dsn: func() string { n++; return dsns[n%len(dsns)] },
		}
		real.compareAll(t, 15)
	})
}

// engine is how to put databases of the tests into real ones.
type engine struct {
	driver     string
	types      map[catalog.Kind]string
	collations map[string]string
	dsn        func() string // of the next database
	quickly    string        // added to it to write
}

// compareAll makes sure that there was something to find, of every kind.
func (e engine) compareAll(t *testing.T, seeds int) {
	t.Helper()
	found := make(map[string]int64)
	for seed := range seeds {
		for k, n := range e.compare(t, seed) {
			code, _, _ := strings.Cut(k, "|")
			found[code] += n
		}
	}
	for _, code := range dataCodes {
		if found[code] == 0 {
			t.Errorf("the rows had nothing for %s to find", code)
		}
	}
}

// compare makes databases, and holds what a check of them finds against the
// slow look at everything.
func (e engine) compare(t *testing.T, seed int) map[string]int64 {
	t.Helper()
	t.Log("seed", seed)
	type drawn struct {
		dbs  []*mergetest.Database
		opts rules.Options
	}
	d := rapid.Custom(func(t *rapid.T) drawn {
		schema, opts := drawSchema(t)
		// References that are enforced could not dangle.
		for i := range schema.Tables {
			for _, r := range schema.Tables[i].References {
				said := declaredReference(schema.Tables[i].Name, r)
				if declared := &opts.Rules[0]; len(said.At) == 0 || !slices.ContainsFunc(declared.References, func(other rules.DeclaredReference) bool { return slices.Equal(other.At, said.At) }) {
					declared.References = append(declared.References, said)
				}
			}
			schema.Tables[i].References = nil
		}
		return drawn{drawDatabases(t, schema), opts}
	}).Example(seed)
	opts := d.opts
	var real []catalog.Source
	for _, db := range d.dbs {
		dsn := e.dsn()
		e.fill(t, dsn, db)
		s, err := world.Open(t.Context(), db.Label, e.driver+":"+dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		real = append(real, s)
	}
	report := checked(t, real, opts)
	return matchesLook(t, report, d.dbs, opts)
}

// fill makes the tables of db and puts its rows into them.
func (e engine) fill(t *testing.T, dsn string, db *mergetest.Database) {
	t.Helper()
	pool, err := sql.Open(e.driver, dsn+e.quickly)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for n := range 3 {
		exec(fmt.Sprintf("DROP TABLE IF EXISTS t%d", n))
	}
	for _, table := range db.Schema.Tables {
		var parts, names []string
		for _, c := range table.Columns {
			part := c.Name + " " + e.types[c.Kind]
			if c.Collation != "" {
				part += " COLLATE " + e.collations[c.Collation]
			}
			if !c.Nullable {
				part += " NOT NULL"
			}
			parts, names = append(parts, part), append(names, c.Name)
		}
		if len(table.Primary) > 0 {
			parts = append(parts, "PRIMARY KEY ("+strings.Join(table.Primary, ", ")+")")
		}
		for _, u := range table.Uniques {
			parts = append(parts, "UNIQUE ("+strings.Join(u.Columns, ", ")+")")
		}
		exec("CREATE TABLE " + table.Name + " (" + strings.Join(parts, ", ") + ")")
		for _, row := range db.Rows[table.Name] {
			var values []any
			for _, name := range names {
				values = append(values, row[name])
			}
			exec("INSERT INTO "+table.Name+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(slices.Repeat([]string{"?"}, len(names)), ", ")+")", values...)
		}
	}
}
