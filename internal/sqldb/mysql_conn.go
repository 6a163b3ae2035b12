package sqldb

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/go-sql-driver/mysql"
)

// openMySQL also reports whether connections are plain, without TLS.
func openMySQL(dsn string, readOnly bool) (_ driver.Connector, plain bool, err error) {
	cfg, err := mysqlConfig(dsn)
	if err != nil {
		return nil, false, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, false, err
	}
	return mysqlConnector{connector, readOnly}, cfg.TLS == nil, nil
}

// rollbackTimeout is how long the end of a transaction that failed waits for
// the server to confirm it. A connection that is closed instead is rolled back
// as well.
const rollbackTimeout = 2 * time.Second

// mysqlConn is what database/sql uses of a connection of the driver.
type mysqlConn interface {
	driver.Conn
	driver.Pinger
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
}

// mysqlConnector makes connections whose transactions end when their context
// does, and which are read-only from the first statement on where that is
// asked for.
type mysqlConnector struct {
	driver.Connector
	readOnly bool
}

func (c mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	watched := &watchedConn{mysqlConn: conn.(mysqlConn)}
	err = settle(ctx, watched)
	if err == nil && c.readOnly {
		// The name of the variable differs between servers, this does not.
		_, err = watched.ExecContext(ctx, "SET SESSION TRANSACTION READ ONLY", nil)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return watched, nil
}

// watchedConn is a connection whose COMMIT and ROLLBACK go by a context. The
// driver's own wait for the answer, however long the server takes.
type watchedConn struct {
	mysqlConn
	broken bool // a transaction may still be open
}

// IsValid implements [driver.Validator]: a connection for which it is false is
// closed.
func (c *watchedConn) IsValid() bool { return !c.broken && c.mysqlConn.IsValid() }

// BeginTx implements [driver.ConnBeginTx]. The context is in use until the
// transaction has ended.
func (c *watchedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if _, err := c.mysqlConn.BeginTx(ctx, options); err != nil {
		// It may have begun, if the answer did not come.
		c.broken = true
		return nil, err
	}
	return &watchedTx{ctx: ctx, conn: c}, nil
}

type watchedTx struct {
	ctx  context.Context
	conn *watchedConn
}

// Commit implements [driver.Tx]. An [unansweredError] is a context that ended
// while the server had been asked.
func (tx *watchedTx) Commit() error {
	if err := tx.ctx.Err(); err != nil {
		tx.conn.broken = true
		return err
	}
	err := tx.end(tx.ctx, "COMMIT")
	if isContext(err) {
		return &unansweredError{err}
	}
	return err
}

// Rollback implements [driver.Tx]. Where the context has ended the server is
// not asked: it rolls back when the connection is closed.
func (tx *watchedTx) Rollback() error {
	ctx, cancel := context.WithTimeout(tx.ctx, rollbackTimeout)
	defer cancel()
	return tx.end(ctx, "ROLLBACK")
}

func (tx *watchedTx) end(ctx context.Context, statement string) error {
	_, err := tx.conn.ExecContext(ctx, statement, nil)
	tx.conn.broken = err != nil
	return err
}

// unansweredError is the end of a context while the server was committing.
type unansweredError struct{ err error }

func (e *unansweredError) Error() string { return e.err.Error() }
func (e *unansweredError) Unwrap() error { return e.err }
