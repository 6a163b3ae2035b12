// Package faulty makes the requests of a program to its databases fail, one or all of them, before
// or after they are done.
package faulty

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/go-sql-driver/mysql"
)

// Wire is the connection to a database, which can lose requests and answers.
type Wire struct {
	driver.Connector

	// Fault is called at every statement and commit. To make one fail it returns an
	// error, and whether the statement is executed all the same. A [*CutError] of a query
	// says after how many of its rows it fails. After [mysql.ErrInvalidConn] the connection is gone.
	Fault func(what string) (err error, done bool)
}

// CutError makes a query fail after some of its rows; at its end, if it has no more.
type CutError struct {
	Rows int
	Err  error
}

func (e *CutError) Error() string { return e.Err.Error() }
func (e *CutError) Unwrap() error { return e.Err }

// Connect implements [driver.Connector].
func (w *Wire) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &wireConn{Conn: conn, w: w}, nil
}

type wireConn struct {
	driver.Conn
	w    *Wire
	lost bool
}

// fault is Fault. A connection that was lost answers no more.
func (c *wireConn) fault(what string) (err error, done bool) {
	if c.lost {
		return mysql.ErrInvalidConn, false
	}
	err, done = c.w.Fault(what)
	if _, cut := errors.AsType[*CutError](err); !cut {
		c.lose(err)
	}
	return err, done
}

// lose has the pool close the connection when it comes back.
func (c *wireConn) lose(err error) {
	c.lost = c.lost || errors.Is(err, mysql.ErrInvalidConn)
}

func (c *wireConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.exec(query, func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args) })
}

func (c *wireConn) exec(query string, do func() (driver.Result, error)) (driver.Result, error) {
	err, done := c.fault(query)
	if err != nil && !done {
		return nil, err
	}
	result, failed := do()
	if failed != nil {
		return nil, failed
	}
	return result, err
}

func (c *wireConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.query(query, func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args) })
}

func (c *wireConn) query(query string, do func() (driver.Rows, error)) (driver.Rows, error) {
	err, _ := c.fault(query)
	cut, is := errors.AsType[*CutError](err)
	if err != nil && !is {
		return nil, err
	}
	rows, err := do()
	if is && err == nil {
		rows = &wireRows{rows, c, *cut}
	}
	return rows, err
}

// wireRows are the rows of an answer that is cut.
type wireRows struct {
	driver.Rows
	conn *wireConn
	cut  CutError
}

func (r *wireRows) Next(dest []driver.Value) error {
	if r.cut.Rows--; r.cut.Rows >= 0 {
		if err := r.Rows.Next(dest); err != io.EOF {
			return err
		}
	}
	r.conn.lose(r.cut.Err)
	return r.cut.Err
}

// PrepareContext implements [driver.ConnPrepareContext]. That statements are prepared is no request of its own.
func (c *wireConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &wireStmt{s, c, query}, nil
}

type wireStmt struct {
	driver.Stmt
	conn  *wireConn
	query string
}

func (s *wireStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.exec(s.query, func() (driver.Result, error) { return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args) })
}

func (s *wireStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.query(s.query, func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) })
}

func (s *wireStmt) CheckNamedValue(v *driver.NamedValue) error { return s.conn.CheckNamedValue(v) }

func (c *wireConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return wireTx{tx, c}, err
}

func (c *wireConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession implements [driver.SessionResetter].
func (c *wireConn) ResetSession(ctx context.Context) error {
	if resetter, ok := c.Conn.(driver.SessionResetter); ok {
		return resetter.ResetSession(ctx)
	}
	return nil
}

// IsValid implements [driver.Validator].
func (c *wireConn) IsValid() bool {
	validator, ok := c.Conn.(driver.Validator)
	return !c.lost && (!ok || validator.IsValid())
}

type wireTx struct {
	driver.Tx
	conn *wireConn
}

func (tx wireTx) Commit() error {
	err, done := tx.conn.fault("COMMIT")
	if err != nil && !done {
		tx.Tx.Rollback()
		return err
	}
	if failed := tx.Tx.Commit(); failed != nil {
		return failed
	}
	return err
}

// Deadlock is what MariaDB says to a transaction that is to be tried again.
var Deadlock = &mysql.MySQLError{Number: 1213, SQLState: [5]byte([]byte("40001")), Message: "Deadlock found when trying to get lock"}
