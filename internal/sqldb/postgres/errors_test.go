package postgres_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

// otherDriver is a connector of pgx that does not look so.
type otherDriver struct{ *faulty.Wire }

func (otherDriver) Driver() driver.Driver { return struct{ driver.Driver }{} }

// A change whose answer was lost is told from one that was not made, and is made once: lib/pq calls such a
// connection bad, and package database/sql then repeats the statement.
func TestLostAnswers(t *testing.T) {
	dsn := servertest.PostgresDSN(t)
	config, err := pgx.ParseConfig(dsn)
	must(t, err)
	var lost string // the answer of what begins so
	var with error
	wire := &faulty.Wire{Connector: stdlib.GetConnector(*config), Fault: func(what string) (error, bool) {
		if lost != "" && strings.HasPrefix(what, lost) {
			_, refused := errors.AsType[*pgconn.PgError](with)
			return with, !refused
		}
		return nil, false
	}}
	storetest.Exec(t, storetest.Open(t, dsn), "CREATE TABLE notes (n INT)")
	for _, test := range []struct {
		connector driver.Connector
		lost      string
		with      error
		unknown   bool
		rows      int
	}{
		{wire, "INSERT", pgconn.ErrConnClosed, true, 1},
		{wire, "COMMIT", pgconn.ErrConnClosed, true, 2},
		{wire, "INSERT", &pgconn.PgError{Code: "57P05"}, false, 0}, // idle_session_timeout
		{otherDriver{wire}, "INSERT", driver.ErrBadConn, false, 0}, // in a transaction, that is rolled back
		{otherDriver{wire}, "COMMIT", driver.ErrBadConn, true, 2},
	} {
		lost = ""
		pool := sql.OpenDB(test.connector)
		defer pool.Close()
		db, err := store.Wrap(t.Context(), pool, store.PostgreSQL)
		must(t, err)
		storetest.Exec(t, db, "DELETE FROM notes")
		lost, with = test.lost, test.with
		insert := func(s store.Session) error {
			_, err := s.Exec(t.Context(), "INSERT INTO notes VALUES (1)")
			return err
		}
		err = insert(db)
		if lost == "COMMIT" {
			err = errors.Join(err, db.InTx(t.Context(), func(tx *store.Tx) error { return insert(tx) }))
		}
		lost = ""
		var rows int
		must(t, db.Get(t.Context(), &rows, "SELECT COUNT(*) FROM notes"))
		unknown := errors.Is(err, store.ErrOutcomeUnknown)
		if rows != test.rows || unknown != test.unknown || !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%v after %s: %d rows and %v, want %d rows, unknown: %t",
				test.with, test.lost, rows, err, test.rows, test.unknown)
		}
	}
}

// Errors say whether anything was changed, and whether it helps to try again.
func TestMeanings(t *testing.T) {
	dsn := servertest.PostgresDSN(t)
	db := storetest.Open(t, dsn)
	exec := func(s store.Session, query string, args ...any) error {
		_, err := s.Exec(t.Context(), query, args...)
		return err
	}
	must(t, exec(db, "CREATE TABLE notes (n INT PRIMARY KEY)"))
	must(t, exec(db, "INSERT INTO notes VALUES (1)"))
	is := func(what string, err, want error, never ...error) {
		t.Helper()
		if want != nil && !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
		for _, not := range never {
			if errors.Is(err, not) {
				t.Errorf("%s: got %v, and it is not so", what, err)
			}
		}
	}
	err := db.InTx(t.Context(), func(tx *store.Tx) error {
		is("a key again", exec(tx, "INSERT INTO notes VALUES (1)"), store.ErrDuplicate)
		return nil
	})
	is("a commit after an error", err, pgx.ErrTxCommitRollback, store.ErrOutcomeUnknown)
	is("a table again", exec(db, "CREATE TABLE notes (n INT)"), nil, store.ErrRetryable)
	is("too large", exec(db, "INSERT INTO notes VALUES (?)", int64(1)<<40), store.ErrInvalid)

	err = store.Translate(libpqError{'t': "players", 'n': "players_name_key"})
	duplicate, _ := errors.AsType[*store.DuplicateError](err)
	if duplicate == nil || duplicate.Table != "players" || duplicate.Key != "name" {
		t.Errorf("the unique key in an error of lib/pq: %+v", duplicate)
	}
}

// libpqError is what lib/pq returns.
type libpqError map[byte]string

func (e libpqError) Error() string         { return "pq: doppelter Schlüsselwert verletzt Unique-Constraint" }
func (e libpqError) SQLState() string      { return "23505" }
func (e libpqError) Get(field byte) string { return e[field] }
