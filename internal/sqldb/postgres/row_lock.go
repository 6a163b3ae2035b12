package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/sqldb"
)

// blocker finds the connection that another one waits for.
const blocker = `SELECT pid, COALESCE(usename, ''), COALESCE(host(client_addr), ''), COALESCE(state, ''), COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - state_change)::BIGINT, 0)
	FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids($1)) ORDER BY xact_start LIMIT 1`

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
	var pid, seconds int64
	var user, host, doing string
	if err := db.Pool().QueryRowContext(ctx, blocker, waiter.ID).Scan(&pid, &user, &host, &doing, &seconds); err != nil {
		return "locked by a transaction that the server does not tell: find it by " +
			"SELECT pid, usename, client_addr, state, xact_start FROM pg_stat_activity ORDER BY xact_start; " +
			"if its process is frozen or gone, end it: SELECT pg_terminate_backend(PID)", nil
	}
	return fmt.Sprintf("locked by the transaction of connection %d of %q at %q, %s for %s: if its process is frozen or gone, "+
		"end it on the database server: SELECT pg_terminate_backend(%d)", pid, user, host, doing, time.Duration(seconds)*time.Second, pid), nil
}
