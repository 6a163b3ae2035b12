package world

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

// dialect is what differs between kinds of databases.
type dialect interface {
	// BackendOf looks up what the server calls a connection.
	BackendOf(ctx context.Context, conn *sql.Conn) (sqldb.Backend, error)

	// begin prepares a fresh connection, and opens the snapshot if there is to
	// be one.
	begin(ctx context.Context, conn *sql.Conn, snapshot bool) error

	// load is how many statements the server works on.
	load(ctx context.Context, pool *sql.DB) (int, error)

	// unchanged returns an error if the snapshot no longer holds for some
	// reason that the database itself does not see.
	unchanged() error

	// warnings are what the server warns of about the statement before.
	warnings(ctx context.Context, conn *sql.Conn) ([]string, error)

	// describe reads the catalogue.
	describe(ctx context.Context, conn *sql.Conn) (*schema, error)

	// Quote makes an identifier of any name, and Unmatched finds dangling rows.
	Quote(name string) string
	Unmatched(from string, columns []string, toTable, to string, toColumns []string) (join, where string)

	// sorted says how to read a column in the form that sorts under the
	// collation; where there is no such form it returns a
	// [*catalog.UnsupportedError]. carried says how to read it plainly. The
	// table is r in the statement.
	sorted(ctx context.Context, conn *sql.Conn, c *column, collation string) (reading, error)
	carried(c *column) reading

	// prepares reports whether a prepared statement delivers a column alike, and in less
	// time: numbers as such, and not as digits.
	prepares(c *column) bool

	// match is the condition that finds a row again by what carried gave, and
	// its arguments.
	match(c *column, value []byte) (condition string, args []any, err error)

	// takes is the condition that a column takes a value of its kind; "" if it takes
	// every one.
	takes(c *column) string

	// stamp tells the state of the rows of a table that is in no snapshot.
	stamp(ctx context.Context, conn *sql.Conn, table string) (string, error)

	// size is how large the database is.
	size(ctx context.Context, conn *sql.Conn, schema *schema) (Size, error)

	// seconds is the expression of a column as seconds since 1970, NULL for what is no
	// time, and the sign of a division without a rest. It is "" for a type that holds none.
	seconds(c *column) (expr, divide string)

	// shown is the expression by which a column becomes text for people, cut
	// after some length, and the length of the whole.
	shown(c *column) (value, length string)
}

// reading is how one column is read.
type reading struct {
	expr   string // what is selected
	order  string // what is sorted by; "" for expr itself
	encode encode
	plain  bool // the values are given as they are

	// instead, if not "", is selected besides, and where it is not NULL it is
	// encoded in the place of expr, by encodeInstead.
	instead       string
	encodeInstead encode
}

// schema is a catalogue together with what it takes to read the tables.
type schema struct {
	catalog.Catalog
	tables map[string]*table
}

type table struct {
	name    string
	columns []*column
	byName  map[string]*column
	primary []string // columns of the primary key
	uniques []catalog.Unique
}

// unique reports whether an index allows no two rows that a scan, in the order of the
// columns themselves, would take for equal.
func (t *table) unique(scan catalog.Scan) bool {
	tells := func(name string) bool {
		ordered := slices.ContainsFunc(scan.Order, func(o catalog.Order) bool { return o.Column == name })
		return ordered && (scan.SkipNull || !t.byName[name].Nullable)
	}
	return slices.ContainsFunc(t.uniques, func(u catalog.Unique) bool {
		return u.Unclear == "" && !slices.ContainsFunc(u.Columns, func(name string) bool { return !tells(name) })
	})
}

type column struct {
	catalog.Column
	kind    kind
	why     string // why it has no sorting form; "" if it may have one
	charset string // of text in MySQL
	bits    bool   // an integer that is made of bits in MySQL
	alone   bool   // what the values mean depends on the very type, as with SET
	json    bool   // a document in MySQL
	listed  bool   // text that MySQL sorts by its place in a list: ENUM

	dataType string // of MySQL: the type without what is in parentheses
	length   int64  // of strings in MySQL: characters, or bytes of a TEXT or BLOB
}

// column looks a column up.
func (s *schema) column(table, column string) (*column, error) {
	t := s.tables[table]
	if t == nil {
		return nil, noTable(table)
	}
	if c := t.byName[column]; c != nil {
		return c, nil
	}
	return nil, noColumn(t, column)
}

func noTable(name string) error { return fmt.Errorf("there is no table %q", name) }

func noColumn(t *table, name string) error {
	return fmt.Errorf("table %q has no column %q", t.name, name)
}

func unsupported(c *column, format string, args ...any) error {
	return &catalog.UnsupportedError{Column: c.Name, Reason: fmt.Sprintf(format, args...)}
}
