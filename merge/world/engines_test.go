package world

import (
	"bytes"
	"database/sql"
	"errors"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
)

// world is a database that a test fills by hand, and another connection to
// write through while it is open.
type world struct {
	dsn string
	db  *sql.DB
}

// engine makes empty databases of one kind.
type engine struct {
	name  string
	blob  string // type of a column of IDs
	world func(t *testing.T) *world
}

func engines() []engine {
	return []engine{
		{"sqlite", "BLOB", newSQLiteWorld},
		{servertest.MariaDB, "BINARY(10)", worldOn(servertest.MariaDB)},
		{servertest.MySQL, "BINARY(10)", worldOn(servertest.MySQL)},
	}
}

// forEach runs a test on every engine.
func forEach(t *testing.T, test func(t *testing.T, e engine, w *world)) {
	for _, e := range engines() {
		t.Run(e.name, func(t *testing.T) {
			test(t, e, e.world(t))
		})
	}
}

func newSQLiteWorld(t *testing.T) *world {
	return sqliteWorld(t, filepath.Join(t.TempDir(), "world.db"), "WAL")
}

func sqliteWorld(t *testing.T, path, journal string) *world {
	return openWorld(t, "sqlite:"+path, "sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+url.Values{"_journal_mode": {journal}, "_busy_timeout": {"5000"}}.Encode())
}

func worldOn(server string) func(t *testing.T) *world {
	return func(t *testing.T) *world {
		servertest.Needs(t, server)
		return newServerWorld(t)
	}
}

func newServerWorld(t *testing.T) *world {
	dsn := servertest.DSN(t)
	return openWorld(t, "mysql:"+dsn, "mysql", dsn)
}

func openWorld(t *testing.T, dsn, driver, driverDSN string) *world {
	db, err := sql.Open(driver, driverDSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &world{dsn: dsn, db: db}
}

// mocked is a server that answers as it is told.
func mocked(t *testing.T) (pool *sql.DB, conn *sql.Conn, mock sqlmock.Sqlmock) {
	t.Helper()
	pool, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	if conn, err = pool.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pool, conn, mock
}

func (w *world) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := w.db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func (w *world) query(t *testing.T, query string, args ...any) (rows [][]any) {
	t.Helper()
	r, err := w.db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	columns, _ := r.Columns()
	for r.Next() {
		row, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := r.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// open opens the world as a source.
func (w *world) open(t *testing.T) *Source {
	t.Helper()
	s, err := Open(t.Context(), "w", w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// row is a copy of one row of a scan.
type row struct{ order, carry [][]byte }

func collect(scan iter.Seq2[*catalog.Batch, error]) (rows []row, err error) {
	for b, err := range scan {
		if err != nil {
			return rows, err
		}
		for i := range b.Len {
			rows = append(rows, row{values(b.Order, i), values(b.Carry, i)})
		}
	}
	return rows, nil
}

func values(vectors []catalog.Vector, i int) [][]byte {
	out := make([][]byte, len(vectors))
	for c := range vectors {
		out[c] = bytes.Clone(vectors[c].At(i))
	}
	return out
}

func mustCollect(t *testing.T, scan iter.Seq2[*catalog.Batch, error]) []row {
	t.Helper()
	rows, err := collect(scan)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// by is a scan in the order of some columns, each under its own collation.
func by(table string, columns ...string) catalog.Scan {
	s := catalog.Scan{Table: table}
	for _, c := range columns {
		s.Order = append(s.Order, catalog.Order{Column: c})
	}
	return s
}

// dirState is every file of a directory with its contents.
func dirState(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	state := make(map[string]string)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		state[e.Name()] = string(content)
	}
	return state
}

func asUnsupported(err error) (*catalog.UnsupportedError, bool) {
	return errors.AsType[*catalog.UnsupportedError](err)
}
