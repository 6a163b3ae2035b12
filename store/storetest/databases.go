package storetest

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/store"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite"
)

// NodeOptions are those of a node in a test on a real database. A busy machine takes longer than a quarter of the default
// window for an answer, and than all of it from one renewal to the next.
var NodeOptions = store.NodeOptions{Options: gameid.Options{Window: time.Minute}}

// Node opens a node whose window may be short. A busy machine takes longer for that than a quarter of
// the window, which is the limit: then it is tried again.
func Node(t testing.TB, open func(store.NodeOptions) (*gameid.Node, error), window time.Duration) (node *gameid.Node) {
	t.Helper()
	Await(t, "a node opens", func() (opened bool) {
		var err error
		node, err = open(store.NodeOptions{Options: gameid.Options{Window: window}})
		_, held := errors.AsType[*gameid.HeldError](err) // by an attempt whose answer came too late
		if !held && !errors.Is(err, context.DeadlineExceeded) {
			Must(t, err)
		}
		return err == nil
	})
	return node
}

// OnEach runs a test on each of SQLite, MariaDB, MySQL and PostgreSQL. newDSN names a fresh, empty database.
func OnEach(t *testing.T, test func(t *testing.T, newDSN func() string)) {
	on(t, servertest.OnMySQLToo, test)
}

// OnEachDialect runs a test on SQLite, MariaDB and PostgreSQL, and with LONG=1 on MySQL: a test whose statements are those
// of tables, which package store knows.
func OnEachDialect(t *testing.T, test func(t *testing.T, newDSN func() string)) {
	on(t, servertest.OnMySQLIfLong, test)
}

func on(t *testing.T, servers func(*testing.T, func(*testing.T)), test func(t *testing.T, newDSN func() string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
	servers(t, func(t *testing.T) {
		test(t, func() string { return "mysql:" + servertest.DSN(t) })
	})
	t.Run("postgres", func(t *testing.T) {
		servertest.PostgresDSN(t) // or skip
		test(t, func() string { return servertest.PostgresDSN(t) })
	})
}

// OnOneOrEach runs a test of what Go code decides, by statements that other tests try on each engine: on SQLite, and with
// LONG=1 on each.
func OnOneOrEach(t *testing.T, test func(t *testing.T, newDSN func() string)) {
	if servertest.LongIsSet() {
		OnEach(t, test)
		return
	}
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
}

func sqlite(t *testing.T) func() string {
	return func() string { return "sqlite:" + filepath.Join(t.TempDir(), "game.db") }
}

// OnEachWithTables gives the test a database with all tables.
func OnEachWithTables(t *testing.T, test func(t *testing.T, db *store.DB)) {
	OnEach(t, func(t *testing.T, newDSN func() string) { test(t, WithTables(t, newDSN())) })
}

// OnEachWithRegistry gives the test a database with a registry.
func OnEachWithRegistry(t *testing.T, test func(t *testing.T, db *store.DB)) {
	OnEach(t, func(t *testing.T, newDSN func() string) { test(t, WithRegistry(t, newDSN())) })
}

// WithTables opens a database and makes all tables in it.
func WithTables(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db := Open(t, dsn)
	Must(t, Create(t.Context(), db))
	return db
}

// WithRegistry opens a database and makes the tables of its registry alone.
func WithRegistry(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db := Open(t, dsn)
	Must(t, db.CreateRegistry(t.Context()))
	return db
}

// Open opens a database until the end of the test.
func Open(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dsn)
	Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// OpenReadOnly is [Open] for a database that must not change.
func OpenReadOnly(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), dsn)
	Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// Exec runs a statement on a [store.Session], or on the pool of a registry.
func Exec(t testing.TB, on interface {
	Exec(ctx context.Context, query string, args ...any) (sql.Result, error)
}, query string, args ...any) {
	t.Helper()
	if s, ok := on.(interface{ Dialect() store.Dialect }); ok {
		query = SQL(s.Dialect(), query)
	}
	_, err := on.Exec(t.Context(), query, args...)
	Must(t, err)
}

// ExecAll carries out statements in a database, as they are.
func ExecAll(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	db, err := sqldb.Dial(t.Context(), dsn, sqldb.ReadWrite)
	Must(t, err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// hexLiteral matches bytes.
var hexLiteral = regexp.MustCompile(`\b[xX]'([0-9a-fA-F]*)'`)

// SQL writes a statement that makes tables of MySQL and SQLite for another dialect.
func SQL(d store.Dialect, query string) string {
	if d != store.PostgreSQL {
		return query
	}
	query = hexLiteral.ReplaceAllString(query, `'\x$1'`)
	return strings.NewReplacer("BINARY(10)", "BYTEA", "BINARY(16)", "BYTEA", "LONGBLOB", "BYTEA", "BLOB", "BYTEA", "BIGINT UNSIGNED", "NUMERIC(20)", "DATETIME(3)", "TIMESTAMPTZ(3)", "DATETIME", "TIMESTAMPTZ",
		"DOUBLE", "DOUBLE PRECISION", "`", `"`).Replace(query)
}

// TableNames returns the names of all tables, sorted.
func TableNames(t testing.TB, db *store.DB) (names []string) {
	t.Helper()
	Must(t, db.Select(t.Context(), &names, sqldb.Dialect(db.Dialect()).TableNames()))
	slices.Sort(names)
	return names
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Is checks that err is each of yes and none of no.
func Is(t testing.TB, err error, yes []error, no ...error) {
	t.Helper()
	for _, want := range yes {
		if !errors.Is(err, want) {
			t.Errorf("%v is not: %v", err, want)
		}
	}
	for _, other := range no {
		if errors.Is(err, other) {
			t.Errorf("%v is: %v", err, other)
		}
	}
}

// First returns the value of a call that must not fail.
func First[A any](a A, err error) A {
	if err != nil {
		panic(err)
	}
	return a
}

// Second returns the error of a call that returns something else as well.
func Second[A any](_ A, err error) error { return err }

// Await waits for a condition.
func Await(t testing.TB, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !met(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
