package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
)

// The driver makes times of what it reads from columns that are declared DATE, DATETIME or
// TIMESTAMP, and of no others: DATETIME(3), which MySQL needs for milliseconds, is another type to
// it. What follows reads DATETIME(3) as the driver reads DATETIME.

// timeConnector makes connections that read times from DATETIME(n), too.
type timeConnector struct{ driver.Connector }

func (c timeConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return timeConn{conn.(sqldb.Conn)}, nil
}

type timeConn struct{ sqldb.Conn }

// QueryContext implements [driver.QueryerContext].
func (c timeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return withTimes(c.Conn.QueryContext(ctx, query, args))
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c timeConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.Conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return timeStmt{stmt.(sqldb.Stmt)}, nil
}

type timeStmt struct{ sqldb.Stmt }

// QueryContext implements [driver.StmtQueryContext].
func (s timeStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return withTimes(s.Stmt.QueryContext(ctx, args))
}

// sqliteRows are rows of the driver, which knows the declared types of their columns.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
}

// timeRows are rows with columns that are declared DATETIME(n).
type timeRows struct {
	sqliteRows
	times []int
}

// withTimes returns rows as they are if the driver makes all of their times.
func withTimes(rows driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, err
	}
	r := timeRows{sqliteRows: rows.(sqliteRows)}
	for i := range rows.Columns() {
		name, _, limited := strings.Cut(r.ColumnTypeDatabaseTypeName(i), "(") // in upper case
		if limited && slices.Contains([]string{"DATE", "DATETIME", "TIMESTAMP"}, strings.TrimSpace(name)) {
			r.times = append(r.times, i)
		}
	}
	if r.times == nil {
		return rows, nil
	}
	return r, nil
}

// Next implements [driver.Rows].
func (r timeRows) Next(dest []driver.Value) error {
	if err := r.sqliteRows.Next(dest); err != nil {
		return err
	}
	for _, i := range r.times {
		switch v := dest[i].(type) {
		case int64:
			dest[i] = time.UnixMicro(v).UTC()
		case string:
			dest[i] = textTime(v)
		}
	}
	return nil
}

// textTime reads a time as the driver does: in a form that SQLite's own functions take, or in that of
// Go, which the driver writes by default. Another text stays what it is.
func textTime(text string) driver.Value {
	moment, _, _ := strings.Cut(text, " m=") // of a monotonic clock
	for _, layout := range []string{
		"2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04", "2006-01-02",
		"2006-01-02T15:04:05", "2006-01-02T15:04:05-07:00", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700 MST",
	} {
		if t, err := time.Parse(layout, strings.TrimSuffix(moment, "Z")); err == nil { // with any fraction of a second
			return t.UTC()
		}
	}
	return text
}
