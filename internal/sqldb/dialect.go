package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"mergesafe/internal/sqltext"
)

// Dialect is a kind of database.
type Dialect string

// The dialects. MySQL stands for MariaDB and all else that speaks its protocol.
const (
	MySQL  Dialect = "mysql"
	SQLite Dialect = "sqlite"

	PostgreSQL Dialect = "postgres"
)

// dialects are all of them, in the order in which their engines are asked.
var dialects = []Dialect{MySQL, SQLite, PostgreSQL}

const wantDialect = "store.MySQL (also for MariaDB), store.SQLite or store.PostgreSQL"

// Quote makes an identifier of any name.
func (d Dialect) Quote(name string) string {
	q := string(d.Words().Quote)
	return q + strings.ReplaceAll(name, q, q+q) + q
}

// QuoteAll makes a list of identifiers.
func (d Dialect) QuoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = d.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// Native writes a query as the driver of the dialect takes it. Queries have a ? for each argument, and
// may have names in backquotes. A dialect that numbers its arguments gets $1, $2 and double quotes. A
// query that has $1 already is left as it is, and so is what stands in quotes or in a comment.
func (d Dialect) Native(query string) string {
	if !d.Words().Dollars || !strings.ContainsAny(query, "?`") {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 64)
	n, end := 0, 0
	for _, t := range sqltext.PostgreSQL(query) {
		b.WriteString(query[end:t.Start]) // spaces and comments
		end = t.End()
		switch {
		case t.Text == "?":
			n++
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(n))
		case t.Text == "$1":
			return query
		case t.Text[0] == '`':
			b.WriteString(d.Quote(t.Name()))
		default:
			b.WriteString(t.Text)
		}
	}
	b.WriteString(query[end:])
	return b.String()
}

// Marks writes n question marks: "?, ?, ?".
func Marks(n int) string { return strings.Repeat(", ?", n)[2:] }

// With puts the clock of the database into a query, in the place of {now}: in
// milliseconds of Unix time, the same throughout one statement.
func (d Dialect) With(query string) string { return strings.ReplaceAll(query, "{now}", d.Words().Now) }

// Hex is an expression for the hexadecimal digits of bytes, in capital letters.
func (d Dialect) Hex(bytes string) string { return fmt.Sprintf(d.Words().Hex, bytes) }

// TableNames is the query for the names of all tables.
func (d Dialect) TableNames() string { return d.Words().Tables }

// Unmatched returns SQL that finds the rows of a table without a match in the table that
// they reference: a join of the table, under the alias from, with the referenced table,
// under the alias to, and the condition that there was no match. columns and toColumns
// belong together one by one.
//
// MariaDB copies all keys aside for NOT EXISTS, which takes more than ten times
// as long. The column of toTable comes first in each comparison: in SQLite the
// first operand decides the collation.
func (d Dialect) Unmatched(from string, columns []string, toTable, to string, toColumns []string) (join, where string) {
	pairs := make([]string, len(columns))
	for i, column := range columns {
		pairs[i] = to + "." + d.Quote(toColumns[i]) + " = " + from + "." + d.Quote(column)
	}
	return "LEFT JOIN " + d.Quote(toTable) + " AS " + to + " ON " + strings.Join(pairs, " AND "),
		to + "." + d.Quote(toColumns[0]) + " IS NULL" // no row that equals something has that
}

// Purpose is what a connection is used for by a merge, or the check before it.
type Purpose int

// The purposes.
const (
	// ReadSorted: rows are read in order, all of them from one snapshot.
	ReadSorted Purpose = iota
	// ReadRows: rows are read as they are, to be copied or summed up.
	ReadRows
	// WriteRows: rows are written as they are.
	WriteRows
	// WriteUnchecked is WriteRows without a look at the foreign keys.
	WriteUnchecked
)

// Prepare makes a connection independent of how the server, the account or the
// pool is set up: rows must not be left out (sql_select_limit), statements not
// be refused for being large, and a stream that waits while other databases are
// read must not be cut off.
//
// Values are read and written as they are: zero dates and dates that do not
// exist are values like others, and 0 in a counted column is 0. A value that does
// not fit its column is an error. Texts are sorted by all of their weights.
func (d Dialect) Prepare(ctx context.Context, conn *sql.Conn, p Purpose) error {
	return d.of().(merger).Prepare(ctx, conn, p)
}

// merger is an [Engine] whose databases can be checked and merged.
type merger interface {
	Prepare(ctx context.Context, conn *sql.Conn, p Purpose) error
	Snapshot(snapshot bool) []string // the statements of [Dialect.BeginSnapshot]
}

// BeginSnapshot opens the transaction on a connection that reads one state of
// the database. Without it, every statement reads what is committed when it
// begins; then only the isolation is set.
func (d Dialect) BeginSnapshot(ctx context.Context, conn *sql.Conn, snapshot bool) error {
	return ExecAll(ctx, conn, d.of().(merger).Snapshot(snapshot))
}
