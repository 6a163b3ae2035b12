package sqldb

import (
	"context"
	"database/sql"
)

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
