package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// Session is what the methods of a [Table] work on: a [*DB] or a [*Tx].
//
// Its own methods are those of sqlx, for queries that no Table has, with the
// errors of this package. Values are passed as arguments for the ? in a
// query, never within its text.
type Session interface {
	// Exec runs a statement that returns no rows.
	Exec(ctx context.Context, query string, args ...any) (sql.Result, error)

	// Get reads one row into dest, a pointer to a struct with db tags or to a
	// single value. No row is [ErrNotFound].
	Get(ctx context.Context, dest any, query string, args ...any) error

	// Select reads all rows into dest, a pointer to a slice of such.
	Select(ctx context.Context, dest any, query string, args ...any) error

	// Dialect returns the kind of the database.
	Dialect() Dialect

	of() *session
}

// session is what DB and Tx have in common.
type session struct {
	db *DB
	tx *Tx             // nil if each call is a transaction of its own
	on sqlx.ExtContext // the pool, or the transaction
}

func (s *session) of() *session { return s }

// Dialect returns the kind of the database.
func (s *session) Dialect() Dialect { return s.db.dialect }

// Exec implements [Session].
func (s *session) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return s.exec(ctx, seldom, "statement", query, args...)
}

// Get implements [Session].
func (s *session) Get(ctx context.Context, dest any, query string, args ...any) error {
	return s.fault("query", sqlx.GetContext(ctx, s.on, dest, query, args...))
}

// Select implements [Session].
func (s *session) Select(ctx context.Context, dest any, query string, args ...any) error {
	return s.fault("query", sqlx.SelectContext(ctx, s.on, dest, query, args...))
}

// mayChange returns an error if nothing may be changed.
func (s *session) mayChange(ctx context.Context, what string) error {
	if s.db.readOnly || s.tx != nil && s.tx.readOnly {
		return &opError{what, ErrReadOnly}
	}
	if err := ctx.Err(); err != nil {
		return &opError{what, err} // rather than ErrOutcomeUnknown
	}
	return nil
}

// changeFault is fault for a change: it says of an error whether the change
// may have been made.
func (s *session) changeFault(what string, err error) error {
	if s.tx == nil {
		err = s.db.lockFault(err)
	}
	if err != nil && s.tx == nil && !refused(err) {
		if err := translate(err); errors.Is(err, ErrUnavailable) || isContext(err) {
			return &opError{what, fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)}
		}
	}
	return s.fault(what, err)
}

// fault gives an error of the driver its meaning and its place. It also turns
// the success of a read that cannot be trusted into an error.
func (s *session) fault(what string, err error) error {
	if err := s.db.Unchanged(); err != nil {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return &opError{what, translate(err)}
	}
	return nil
}

// Tx is one transaction. It belongs to the function that [DB.InTx] or
// [DB.Snapshot] calls, and to one goroutine. It implements [Session].
type Tx struct {
	session
	begun    *sqlx.Tx
	readOnly bool
	prepared map[string]*sqlx.Stmt
}

// InTx runs f in a transaction, which is committed if f returns nil and
// rolled back if it returns an error or panics. The error of f is returned as
// it is, and a panic goes on.
//
// An error of the commit that leaves open whether the transaction took effect
// is [ErrOutcomeUnknown]; that includes a ctx that ends while the server is
// committing. InTx calls f once: for an [ErrRetryable], which any transaction
// may meet, see [Retry].
//
// When ctx ends, neither a commit nor a rollback waits for a server that does
// not answer: the connection is closed, and the server then rolls back what was
// not committed. Nor does a rollback wait for longer than 2 seconds.
//
// In SQLite there is one transaction at a time: it waits for its turn.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	if db.readOnly {
		return &opError{"begin", ErrReadOnly}
	}
	return db.inTx(ctx, nil, f)
}

// Snapshot runs f in a transaction that reads one state of the whole database,
// whatever others write meanwhile. It changes nothing: what tries to is
// [ErrReadOnly].
func (db *DB) Snapshot(ctx context.Context, f func(*Tx) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if db.dialect == MySQL {
		options.Isolation = sql.LevelRepeatableRead
	}
	return db.inTx(ctx, options, f)
}

func (db *DB) inTx(ctx context.Context, options *sql.TxOptions, f func(*Tx) error) error {
	begun, err := db.pool.BeginTxx(ctx, options)
	if err != nil {
		if options == nil {
			err = db.lockFault(err)
		}
		return db.fault("begin", err)
	}
	tx := &Tx{begun: begun, readOnly: options != nil, prepared: make(map[string]*sqlx.Stmt)}
	tx.session = session{db: db, tx: tx, on: begun}
	done := false
	defer func() {
		if !done {
			begun.Rollback() // f panicked, or ended the goroutine
		}
	}()
	err = f(tx)
	done = true
	if err != nil {
		begun.Rollback() // an error means that the connection is gone, and the transaction with it
		return err
	}
	err = begun.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		err = ctx.Err() // which is why it was rolled back
	}
	_, unanswered := errors.AsType[*unansweredError](err)
	switch {
	case err == nil || tx.readOnly:
		return db.Unchanged()
	case refused(err) || isContext(err) && !unanswered: // a context that ends before the commit rolls back
		return db.fault("commit", err)
	default:
		return &opError{"commit", fmt.Errorf("%w: %w", ErrOutcomeUnknown, translate(err))}
	}
}

// Retry calls f up to ten times, until it returns nil or an error that is not
// [ErrRetryable], and returns what the last call did. Between the calls it
// waits for a random time, up to 1 ms at first and 256 ms at last, or until
// ctx ends.
//
//	err := store.Retry(ctx, func() error {
//		return db.InTx(ctx, func(tx *store.Tx) error { ... })
//	})
func Retry(ctx context.Context, f func() error) error {
	const most = 10
	wait := time.Millisecond
	for i := 1; ; i++ {
		err := f()
		if i == most || !errors.Is(err, ErrRetryable) {
			return err
		}
		select {
		case <-time.After(rand.N(wait)):
			wait *= 2
		case <-ctx.Done():
			return err
		}
	}
}

// kind tells how a query of a table is run.
type kind int

const (
	seldom kind = iota // as it is: the same text does not come often
	short              // prepared, unless that would take longer than it saves
	long               // prepared
)

// query runs a query of a table.
func (s *session) query(ctx context.Context, k kind, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.statement(ctx, k, query)
	if err == nil && stmt != nil {
		var rows *sql.Rows
		if rows, err = stmt.QueryContext(ctx, args...); err == nil {
			return rows, nil
		}
	}
	if err != nil && !tooManyStatements(err) {
		return nil, err
	}
	return s.on.QueryContext(ctx, query, args...)
}

// exec runs a statement of a table. what is for the error message.
func (s *session) exec(ctx context.Context, k kind, what, query string, args ...any) (sql.Result, error) {
	if err := s.mayChange(ctx, what); err != nil {
		return nil, err
	}
	stmt, err := s.statement(ctx, k, query)
	if err != nil && !tooManyStatements(err) {
		return nil, s.fault(what, err) // nothing was changed yet
	}
	var result sql.Result
	if stmt != nil {
		result, err = stmt.ExecContext(ctx, args...)
	}
	if stmt == nil || tooManyStatements(err) {
		result, err = s.on.ExecContext(ctx, query, args...)
	}
	return result, s.changeFault(what, err)
}

// statement returns query prepared, or nil if it is to be run as it is.
//
// The pool keeps what it has prepared, and each connection with it. A
// transaction uses that. It does not have the pool prepare more, for which
// there may be no connection left, but does it for itself: except for a short
// query in MySQL, where it would take a round trip that nothing makes up for.
func (s *session) statement(ctx context.Context, k kind, query string) (*sqlx.Stmt, error) {
	if k == seldom {
		return nil, nil
	}
	if s.tx != nil && s.tx.prepared[query] != nil {
		return s.tx.prepared[query], nil
	}
	s.db.mu.Lock()
	stmt := s.db.prepared[query]
	s.db.mu.Unlock()
	switch {
	case s.tx == nil && stmt != nil:
		return stmt, nil
	case s.tx == nil:
		return s.db.prepare(ctx, query)
	case stmt != nil:
		stmt = s.tx.begun.StmtxContext(ctx, stmt)
	case k == short && s.db.dialect == MySQL:
		return nil, nil
	default:
		var err error
		if stmt, err = s.tx.begun.PreparexContext(ctx, query); err != nil {
			return nil, err
		}
	}
	s.tx.prepared[query] = stmt // closed by the end of the transaction
	return stmt, nil
}

func (db *DB) prepare(ctx context.Context, query string) (*sqlx.Stmt, error) {
	stmt, err := db.pool.PreparexContext(ctx, query)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if first := db.prepared[query]; first != nil { // somebody else was faster
		stmt.Close()
		return first, nil
	}
	db.prepared[query] = stmt
	return stmt, nil
}
