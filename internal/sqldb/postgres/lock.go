package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	conn, err := db.Pool().Connx(ctx)
	if err != nil {
		return "", db.Fault("look for a lock", err)
	}
	defer conn.Close()
	defer sqldb.Discard(conn) // ends its transaction
	waiter, err := sqldb.PostgreSQL.BackendOf(ctx, conn.Conn)
	if err == nil {
		err = sqldb.ExecAll(ctx, conn, []string{"BEGIN", "SET LOCAL lock_timeout = '3s'"})
	}
	if err != nil {
		return "", db.Fault("look for a lock", err)
	}
	got := make(chan error, 1)
	go func() {
		rows, err := conn.QueryContext(ctx, sqldb.PostgreSQL.Native(query+" FOR UPDATE"), args...)
		if err == nil {
			for rows.Next() {
			}
			err = errors.Join(rows.Err(), rows.Close())
		}
		got <- err
	}()
	timer := time.NewTimer(sqldb.RowLockTimeout)
	defer timer.Stop()
	select {
	case err = <-got:
		return "", db.Fault("look for a lock", err)
	case <-timer.C:
	}
	defer func() {
		waiter.Kill(db.Pool().DB)
		<-got
	}()
	var by sqldb.Holder
	err = db.Pool().QueryRowContext(ctx, blocker, waiter.ID).Scan(&by.ID, &by.User, &by.Host, &by.DB, &by.Doing, &by.Seconds)
	switch {
	case err != nil:
		return "locked by a transaction that the server does not tell: find it by " +
			"SELECT pid, usename, client_addr, state, xact_start FROM pg_stat_activity ORDER BY xact_start; " +
			"if its process is frozen or gone, end it: SELECT pg_terminate_backend(PID)", nil
	case by.ID == 0:
		return "locked by a transaction that was prepared and not ended: find it by " +
			"SELECT gid, prepared, owner, database FROM pg_prepared_xacts; " +
			"if what prepared it does not end it, do it there: ROLLBACK PREPARED 'GID'", nil
	}
	return by.Locks(fmt.Sprintf("SELECT pg_terminate_backend(%d)", by.ID)), nil
}
