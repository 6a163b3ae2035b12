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

// TakesNoWrites is the query by which MySQL tells that no account may write to it,
// whatever its rights; other servers do not know the setting. With read_only an
// administrator still may.
const TakesNoWrites = "SELECT @@GLOBAL.super_read_only"

// Prepare makes a connection independent of how the server, the account or the
// pool is set up: rows must not be left out (sql_select_limit), statements not
// be refused for being large, and a stream that waits while other databases are
// read must not be cut off.
//
// Values are read and written as they are: zero dates and dates that do not
// exist are values like others, and 0 in a counted column is 0. A value that does
// not fit its column is an error. Texts are sorted by all of their weights.
func (d Dialect) Prepare(ctx context.Context, conn *sql.Conn, p Purpose) error {
	if err := execAll(ctx, conn, d.settings(p)); err != nil || d == SQLite {
		return err
	}
	for _, limit := range []string{ // of which each server knows some only
		"max_statement_time",                // MariaDB
		"idle_transaction_timeout",          // MariaDB
		"idle_readonly_transaction_timeout", // MariaDB
		"idle_write_transaction_timeout",    // MariaDB
		"max_execution_time",                // MySQL
		"information_schema_stats_expiry",   // MySQL: counters of now, not of yesterday
	} {
		if _, err := conn.ExecContext(ctx, "SET SESSION "+limit+" = 0"); err != nil && !IsUnknownVariable(err) {
			return err
		}
	}
	return nil
}

func (d Dialect) settings(p Purpose) []string {
	checks := "1"
	if p == WriteUnchecked {
		checks = "0"
	}
	if d == SQLite {
		switch p {
		case ReadSorted:
			// SQLite would keep pages that a scan comes across once: by default
			// four times as many, and there may be twenty databases.
			return []string{"PRAGMA cache_size = -512"} // KiB
		case WriteRows, WriteUnchecked:
			return []string{"PRAGMA foreign_keys = " + checks}
		}
		return nil
	}
	const unlimited = "SET SESSION sql_select_limit = 18446744073709551615, sql_big_selects = 1, wait_timeout = 86400, net_write_timeout = 86400, "
	// A key has at most 3072 bytes, and is sorted by 1024 where no index is read. For more, MySQL can lack memory.
	const asTheyAre = unlimited + "max_sort_length = 4096, " +
		"sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'"
	switch p {
	case ReadSorted:
		return []string{unlimited + "sql_mode = '', max_sort_length = 65536"}
	case WriteRows, WriteUnchecked:
		return []string{
			asTheyAre,
			// A batch needs no more, and takes fewer locks.
			"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
			"SET SESSION unique_checks = 1, foreign_key_checks = " + checks,
			// By default, a statement that changes a table waits a day or a year, without a word, for
			// whoever reads it, such as a backup. It is tried again, which the operator is told.
			"SET SESSION lock_wait_timeout = 10",
		}
	}
	return []string{asTheyAre}
}

// BeginSnapshot opens the transaction on a connection that reads one state of
// the database. Without it, every statement reads what is committed when it
// begins; then only the isolation is set.
func (d Dialect) BeginSnapshot(ctx context.Context, conn *sql.Conn, snapshot bool) error {
	var statements []string
	switch {
	case d == SQLite && snapshot:
		statements = []string{"BEGIN", "SELECT COUNT(*) FROM sqlite_schema"} // the snapshot is that of the first read
	case d == SQLite:
	case snapshot:
		statements = []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"}
	default:
		statements = []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"}
	}
	return execAll(ctx, conn, statements)
}
