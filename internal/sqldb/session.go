package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// Session is what a [DB] and a [Tx] have in common: queries, with errors that
// say what they mean.
type Session struct {
	db *DB
	tx *Tx     // nil if each call is a transaction of its own
	on queryer // the pool, or the transaction
}

// Dialect returns the kind of the database.
func (s *Session) Dialect() Dialect { return s.db.dialect }

// DB returns the database.
func (s *Session) DB() *DB { return s.db }

// IsTx reports whether the session is a transaction.
func (s *Session) IsTx() bool { return s.tx != nil }

// Exec runs a statement that returns no rows.
func (s *Session) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return s.ExecKind(ctx, Seldom, "statement", query, args...)
}

// Get reads one row into dest, a pointer to a struct with db tags or to a
// single value. No row is [ErrNotFound].
func (s *Session) Get(ctx context.Context, dest any, query string, args ...any) error {
	return s.GetAs(ctx, "query", dest, query, args...)
}

// GetAs is Get with the name of the operation (what), for the error message.
func (s *Session) GetAs(ctx context.Context, what string, dest any, query string, args ...any) error {
	return s.Fault(what, s.with(ctx, func(on queryer) error { return sqlx.GetContext(ctx, on, dest, s.Dialect().Native(query), args...) }))
}

// Select reads all rows into dest, a pointer to a slice of such.
func (s *Session) Select(ctx context.Context, dest any, query string, args ...any) error {
	return s.Fault("query", s.with(ctx, func(on queryer) error { return sqlx.SelectContext(ctx, on, dest, s.Dialect().Native(query), args...) }))
}

// mayChange returns an error if nothing may be changed.
func (s *Session) mayChange(ctx context.Context, what string) error {
	if s.db.readOnly || s.tx != nil && s.tx.readOnly {
		return &OpError{what, ErrReadOnly}
	}
	if s.tx != nil && s.tx.ended != nil {
		return &OpError{what, s.tx.ended}
	}
	if err := ctx.Err(); err != nil {
		return &OpError{what, err} // rather than ErrOutcomeUnknown
	}
	return nil
}

// changeFault is Fault for a change: it says of an error whether the change
// may have been made.
func (s *Session) changeFault(what string, err error) error {
	if s.tx == nil {
		err = s.db.sessions.LockFault(err)
	}
	if err != nil && s.tx == nil && !refused(err) {
		if err := Translate(err); errors.Is(err, ErrUnavailable) || IsContext(err) {
			return &OpError{what, fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)}
		}
	}
	return s.Fault(what, err)
}

// Fault gives an error of the driver its meaning and its place. It also turns
// the success of a read that cannot be trusted into an error.
func (s *Session) Fault(what string, err error) error {
	if err := s.db.Unchanged(); err != nil {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err == nil {
		return nil
	}
	err = Translate(err)
	if s.tx != nil && Says(err, RolledBack) {
		s.tx.ended = err
	}
	if err != ErrNotFound && !errors.Is(err, ErrReplaced) {
		if replaced := s.db.Kept(); errors.Is(replaced, ErrReplaced) { // which is why
			err = fmt.Errorf("%w: %w", replaced, err)
		}
	}
	return &OpError{what, err}
}

// Tx is one transaction. It belongs to the function that [DB.InTx] or
// [DB.Snapshot] calls, and to one goroutine. It implements [Session].
type Tx struct {
	Session
	begun    *sqlx.Tx
	readOnly bool
	ended    error // with which the database has rolled it back
	prepared map[string]*sqlx.Stmt
}

// Over returns a session over a transaction that was begun elsewhere.
func (db *DB) Over(begun *sql.Tx) *Session {
	tx := &Tx{begun: &sqlx.Tx{Tx: begun, Mapper: db.pool.Mapper}, prepared: make(map[string]*sqlx.Stmt)}
	tx.Session = Session{db: db, tx: tx, on: tx.begun}
	return &tx.Session
}

// Begun returns the transaction beneath.
func (tx *Tx) Begun() *sqlx.Tx { return tx.begun }

// InTx runs f in a transaction, as store.DB.InTxOnce describes.
func (db *DB) InTx(ctx context.Context, f func(*Tx) error) error {
	if db.readOnly {
		return &OpError{"begin", ErrReadOnly}
	}
	return db.begin(ctx, "", nil, f)
}

// Snapshot runs f in a transaction that reads one state of the database, as store.DB.Snapshot describes.
func (db *DB) Snapshot(ctx context.Context, f func(*Tx) error) error {
	return db.begin(ctx, "", &sql.TxOptions{ReadOnly: true, Isolation: db.dialect.Words().Snapshot}, f)
}

// Change is [DB.InTx] for one change that uniqueness rests on: what is for the
// messages, also if the transaction cannot begin or be committed.
func (db *DB) Change(ctx context.Context, what string, f func(*Tx) error) error {
	if db.readOnly {
		return &OpError{what, ErrReadOnly}
	}
	return db.begin(ctx, what, db.dialect.Words().Change, func(tx *Tx) error {
		if err := tx.journaled(ctx); err != nil {
			return err
		}
		return f(tx)
	})
}

func (db *DB) begin(ctx context.Context, what string, options *sql.TxOptions, f func(*Tx) error) error {
	if !db.guard && (db.ours || db.dialect.Words().File) && !db.mustForbid(options) {
		return db.run(ctx, db.pool, what, options, f)
	}
	if !db.guard {
		conn, err := db.pool.Connx(ctx)
		if err != nil {
			return db.Fault(cmp.Or(what, "begin"), err)
		}
		defer conn.Close()
		return db.run(ctx, conn, what, options, f)
	}
	connected := false
	err := db.Guard(ctx, func(conn *sqlx.Conn) error {
		connected = true
		return db.run(ctx, conn, what, options, f)
	})
	if !connected {
		err = db.Fault(cmp.Or(what, "begin"), err)
	}
	return err
}

// beginner is what a transaction begins on: a pool, or a connection.
type beginner interface {
	BeginTxx(ctx context.Context, options *sql.TxOptions) (*sqlx.Tx, error)
}

// RollbackTimeout is how long the end of a transaction that failed waits for a server that does not answer. A
// connection that is closed instead is rolled back as well.
const RollbackTimeout = 2 * time.Second

func (db *DB) run(ctx context.Context, on beginner, what string, options *sql.TxOptions, f func(*Tx) error) error {
	readOnly := options != nil && options.ReadOnly
	ctx, end := context.WithCancel(ctx)
	defer end()
	begun, err := on.BeginTxx(ctx, options)
	if err != nil {
		if !readOnly {
			err = db.sessions.LockFault(err)
		}
		return db.Fault(cmp.Or(what, "begin"), err)
	}
	rollback := func() {
		timer := time.AfterFunc(RollbackTimeout, end) // which ends the connection
		begun.Rollback()
		timer.Stop()
	}
	if db.mustForbid(options) {
		allow, err := db.sessions.Forbid(ctx, on.(*sqlx.Conn), begun)
		if err != nil {
			rollback()
			return db.Fault(cmp.Or(what, "begin"), err)
		}
		defer allow()
	}
	tx := &Tx{begun: begun, readOnly: readOnly, prepared: make(map[string]*sqlx.Stmt)}
	tx.Session = Session{db: db, tx: tx, on: begun}
	done := false
	defer func() {
		if !done {
			rollback() // f panicked, or ended the goroutine
		}
	}()
	if err = f(tx); err == nil && tx.ended != nil {
		err = &OpError{cmp.Or(what, "commit"), tx.ended}
	}
	done = true
	if err != nil {
		rollback() // an error means that the connection is gone, and the transaction with it
		return err
	}
	over := ctx.Err() != nil // then database/sql does not ask the server
	err = begun.Commit()
	conn, _ := on.(*sqlx.Conn)
	err = db.sessions.Judged(ctx, conn, err)
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		err = ctx.Err() // which is why it was rolled back
	}
	_, unanswered := errors.AsType[*UnansweredError](err)
	unanswered = unanswered && !over
	switch {
	case tx.readOnly:
		return db.Unchanged()
	case err == nil:
		return db.confirmed(cmp.Or(what, "commit"), what != "") // a change that uniqueness rests on has a name
	case !unanswered && (refused(err) || IsContext(err)): // a context that ends before the commit rolls back
		return db.Fault(cmp.Or(what, "commit"), err)
	default:
		return &OpError{cmp.Or(what, "commit"), fmt.Errorf("%w: %w", ErrOutcomeUnknown, Translate(err))}
	}
}

// mustForbid reports whether a transaction is to be read-only and the database
// does not see to that: drivers of SQLite leave it to the caller.
func (db *DB) mustForbid(options *sql.TxOptions) bool {
	return db.dialect.Words().File && options != nil && options.ReadOnly && !db.readOnly
}

// Retry calls f again after an [ErrRetryable], as store.DB.InTx describes. For a transaction there is
// [DB.RetryTx].
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

// RetryTx is [DB.InTx], tried again as [Retry] does.
func (db *DB) RetryTx(ctx context.Context, f func(*Tx) error) error {
	return Retry(ctx, func() error { return db.InTx(ctx, f) })
}

// Kind tells how often a query comes, and so how it is run.
type Kind int

const (
	Seldom Kind = iota // as it is: the same text does not come often
	Short              // prepared, unless that would take longer than it saves
	Long               // prepared
)

// Query runs a query, and read on its rows. In a pool without autocommit both are a transaction of their own.
func (s *Session) Query(ctx context.Context, k Kind, read func(*sql.Rows) error, query string, args ...any) error {
	if s.tx == nil && s.db.manual && !s.db.guard {
		return s.db.exclusively(ctx, func(on queryer) error {
			return s.db.Over(on.(*sqlx.Tx).Tx).Query(ctx, k, read, query, args...)
		})
	}
	rows, err := s.query(ctx, k, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return cmp.Or(read(rows), rows.Err(), rows.Close())
}

// query runs a query. One that was prepared before the columns changed is prepared anew.
func (s *Session) query(ctx context.Context, k Kind, query string, args ...any) (*sql.Rows, error) {
	const most = 3 // one for each connection that has it
	for attempt := 1; ; attempt++ {
		rows, err := s.queryOnce(ctx, k, query, args...)
		if err == nil || !s.db.forgets(query, err) || s.tx != nil || attempt == most {
			return rows, err
		}
	}
}

// forgets closes a statement of the pool, if err says that it was prepared for other columns, or that it was closed
// so while another goroutine used it.
func (db *DB) forgets(query string, err error) bool {
	if !Says(err, StalePlan) {
		return err.Error() == "sql: statement is closed"
	}
	db.mu.Lock()
	stmt := db.prepared[query]
	delete(db.prepared, query)
	db.mu.Unlock()
	if stmt != nil {
		stmt.Close() // a connection would not prepare the text again
	}
	return true
}

func (s *Session) queryOnce(ctx context.Context, k Kind, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.Statement(ctx, k, query)
	if err == nil && stmt != nil {
		var rows *sql.Rows
		if rows, err = stmt.QueryContext(ctx, args...); err == nil {
			return rows, nil
		}
	}
	if err != nil && !Says(err, TooManyStatements) {
		return nil, err
	}
	return s.on.QueryContext(ctx, s.Dialect().Native(query), args...)
}

// ExecKind runs a statement that changes something. The parameter what names the
// operation in the error message.
func (s *Session) ExecKind(ctx context.Context, k Kind, what, query string, args ...any) (sql.Result, error) {
	if err := s.mayChange(ctx, what); err != nil {
		return nil, err
	}
	var result sql.Result
	if s.tx == nil && s.db.adopted && (!s.db.guard && s.db.dialect.Words().Explicit || s.db.sessions.Repeats()) {
		err := s.db.Change(ctx, what, func(tx *Tx) (err error) {
			result, err = tx.ExecKind(ctx, k, what, query, args...)
			return err
		})
		return result, err
	}
	stmt, err := s.Statement(ctx, k, query)
	if err != nil && !Says(err, TooManyStatements) {
		return nil, s.Fault(what, err) // nothing was changed yet
	}
	if stmt != nil {
		result, err = stmt.ExecContext(ctx, args...)
	}
	if stmt == nil || Says(err, TooManyStatements) {
		err = s.with(ctx, func(on queryer) error {
			result, err = on.ExecContext(ctx, s.Dialect().Native(query), args...)
			return err
		})
	}
	if err = s.changeFault(what, err); err == nil && s.tx == nil {
		err = s.db.confirmed(what, false)
	}
	return result, err
}

// Statement returns query prepared, or nil if it is to be run as it is.
//
// The pool keeps the statements that it has prepared, on each connection, and a
// transaction uses them. A transaction does not let the pool prepare further
// statements, because there may be no connection left for that: it prepares them
// itself. It does not prepare a short query in MySQL, because that costs a round
// trip and saves less.
func (s *Session) Statement(ctx context.Context, k Kind, query string) (*sqlx.Stmt, error) {
	if k == Seldom {
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
	case k == Short && s.db.dialect.Words().ShortPlain:
		return nil, nil
	default:
		var err error
		if stmt, err = s.tx.begun.PreparexContext(ctx, s.Dialect().Native(query)); err != nil {
			return nil, err
		}
	}
	s.tx.prepared[query] = stmt // closed by the end of the transaction
	return stmt, nil
}

func (db *DB) prepare(ctx context.Context, query string) (*sqlx.Stmt, error) {
	stmt, err := db.pool.PreparexContext(ctx, db.dialect.Native(query))
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	first := db.prepared[query]
	if first == nil {
		db.prepared[query] = stmt
	}
	db.mu.Unlock()
	if first == nil {
		return stmt, nil
	}
	stmt.Close()      // without the lock: it may ask the server
	return first, nil // another goroutine was faster
}
