package world

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/mysql"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// MaxSamples is the most differences that are shown. Counts are exact.
const MaxSamples = 10

// Database is one of the databases of a merge. It prints as its name, never as its
// DSN.
type Database struct {
	Name string // its name in plans, messages and records; at most 200 characters
	DSN  string // in a form that [store.Open] takes; may hold a password
}

func (d Database) String() string { return d.Name }

func (d Database) GoString() string { return fmt.Sprintf("world.Database(%q)", d.Name) }

func (d Database) MarshalJSON() ([]byte, error) { return json.Marshal(d.Name) }

func (d Database) LogValue() slog.Value { return slog.StringValue(d.Name) }

// Connection is one connection to a database. It is opened by its first use, and
// again by the first use after it was lost. It belongs to one goroutine.
type Connection struct {
	Database
	Writes bool
	Alone  bool // opens a file so that no other connection has it open
	Fail   Failpoint

	// Begins, if not nil, is called on each session that is opened.
	Begins func(ctx context.Context) error

	// Unchecked turns the check of foreign keys off; see [build.CheckReferences].
	Unchecked bool

	DB     *sqldb.DB // nil until it is used
	Shared bool      // db belongs to another connection
	// Withheld are, by table, the conditions for rows of a source that do not come.
	Withheld map[string]string

	// Sifted are, by table, those of them that pages leave out as they are read.
	Sifted map[string]Sifted

	// Stayed, if not nil, counts and sums up the rows of Sifted that pages leave out.
	Stayed *Content

	Share int // how many connections share the memory for pages; 0 means one

	conn     *sql.Conn
	backend  sqldb.Backend // of conn
	prepared map[string]driver.Stmt
	within   bool  // a transaction of [Connection.Tx]
	erred    bool  // a statement failed since it was opened: its session may not be as it should
	loads    *bool // whether the server takes LOAD DATA LOCAL; nil: not asked yet
	Packet   int   // how many bytes of values may go into one statement
}

func (c *Connection) Dialect() Dialect {
	kind, _, _ := strings.Cut(c.DSN, ":")
	return Dialect{sqldb.Dialect(kind)}
}

// Close closes the connection, and rolls back what was not committed.
func (c *Connection) Close() {
	if !c.Writes && !c.erred {
		c.release(nil) // for the next one who reads; see [sqldb.Keep]
	}
	c.Drop()
	if c.DB != nil && !c.Shared {
		c.DB.Close()
		c.DB = nil
	}
}

// Drop closes the connection, and rolls back what was not committed. A database
// that is only read is opened again by the next use: it may have been replaced.
func (c *Connection) Drop() {
	c.release(errDropped) // not back into the pool: it may be in the middle of a transaction
	if !c.Writes && !c.Shared && c.DB != nil {
		c.DB.Close()
		c.DB = nil
	}
}

// release gives the connection back to the pool, which closes it if there is an error.
func (c *Connection) release(err error) {
	if c.conn == nil {
		return
	}
	c.conn.Raw(func(any) error {
		for _, s := range c.prepared {
			s.Close() // or SQLite would not let go of the file
		}
		return err
	})
	c.conn.Close()
	c.conn, c.prepared = nil, nil
}

// Open opens the database, if it is not open.
func (c *Connection) Open(ctx context.Context) error {
	if c.DB != nil {
		return nil
	}
	access := sqldb.ReadOnly
	if c.Writes {
		access = sqldb.WriteExisting
	}
	if c.Alone {
		access = sqldb.Alone
	}
	db, err := sqldb.Dial(ctx, c.DSN, access)
	if err != nil {
		return fmt.Errorf("database %q: %w", c.Name, err)
	}
	c.DB = db
	return nil
}

var errDropped = fmt.Errorf("dropped: %w", driver.ErrBadConn)

// Connect opens the connection, if it is not open.
func (c *Connection) Connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	if err := c.Fail.At("connect"); err != nil {
		return err
	}
	if err := c.Open(ctx); err != nil {
		return err
	}
	conn, err := c.DB.Pool().Conn(ctx)
	if err != nil {
		return sqldb.Translate(err)
	}
	c.erred = false
	c.conn, c.prepared, c.Packet = conn, make(map[string]driver.Stmt), 1<<20
	err = c.prepareSession(ctx)
	if err == nil && c.Begins != nil {
		err = c.Begins(ctx)
	}
	if err != nil {
		c.Drop()
		return sqldb.Translate(err)
	}
	return nil
}

func (c *Connection) prepareSession(ctx context.Context) error {
	purpose := sqldb.ReadRows
	switch {
	case c.Writes && c.Unchecked:
		purpose = sqldb.WriteUnchecked
	case c.Writes:
		purpose = sqldb.WriteRows
	}
	d := c.Dialect()
	if err := d.Prepare(ctx, c.conn, purpose); err != nil || !d.MySQL() {
		return err
	}
	var err error
	if c.backend, err = d.BackendOf(ctx, c.conn); err != nil {
		return err
	}
	c.Packet = min(c.backend.Packet/2, 1<<20)
	return nil
}

// Statements go to the driver itself: a row costs twice as much through
// database/sql.

// statement prepares a query, once if it is kept.
func (c *Connection) statement(ctx context.Context, raw driver.Conn, query string, keep bool) (s driver.Stmt, done func(), err error) {
	if s := c.prepared[query]; s != nil {
		return s, func() {}, nil
	}
	if s, err = raw.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
		return nil, nil, err
	}
	if keep {
		c.prepared[query] = s
		return s, func() {}, nil
	}
	return s, func() { s.Close() }, nil
}

// arguments converts values to the types that drivers take. An error among them says
// why there is no value; see [Layout.Bound].
func arguments(args []any) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		switch n := v.(type) {
		case int:
			v = int64(n)
		case float32:
			v = float64(n)
		case error:
			return nil, n
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out, nil
}

// Exec runs a statement that changes something, and returns how many rows it
// changed. keep is for a statement that comes often.
func (c *Connection) Exec(ctx context.Context, what, query string, keep bool, args ...any) (changed int64, err error) {
	if err := c.Connect(ctx); err != nil {
		return 0, err
	}
	if err := c.Fail.At("before " + what); err != nil {
		return 0, err
	}
	err = c.conn.Raw(func(raw any) error {
		var result driver.Result
		if len(args) == 0 {
			result, err = raw.(driver.ExecerContext).ExecContext(ctx, query, nil)
		} else {
			s, done, err2 := c.statement(ctx, raw.(driver.Conn), query, keep)
			if err2 != nil {
				return err2
			}
			defer done()
			var bound []driver.NamedValue
			if bound, err = arguments(args); err == nil {
				result, err = s.(driver.StmtExecContext).ExecContext(ctx, bound)
			}
		}
		if err == nil {
			changed, err = result.RowsAffected()
		}
		return err
	})
	if err != nil {
		return 0, c.failed(ctx, err)
	}
	return changed, c.Fail.At("after " + what)
}

// Rows calls take with every row of a query. take may keep the values, but not the
// slice, and must not use the connection. Values come as the driver has them for a statement that is prepared: numbers
// exactly.
func (c *Connection) Rows(ctx context.Context, query string, keep bool, args []any, take func(row []any) (more bool, err error)) error {
	return c.rows(ctx, args, take, func(raw driver.Conn, bound []driver.NamedValue) (driver.Rows, func(), error) {
		s, done, err := c.statement(ctx, raw, query, keep)
		if err != nil {
			return nil, done, err
		}
		rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, bound)
		return rows, done, err
	})
}

// asked is Rows for a question whose answer is texts and integers: it takes one way to the server and back, where a
// statement that is prepared takes two.
func (c *Connection) asked(ctx context.Context, query string, args []any, take func(row []any) (more bool, err error)) error {
	return c.rows(ctx, args, take, func(raw driver.Conn, bound []driver.NamedValue) (driver.Rows, func(), error) {
		rows, err := raw.(driver.QueryerContext).QueryContext(ctx, query, bound)
		return rows, func() {}, err
	})
}

func (c *Connection) rows(ctx context.Context, args []any, take func(row []any) (more bool, err error),
	run func(raw driver.Conn, bound []driver.NamedValue) (_ driver.Rows, done func(), _ error)) error {
	if err := c.Connect(ctx); err != nil {
		return err
	}
	if err := c.Fail.At("read"); err != nil {
		return err
	}
	bound, err := arguments(args)
	if err != nil {
		return err
	}
	err = c.conn.Raw(func(raw any) error {
		rows, done, err := run(raw.(driver.Conn), bound)
		if done != nil {
			defer done()
		}
		if err != nil {
			return err
		}
		defer rows.Close()
		dest := make([]driver.Value, len(rows.Columns()))
		row := make([]any, len(dest))
		var chunk []byte
		for {
			switch err := rows.Next(dest); {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			}
			for i, v := range dest {
				if b, ok := v.([]byte); ok {
					v, chunk = keepBytes(chunk, b)
				}
				row[i] = v
			}
			if more, err := take(row); err != nil || !more {
				return err
			}
		}
	})
	if err != nil {
		return c.failed(ctx, err)
	}
	return c.DB.Unchanged()
}

// failed translates the error of a statement. If it came because the context
// ended, the server is told to stop working on the statement.
func (c *Connection) failed(ctx context.Context, err error) error {
	c.erred = true
	if ctx.Err() != nil {
		_ = c.backend.Kill(c.DB.Pool().DB)
	}
	err = sqldb.Translate(c.DB.LockFault(err))
	if c.Dialect().MySQL() && sqldb.Says(err, sqldb.LockWait) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s", err, mysql.Holders(ctx, c.DB))
	}
	if errors.Is(err, sqldb.ErrReadOnly) {
		err = fmt.Errorf("database %q (%s): %w", c.Name, c.DB.Place(), err)
	}
	return err
}

// Number returns the number that a query returns.
func (c *Connection) Number(ctx context.Context, query string, keep bool, args ...any) (n int64, err error) {
	take := func(row []any) (_ bool, err error) {
		n, err = IntIn(row[0], "the answer to "+query)
		return true, err
	}
	if keep {
		err = c.Rows(ctx, query, keep, args, take)
	} else {
		err = c.asked(ctx, query, args, take)
	}
	return n, err
}

// IntIn reads an integer, in whichever form the driver delivers it: servers add integers up as
// decimals. of is the value, as "table.column", for the error if it is none.
func IntIn(v any, of string) (int64, error) {
	if n, ok := v.(int64); ok {
		return n, nil
	}
	n, err := strconv.ParseInt(string(Printed(v)), 10, 64)
	if err != nil {
		err = notInteger(v, of)
	}
	return n, err
}

// KeyIn is intIn for a key, which may lie beyond int64.
func KeyIn(v any, of string) (keys.Integer, error) {
	n, ok := keys.ParseInteger(Printed(v))
	if !ok {
		return n, notInteger(v, of)
	}
	return n, nil
}

func notInteger(v any, of string) error {
	if v == nil {
		return fmt.Errorf("%.200s is NULL: want an integer", of)
	}
	return fmt.Errorf("%.200s is %.40q: want an integer", of, Text(v))
}

// Texts returns the first column of a query.
func (c *Connection) Texts(ctx context.Context, query string, args ...any) (all []string, err error) {
	err = c.asked(ctx, query, args, func(row []any) (bool, error) {
		all = append(all, Text(row[0]))
		return true, nil
	})
	return all, err
}

// Text reads a text, in whichever form the driver delivers it.
func Text(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// keepBytes copies a value that belongs to the driver to the end of a chunk, or to a
// new chunk if it has no room.
func keepBytes(chunk, b []byte) (kept, rest []byte) {
	const size = 64 << 10
	if len(b) == 0 {
		return []byte{}, chunk // nil would be written as NULL
	}
	if len(b) > size/8 {
		return append([]byte{}, b...), chunk
	}
	if len(b) > cap(chunk)-len(chunk) {
		chunk = make([]byte, 0, size)
	}
	start := len(chunk)
	chunk = append(chunk, b...)
	return chunk[start:len(chunk):len(chunk)], chunk
}

// Tx runs f in a transaction. After an error it may have been committed or not:
// the checkpoint tells. The connection is dropped. Within a transaction, f becomes part of that.
func (c *Connection) Tx(ctx context.Context, f func() error) error {
	if c.within {
		return f()
	}
	c.within = true
	defer func() { c.within = false }()
	_, err := c.Exec(ctx, "begin", c.Dialect().Words().Begin, false)
	if err == nil {
		if err = f(); err == nil {
			if _, err = c.Exec(ctx, "commit", "COMMIT", false); err == nil {
				err = c.DB.Kept()
			}
		}
	}
	if err != nil {
		c.Drop()
	}
	return err
}

// MakingMode is the mode in which servers make and alter tables that exist elsewhere. In the strict one of rows, MySQL
// and MariaDB refuse a table that has an ENUM with two members that are equal in the collation.
const MakingMode = "sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'"

// Making calls f while the session of MySQL or MariaDB is in [MakingMode].
func (c *Connection) Making(ctx context.Context, f func() error) error {
	_, err := c.Exec(ctx, "session", "SET @mergesafe_mode = @@SESSION.sql_mode, SESSION "+MakingMode, false)
	if err == nil {
		err = f()
	}
	if err == nil {
		_, err = c.Exec(ctx, "session", "SET SESSION sql_mode = @mergesafe_mode", false)
	}
	if err != nil {
		c.Drop() // its mode
	}
	return err
}

// Failpoint lets a test fail at a point: it is called before and after each
// request to a database, with the name of the request.
type Failpoint func(point string) error

// At returns the error of the test at a point.
func (f Failpoint) At(point string) error {
	if f == nil {
		return nil
	}
	return f(point)
}

// Changer changes a row in place, and tells whether it did. It belongs to one
// goroutine. The nil changer changes none.
type Changer func(row []any) (changed bool, err error)

// Row changes one.
func (c Changer) Row(row []any) (changed bool, err error) {
	if c == nil {
		return false, nil
	}
	return c(row)
}

// Rows changes all of these.
func (c Changer) Rows(rows [][]any) (changed bool, err error) {
	for _, row := range rows {
		one, err := c.Row(row)
		if err != nil {
			return false, err
		}
		changed = changed || one
	}
	return changed, nil
}

// Comes is the condition for the rows of a table that take part in the merge; "" if all do.
func (c *Connection) Comes(table string) string {
	if out := c.Withheld[table]; out != "" {
		return "NOT (" + out + ")"
	}
	return ""
}

// Sifted are rows of a table that pages leave out as they are read, and the condition for the others that do not come.
type Sifted struct {
	Rows   catalog.Sifted
	Others string
}

// sift returns the condition for the rows of pages, and what reports of these whether they are left out.
func (c *Connection) sift(l *Layout) (condition string, out func(row []any) bool) {
	s, is := c.Sifted[l.Table]
	if !is {
		return c.Comes(l.Table), nil
	}
	columns, among := s.Rows.Sift()
	at := slice.Map(columns, func(name string) int { return slices.Index(l.Columns, name) })
	if slices.Contains(at, -1) || len(at) == 0 {
		return c.Comes(l.Table), nil
	}
	if s.Others != "" {
		condition = "NOT (" + s.Others + ")"
	}
	return condition, func(row []any) bool { return among(func(i int) any { return row[at[i]] }) }
}
