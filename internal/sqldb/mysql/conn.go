package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
)

// openMySQL also reports whether connections are plain, without TLS.
func openMySQL(dsn string, readOnly bool) (_ driver.Connector, plain bool, err error) {
	dsn, files, err := splitCertificates(dsn)
	if err != nil {
		return nil, false, err
	}
	each, err := eachHost(dsn)
	if err != nil {
		return nil, false, err
	}
	all := &hosts{readOnly: readOnly}
	for _, dsn := range each {
		cfg, err := mysqlConfig(dsn, readOnly, files)
		if err != nil {
			return nil, false, err
		}
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			return nil, false, err
		}
		all.plain = cfg.TLS == nil
		all.names = append(all.names, cfg.Addr)
		_, plain := engine{}.ParseServer(dsn)
		q := &quoting{cfg.DBName, "the server", plain, plain && shownUser(dsn, cfg) != "", slices.Sorted(maps.Keys(cfg.Params))}
		if plain {
			q.server = cfg.Addr
		}
		all.servers = append(all.servers, mysqlConnector{connector, readOnly, q, new(question), cfg.Timeout})
	}
	if len(each) == 1 {
		return all.servers[0], all.plain, nil
	}
	return all, all.plain, nil
}

// mysqlConn is what database/sql uses of a connection of the driver.
type mysqlConn interface {
	sqldb.Conn
	driver.NamedValueChecker
}

// mysqlConnector makes connections whose transactions end when their context
// does, and which are read-only from the first statement on where that is
// asked for.
type mysqlConnector struct {
	driver.Connector
	readOnly bool
	*quoting // %#v of a pool does not show it
	settings *question
	timeout  time.Duration // for a connection that can be used
}

// silentError is a server that took a connection and did not answer. Nothing was asked of it.
type silentError struct {
	server  string
	timeout time.Duration
}

func (e *silentError) Error() string {
	return fmt.Sprintf("%s accepts connections but does not answer within %s: check that a database server is running there, and is not stopped or overloaded", e.server, e.timeout)
}
func (e *silentError) Unwrap() error { return sqldb.ErrUnavailable }

// quoting is what a server may quote of a DSN when it is connected to.
type quoting struct {
	database   string
	server     string   // its address, if that can be shown
	plain      bool     // the DSN can be shown, but for its secrets
	user       bool     // so can its user
	parameters []string // their names; the server quotes a value that it refuses
}

// accountErrors are those about the account, the database or the server, whatever the parameters.
var accountErrors = []uint16{
	1040, 1042, 1043, 1044, 1045, 1047, 1049, 1053, 1129, 1130, 1152, 1158, 1159, 1160, 1161, 1203, 1226, 1251,
	1524, 1698, 1820, 1862, 1927, 3032, 3118, 3159, 3169, 3955, 4151,
}

// denied and quoted match the account, and all names, in a message, which may be cut short there.
var (
	denied = regexp.MustCompile(`(?s)user '.*'@`)
	quoted = regexp.MustCompile(`(?s)'.*'`)
)

// hide returns an error of connecting without what must not be shown of it.
func (q *quoting) hide(err error) error {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return err
	}
	hidden := *e
	const unknownVariable = 1193 // the driver sets as a variable what it does not know itself
	name, found := strings.CutPrefix(strings.TrimSuffix(e.Message, "'"), "Unknown system variable '")
	switch {
	case e.Number == unknownVariable && found && slices.Contains(q.parameters, name):
		hidden.Message = sqldb.Redact(name) + " is neither a parameter of a DSN nor a variable of this server"
	case len(q.parameters) > 0 && !slices.Contains(accountErrors, e.Number):
		hidden.Message = "possibly refused because of a parameter of the DSN: " + sqldb.Redact(strings.Join(q.parameters, " "))
	}
	switch {
	case !q.plain:
		hidden.Message = quoted.ReplaceAllString(hidden.Message, "'***'")
	case !q.user:
		hidden.Message = denied.ReplaceAllString(hidden.Message, "user '***'@")
	}
	return &hidden
}

func (c mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func (c mysqlConnector) connect(ctx context.Context) (*watchedConn, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.settled(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, &silentError{c.server, c.timeout}
	}
	return conn, err
}

// settled makes a connection, and gives it its settings.
func (c mysqlConnector) settled(ctx context.Context) (*watchedConn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, c.hide(err)
	}
	watched := &watchedConn{mysqlConn: conn.(mysqlConn)}
	err = settle(ctx, watched, c.database, c.settings)
	if err == nil && c.readOnly {
		// The name of the variable differs between servers, this does not.
		_, err = watched.ExecContext(ctx, "SET SESSION TRANSACTION READ ONLY", nil)
	}
	if err != nil {
		watched.Close()
		return nil, err
	}
	return watched, nil
}

// watchedConn is a connection whose COMMIT and ROLLBACK go by a context: the
// driver's own wait for the answer, however long the server takes. One that
// leads to a server that cannot serve is not used again.
type watchedConn struct {
	mysqlConn
	broken bool   // a transaction may still be open
	leave  bool   // the server does not serve, or accepts no writes
	cut    bool   // the driver has closed it because a context ended
	number string // see own

	hosts *hosts // nil if the DSN names one host
	made  uint64 // the doubts before it was made
}

// own are the connections that this process has open, each by its server and its number there; those of adopted pools are not among them.
var own sync.Map

// numbered is the expression for what own has of a connection, by that for its number.
func numbered(id string) string { return "CONCAT_WS(' ', @@hostname, @@port, " + id + ")" }

// Close implements [driver.Conn].
func (c *watchedConn) Close() error {
	own.Delete(c.number)
	return c.mysqlConn.Close()
}

// IsValid implements [driver.Validator]: a connection for which it is false is
// closed.
func (c *watchedConn) IsValid() bool { return !c.broken && !c.leave && c.mysqlConn.IsValid() }

// ResetSession implements [driver.SessionResetter]: it is called before a
// connection is used again.
func (c *watchedConn) ResetSession(ctx context.Context) error {
	if c.hosts != nil && c.made != c.hosts.doubts.Load() {
		return driver.ErrBadConn
	}
	return c.mysqlConn.ResetSession(ctx)
}

// told looks at what a call came to, and returns what is known of its error.
func (c *watchedConn) told(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	c.leave = c.leave || isElsewhere(err)
	c.cut = c.cut || sqldb.IsContext(err) && !c.mysqlConn.IsValid()
	if c.hosts != nil {
		switch {
		case c.leave, !c.cut && (sqldb.Lost(err) || errors.Is(err, mysql.ErrInvalidConn)):
			c.hosts.doubtful(c.made)
		case errors.Is(err, context.DeadlineExceeded):
			c.hosts.suspect(c.made)
		}
	}
	return judged(err, func() (map[string]string, error) { return readPairs(ctx, c.mysqlConn, roleGroup) })
}

// judged returns a [conflictError] for a transaction that a group has rolled
// back. members asks on the connection of the transaction: as long as that member
// is in step with its group, it speaks for the group.
func judged(err error, members func() (map[string]string, error)) error {
	if !answered(err, 3101) || isConflict(err) {
		return err
	}
	if states, failed := members(); failed == nil && outOfGroup(states) == "" {
		return &conflictError{err}
	}
	return err
}

// BeginTx implements [driver.ConnBeginTx]. The context is in use until the
// transaction has ended.
func (c *watchedConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if _, err := c.mysqlConn.BeginTx(ctx, options); err != nil {
		// It may have begun, if the answer did not come.
		c.broken = true
		return nil, c.told(ctx, err)
	}
	return &watchedTx{ctx: ctx, conn: c}, nil
}

// ExecContext implements [driver.ExecerContext].
func (c *watchedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result,
	error) {
	result, err := c.mysqlConn.ExecContext(ctx, query, args)
	return result, c.told(ctx, err)
}

// QueryContext implements [driver.QueryerContext].
func (c *watchedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.mysqlConn.QueryContext(ctx, query, args)
	return rows, c.told(ctx, err)
}

// Ping implements [driver.Pinger].
func (c *watchedConn) Ping(ctx context.Context) error { return c.told(ctx, c.mysqlConn.Ping(ctx)) }

// PrepareContext implements [driver.ConnPrepareContext].
func (c *watchedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.mysqlConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.told(ctx, err)
	}
	return &watchedStmt{stmt.(mysqlStmt), c}, nil
}

// mysqlStmt is what database/sql uses of a prepared statement of the driver.
type mysqlStmt interface {
	sqldb.Stmt
	driver.NamedValueChecker
}

type watchedStmt struct {
	mysqlStmt
	conn *watchedConn
}

// ExecContext implements [driver.StmtExecContext].
func (s *watchedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.mysqlStmt.ExecContext(ctx, args)
	return result, s.conn.told(ctx, err)
}

// QueryContext implements [driver.StmtQueryContext].
func (s *watchedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.mysqlStmt.QueryContext(ctx, args)
	return rows, s.conn.told(ctx, err)
}

type watchedTx struct {
	ctx  context.Context
	conn *watchedConn
}

// Commit implements [driver.Tx]. An [sqldb.UnansweredError] is a context that ended
// while the server had been asked.
func (tx *watchedTx) Commit() error {
	if err := tx.ctx.Err(); err != nil {
		tx.conn.broken = true
		return err
	}
	_, err := tx.conn.ExecContext(tx.ctx, "COMMIT", nil)
	tx.conn.broken = err != nil
	if sqldb.IsContext(err) {
		return &sqldb.UnansweredError{Err: err}
	}
	return err
}

// Rollback implements [driver.Tx]. Where the context has ended the server is
// not asked: it rolls back when the connection is closed. An error says nothing of
// the server: a context that ended while rows were read has closed the connection, too.
func (tx *watchedTx) Rollback() error {
	ctx, cancel := context.WithTimeout(tx.ctx, sqldb.RollbackTimeout)
	defer cancel()
	_, err := tx.conn.mysqlConn.ExecContext(ctx, "ROLLBACK", nil)
	tx.conn.broken = err != nil
	return err
}
