package store

import (
	"context"
	"database/sql"

	"mergesafe/internal/sqldb"
)

// Session is what the methods of a [Table] work on: a [*DB] or a [*Tx].
//
// Its own methods are those of sqlx, for queries that no Table has, with the
// errors of this package. Values are passed as arguments for the ? in a
// query, never within its text.
//
// A statement that begins or ends a transaction is refused: on a [*DB] it would leave
// one open, in which what others write is lost, and a [*Tx] is ended by those who
// began it. Savepoints in a Tx are not refused. LOCK and UNLOCK TABLES, USE, and SET of
// autocommit, completion_type or search_path are refused, too, because they change a
// connection that the pool gives to others; on a [*DB] so is CREATE TEMPORARY, and what a Tx
// makes that is temporary it must drop. In a Tx of MySQL what commits it is refused, such
// as CREATE or TRUNCATE. What a routine does, or a text that the server runs as a
// statement (EXECUTE, set_config), is not seen, and must not do any of this. To do it,
// take a connection of [DB.Pool], and put it back as it was.
type Session interface {
	// Exec runs a statement that returns no rows.
	Exec(ctx context.Context, query string, args ...any) (sql.Result, error)

	// Get reads one row into dest, a pointer to a struct with db tags or to a
	// single value. No row is [ErrNotFound].
	Get(ctx context.Context, dest any, query string, args ...any) error

	// Select reads all rows into dest, a pointer to a slice of structs or values.
	Select(ctx context.Context, dest any, query string, args ...any) error

	// Dialect returns the kind of the database.
	Dialect() Dialect

	of() *sqldb.Session
}

// session is what DB and Tx have in common.
type session struct{ on *sqldb.Session }

func (s session) of() *sqldb.Session { return s.on }

// Dialect returns the kind of the database.
func (s session) Dialect() Dialect { return Dialect(s.on.Dialect()) }

// Exec implements [Session].
func (s session) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := s.on.Control(query); err != nil {
		return nil, err
	}
	return s.on.Exec(ctx, query, args...)
}

// Get implements [Session].
func (s session) Get(ctx context.Context, dest any, query string, args ...any) error {
	if err := s.on.Control(query); err != nil {
		return err
	}
	return s.on.Get(ctx, dest, query, args...)
}

// Select implements [Session].
func (s session) Select(ctx context.Context, dest any, query string, args ...any) error {
	if err := s.on.Control(query); err != nil {
		return err
	}
	return s.on.Select(ctx, dest, query, args...)
}

// Tx is one transaction. It belongs to the function that [DB.InTx],
// [DB.InTxOnce] or [DB.Snapshot] calls, and to one goroutine. It implements [Session].
type Tx struct{ session }

func begun(f func(*Tx) error) func(*sqldb.Tx) error {
	return func(tx *sqldb.Tx) error { return f(&Tx{session{&tx.Session}}) }
}

// InTx runs f in a transaction, which is committed if f returns nil and
// rolled back if it returns an error or panics. The error of f is returned as
// it is, and a panic continues.
//
// If the database says that another attempt may succeed ([ErrRetryable]: a deadlock, a
// serialization failure, a lock that is busy), InTx calls f again, in a new transaction:
// up to ten times, until ctx ends. Between the calls it waits for a random time, up to
// 1 ms at first and 256 ms finally. So f may run several times: what it does outside of
// the transaction is done as often.
//
// An error of the commit that leaves open whether the transaction took effect
// is [ErrOutcomeUnknown]; that includes a ctx that ends while the server is
// committing. Then f is not called again.
//
// When ctx ends, neither a commit nor a rollback waits for a server that does
// not answer: the connection is closed, and the server then rolls back what was
// not committed. Nor does a rollback wait for longer than 2 seconds.
//
// If a deadlock has ended the transaction in MySQL, f can change nothing more, and the
// deadlock counts even if f returns nil. In SQLite a trigger or a constraint may end
// the transaction (RAISE(ROLLBACK), ON CONFLICT ROLLBACK): f must return the error of
// that statement, because what f changes after it is not undone.
//
// SQLite has one transaction at a time: InTx waits for its turn.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	return db.db.RetryTx(ctx, begun(f))
}

// InTxOnce is [DB.InTx] without the retries: it calls f once at most.
func (db *DB) InTxOnce(ctx context.Context, f func(*Tx) error) error {
	return db.db.InTx(ctx, begun(f))
}

// Snapshot runs f in a transaction that reads one state of the whole database, whatever
// others write meanwhile. It cannot write: a statement that tries to is [ErrReadOnly].
func (db *DB) Snapshot(ctx context.Context, f func(*Tx) error) error {
	return db.db.Snapshot(ctx, begun(f))
}
