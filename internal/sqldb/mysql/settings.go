package mysql

import (
	"context"
	"database/sql"

	"mergesafe/internal/sqldb"
)

// Prepare has a connection read or write rows for a merge: see [sqldb.Dialect.Prepare].
func (engine) Prepare(ctx context.Context, conn *sql.Conn, p sqldb.Purpose) error {
	if err := sqldb.ExecAll(ctx, conn, settings(p)); err != nil {
		return err
	}
	for _, setting := range []string{ // of which each server knows some only
		"max_statement_time = 0",                // MariaDB
		"idle_transaction_timeout = 0",          // MariaDB
		"idle_readonly_transaction_timeout = 0", // MariaDB
		"idle_write_transaction_timeout = 0",    // MariaDB
		"max_execution_time = 0",                // MySQL
		"information_schema_stats_expiry = 0",   // MySQL: counters of now, not of yesterday
		// MySQL 8.0.30 and later: a key that the server made is seen, or its rows would get other keys
		// (dev.mysql.com/doc/refman/8.4/en/create-table-gipks.html).
		"show_gipk_in_create_table_and_information_schema = 1",
	} {
		if _, err := conn.ExecContext(ctx, "SET SESSION "+setting); err != nil && !sqldb.IsUnknownVariable(err) {
			return err
		}
	}
	// MariaDB: a table has the engine that it names. An account that may not set it can still read and write rows.
	_, err := conn.ExecContext(ctx, "SET SESSION enforce_storage_engine = NULL")
	if sqldb.IsUnknownVariable(err) || sqldb.IsDenied(err) {
		return nil
	}
	return err
}

func settings(p sqldb.Purpose) []string {
	checks := "1"
	if p == sqldb.WriteUnchecked {
		checks = "0"
	}
	// MySQL stores conditions and partitions of a table that is altered as it prints them.
	const unlimited = "SET SESSION sql_quote_show_create = 1, sql_select_limit = 18446744073709551615, sql_big_selects = 1, " +
		"wait_timeout = 86400, net_write_timeout = 86400, "
	// A key has at most 3072 bytes, and is sorted by 1024 where no index is read. For more, MySQL can lack memory.
	// Warnings tell that a value was changed on its way, notes that digits behind a point are rounded, as a generated
	// column of that type asks for.
	const asTheyAre = unlimited + "max_sort_length = 4096, sql_notes = 0, " +
		"sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'"
	switch p {
	case sqldb.ReadSorted:
		return []string{unlimited + "sql_mode = '', max_sort_length = 65536"}
	case sqldb.WriteRows, sqldb.WriteUnchecked:
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

// Snapshot returns the statements of [sqldb.Dialect.BeginSnapshot].
func (engine) Snapshot(snapshot bool) []string {
	if !snapshot {
		return []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"}
	}
	return []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"}
}
