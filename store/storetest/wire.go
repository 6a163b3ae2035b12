package storetest

import (
	"context"
	"database/sql/driver"

	"github.com/go-sql-driver/mysql"
)

// Wire is the connection to a database, which can lose requests and answers.
type Wire struct {
	driver.Connector

	// Fault is called at every statement and commit. To make one fail it returns an
	// error, and whether the statement is executed all the same.
	Fault func(what string) (err error, done bool)
}

// Connect implements [driver.Connector].
func (w *Wire) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &wireConn{conn, w}, nil
}

type wireConn struct {
	driver.Conn
	w *Wire
}

func (c *wireConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	err, done := c.w.Fault(query)
	if err != nil && !done {
		return nil, err
	}
	result, failed := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if failed != nil {
		return nil, failed
	}
	return result, err
}

func (c *wireConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err, _ := c.w.Fault(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *wireConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return wireTx{tx, c.w}, err
}

func (c *wireConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type wireTx struct {
	driver.Tx
	w *Wire
}

func (tx wireTx) Commit() error {
	err, done := tx.w.Fault("COMMIT")
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
var Deadlock = &mysql.MySQLError{Number: 1213, Message: "Deadlock found when trying to get lock"}
