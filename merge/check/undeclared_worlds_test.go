package check_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// fatal is what tests and draws of a property have in common.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// sqlWorlds are real databases side by side on one connection, so that plain SQL can
// merge them and count in them: w0, w1, ... and m, the merged one.
type sqlWorlds struct {
	kind string // sqlite or mysql
	conn *sql.Conn
	pool *sql.DB
	dsns []string // as sqlsource takes them
	n    int
	name func(world int) string // of the database, as SQL names it; -1: the merged one
}

// merged is the number of the database that the worlds are merged into.
const merged = -1

// sqliteWorlds makes n empty worlds and an empty database to merge them into.
func sqliteWorlds(t fatal, dir string, n int) *sqlWorlds {
	t.Helper()
	pool, err := sql.Open("sqlite", ":memory:?_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w := &sqlWorlds{kind: "sqlite", conn: conn, pool: pool, n: n, name: worldName}
	for i := merged; i < n; i++ {
		file := filepath.Join(dir, worldName(i)+".db")
		w.exec(t, "ATTACH '"+file+"' AS "+worldName(i))
		w.exec(t, "PRAGMA "+worldName(i)+".synchronous = 0")
		w.exec(t, "PRAGMA "+worldName(i)+".journal_mode = memory")
		if i != merged {
			w.dsns = append(w.dsns, "sqlite:"+file)
		}
	}
	return w
}

func worldName(i int) string {
	if i == merged {
		return "m"
	}
	return fmt.Sprint("w", i)
}

// serverDatabases makes databases for up to n worlds on a server of MariaDB or MySQL.
func serverDatabases(t *testing.T, n int) (dsns []string) {
	for range n + 1 {
		dsns = append(dsns, servertest.DSN(t))
	}
	return dsns
}

// serverWorlds uses databases of one server, of which the first is the merged one,
// and empties them.
func serverWorlds(t fatal, dsns []string, n int) *sqlWorlds {
	t.Helper()
	pool, err := sql.Open("mysql", dsns[0])
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w := &sqlWorlds{kind: "mysql", conn: conn, pool: pool, n: n, name: func(i int) string {
		_, name, _ := strings.Cut(dsns[i+1], "/")
		name, _, _ = strings.Cut(name, "?")
		return name
	}}
	w.exec(t, "SET SESSION foreign_key_checks = 0")
	w.exec(t, "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES'")
	for i := merged; i < n; i++ {
		for _, table := range w.texts(t, "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_type = 'BASE TABLE'", w.name(i)) {
			w.exec(t, "DROP TABLE "+w.in(i, table))
		}
		if i != merged {
			w.dsns = append(w.dsns, "mysql:"+dsns[i+1])
		}
	}
	return w
}

func (w *sqlWorlds) close() {
	w.conn.Close()
	w.pool.Close()
}

// in names a table of a world.
func (w *sqlWorlds) in(world int, table string) string { return w.name(world) + "." + table }

func (w *sqlWorlds) exec(t fatal, statement string, args ...any) {
	t.Helper()
	if _, err := w.conn.ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatalf("%.300s: %v", statement, err)
	}
}

// everywhere runs a statement in all databases; @ stands for the name of each.
func (w *sqlWorlds) everywhere(t fatal, statements ...string) {
	t.Helper()
	for i := merged; i < w.n; i++ {
		w.at(t, i, statements...)
	}
}

// at runs statements in one world; @ stands for its name.
func (w *sqlWorlds) at(t fatal, world int, statements ...string) {
	t.Helper()
	for _, s := range statements {
		w.exec(t, strings.ReplaceAll(s, "@", w.name(world)))
	}
}

func (w *sqlWorlds) count(t fatal, query string, args ...any) (n int64) {
	t.Helper()
	if err := w.conn.QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (w *sqlWorlds) texts(t fatal, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := w.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// merge copies the rows of a table of all worlds into the merged database, as SQL does.
func (w *sqlWorlds) merge(t fatal, table string, from ...int) {
	t.Helper()
	for _, i := range from {
		w.exec(t, "INSERT INTO "+w.in(merged, table)+" SELECT * FROM "+w.in(i, table))
	}
}

// check opens the worlds and checks them. The first world is named w0 unless opts say else.
func (w *sqlWorlds) check(t fatal, opts rules.Options) *verdict.Report {
	t.Helper()
	report, err := w.tryCheck(t, opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return report
}

func (w *sqlWorlds) tryCheck(t fatal, opts rules.Options) (*verdict.Report, error) {
	t.Helper()
	sources, done := w.open(t)
	defer done()
	report, err := checkLookingFirst(context.Background(), sources, opts, 1)
	if err == nil && opts.Rekey != nil {
		sameWithoutValues(t, sources, opts, report, func(r *check.Reader) { r.First = 1 })
	}
	return report, err
}

func (w *sqlWorlds) open(t fatal) (sources []catalog.Source, done func()) {
	t.Helper()
	var opened []*world.Source
	for i, dsn := range w.dsns {
		s, err := world.Open(context.Background(), worldName(i), dsn)
		if err != nil {
			t.Fatal(err)
		}
		opened, sources = append(opened, s), append(sources, s)
	}
	return sources, func() {
		for _, s := range opened {
			s.Close()
		}
	}
}

// openColumns returns how many rows of each column a report calls open; -1 stands for
// a column that is open without a number.
func openColumns(report *verdict.Report) map[string]int64 {
	open := make(map[string]int64)
	for _, r := range report.Results {
		if r.Code != verdict.CodeReferenceUndeclared || r.Verdict != verdict.NotVerified {
			continue
		}
		open[r.Table+"."+r.Subject] = r.Count
		if r.Count == 0 {
			open[r.Table+"."+r.Subject] = -1
		}
	}
	return open
}
