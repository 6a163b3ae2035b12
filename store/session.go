package store

import (
	"context"
	"database/sql"

	"mergesafe/internal/sqldb"
)

// Session is what the methods of a [Table] work on: a [*DB] or a [*Tx].
//
// Its own methods work like those of sqlx, for queries that Table does not offer. They return the
// errors of this package. Pass values as arguments for each ? in a
// query, never within its text.
//
// Statements that change more than rows are refused:
//
//   - one that begins or ends a transaction: on a [*DB] it would leave a transaction open, in
//     which the writes of others are lost, and a [*Tx] is ended by the code that began it. Savepoints
//     in a Tx are allowed;
//   - LOCK and UNLOCK TABLES, USE, and SET of autocommit, completion_type or search_path, because
//     they change a connection that the pool gives to others;
//   - on a [*DB], CREATE TEMPORARY; a Tx must drop the temporary tables that it makes;
//   - in a Tx of MySQL, a statement that commits it, such as CREATE or TRUNCATE.
//
// A routine, or a text that the server runs as a statement (EXECUTE, set_config), must not do any
// of this either: that cannot be seen. If you need such a statement,
// take a connection of [DB.Pool], and restore it afterwards.
type Session interface {
	// Exec runs a statement that returns no rows.
	Exec(ctx context.Context, query string, args ...any) (sql.Result, error)

	// Get reads one row into dest, a pointer to a struct with db tags or to a
	// single value. If there is no row, it returns [ErrNotFound].
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
// serialization failure, a lock that is busy), InTx calls f again, in a new transaction,
// up to ten times or until ctx ends. Between the calls it waits for a random time, up to
// 1 ms at first and 256 ms finally. So f may run several times: whatever it does outside
// the transaction happens each time.
//
// If the commit fails and it is not known whether the transaction took effect, the error
// is [ErrOutcomeUnknown]; for instance if ctx ends while the server is
// committing. Then f is not called again.
//
// When ctx ends, neither a commit nor a rollback waits for a server that does
// not answer: the connection is closed, and the server then rolls back what was
// not committed. A rollback never waits longer than 2 seconds.
//
// If a deadlock has ended the transaction in MySQL, f can change nothing more, and InTx
// treats it as a deadlock even if f returns nil. In SQLite a trigger or a constraint may end
// the transaction (RAISE(ROLLBACK), ON CONFLICT ROLLBACK): f must return the error of
// that statement, because what f changes after it is not undone.
//
// SQLite has one transaction at a time: InTx waits for its turn.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	return db.db.RetryTx(ctx, begun(f))
}

// InTxOnce is [DB.InTx] without the retries: it calls f at most once.
func (db *DB) InTxOnce(ctx context.Context, f func(*Tx) error) error {
	return db.db.InTx(ctx, begun(f))
}

// Snapshot runs f in a transaction that reads one state of the whole database, whatever
// others write meanwhile. It cannot write: a statement that tries to write returns [ErrReadOnly].
func (db *DB) Snapshot(ctx context.Context, f func(*Tx) error) error {
	return db.db.Snapshot(ctx, begun(f))
}
