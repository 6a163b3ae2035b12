package postgres

import (
	"context"
	"fmt"

	"mergesafe/internal/sqldb"
)

// blocker finds the connection that another one waits for, and that itself waits for none: others may wait for the
// same row, and stand before it. A transaction that was prepared, for XA, has no connection, and the number 0.
const blocker = `WITH RECURSIVE waits (pid) AS (
		SELECT unnest(pg_blocking_pids($1)) UNION SELECT unnest(pg_blocking_pids(pid)) FROM waits WHERE pid > 0)
	SELECT w.pid, COALESCE(usename, ''), COALESCE(host(client_addr), ''), COALESCE(datname, ''), COALESCE(state, 'busy'),
		COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - state_change)::BIGINT, 0)
	FROM waits AS w LEFT JOIN pg_stat_activity AS a ON a.pid = w.pid
	WHERE w.pid = 0 OR cardinality(pg_blocking_pids(w.pid)) = 0 ORDER BY w.pid = 0 DESC, a.xact_start LIMIT 1`

// RowLock implements [sqldb.Engine].
func (engine) RowLock(ctx context.Context, db *sqldb.DB, query string, args ...any) (string, error) {
	begin := []string{"BEGIN", "SET LOCAL lock_timeout = '3s'"}
	return db.WaitForLock(ctx, begin, func(waiter int64) string { return holder(ctx, db, waiter) }, query, args...)
}

// holder describes the connection that another one waits for.
func holder(ctx context.Context, db *sqldb.DB, waiter int64) string {
	var by sqldb.Holder
	err := db.Pool().QueryRowContext(ctx, blocker, waiter).Scan(&by.ID, &by.User, &by.Host, &by.DB, &by.Doing, &by.Seconds)
	switch {
	case err != nil:
		return "locked by a transaction that the server does not show: find it with " +
			"SELECT pid, usename, client_addr, state, xact_start FROM pg_stat_activity ORDER BY xact_start; " +
			"if its process is frozen or gone, end it: SELECT pg_terminate_backend(PID)"
	case by.ID == 0:
		return "locked by a prepared transaction that was not ended: find it with " +
			"SELECT gid, prepared, owner, database FROM pg_prepared_xacts; " +
			"if its owner does not end it, end it there: ROLLBACK PREPARED 'GID'"
	}
	return by.Locks(fmt.Sprintf("SELECT pg_terminate_backend(%d)", by.ID))
}
