package mysql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/sqldb"
)

// blockers find the connection that another one waits for, and that itself waits for none. MySQL's
// information_schema.PROCESSLIST is an error (3854) while any connection runs a statement with bytes in
// it that are no text; the one of the performance schema is not.
var blockers = []string{
	`SELECT b.trx_mysql_thread_id, COALESCE(p.user, ''), COALESCE(p.host, ''), COALESCE(p.command, ''), COALESCE(p.time, 0)
	FROM information_schema.INNODB_TRX AS w
	JOIN information_schema.INNODB_LOCK_WAITS AS l ON l.requesting_trx_id = w.trx_id
	JOIN information_schema.INNODB_TRX AS b ON b.trx_id = l.blocking_trx_id
	LEFT JOIN information_schema.PROCESSLIST AS p ON p.id = b.trx_mysql_thread_id
	WHERE w.trx_mysql_thread_id = ? AND b.trx_state <> 'LOCK WAIT' ORDER BY b.trx_started LIMIT 1`, // MariaDB
	`SELECT b.processlist_id, COALESCE(b.processlist_user, ''), COALESCE(p.host, b.processlist_host, ''),
		COALESCE(b.processlist_command, ''), COALESCE(b.processlist_time, 0)
	FROM performance_schema.data_lock_waits AS l
	JOIN performance_schema.threads AS w ON w.thread_id = l.requesting_thread_id
	JOIN performance_schema.threads AS b ON b.thread_id = l.blocking_thread_id
	LEFT JOIN performance_schema.processlist AS p ON p.id = b.processlist_id
	WHERE w.processlist_id = ? AND NOT EXISTS
		(SELECT 1 FROM performance_schema.data_lock_waits AS o WHERE o.requesting_thread_id = l.blocking_thread_id)
	LIMIT 1`, // MySQL
}

// RowLock implements [sqldb.Engine].
func (engine) RowLock(ctx context.Context, db *sqldb.DB, query string, args ...any) (string, error) {
	conn, err := db.Pool().Connx(ctx)
	if err != nil {
		return "", db.Fault("look for a lock", err)
	}
	defer conn.Close()
	defer sqldb.Discard(conn) // ends its transaction, and its settings are not those of others
	waiter, err := sqldb.MySQL.BackendOf(ctx, conn.Conn)
	if err == nil { // in a session that is read-only, too: nothing is changed
		err = sqldb.ExecAll(ctx, conn, []string{"SET SESSION innodb_lock_wait_timeout = 2", "START TRANSACTION READ WRITE"})
	}
	if err != nil {
		return "", db.Fault("look for a lock", err)
	}
	got := make(chan error, 1)
	go func() {
		rows, err := conn.QueryContext(ctx, query+" FOR UPDATE", args...)
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
	case <-timer.C:
		defer func() {
			waiter.Kill(db.Pool().DB)
			<-got
		}()
		return blocker(ctx, db, waiter.ID), nil
	}
	if sqldb.IsLockWait(err) {
		return blocker(ctx, db, waiter.ID), nil
	}
	return "", db.Fault("look for a lock", err)
}

// blocker describes the connection that another one waits for.
func blocker(ctx context.Context, db *sqldb.DB, waiter int64) string {
	for _, query := range blockers {
		var id, idle int64
		var user, host, command string
		if db.Pool().QueryRowContext(ctx, query, waiter).Scan(&id, &user, &host, &command, &idle) != nil {
			continue // of the other kind of server, or the account has no right to know
		}
		doing := "busy"
		if command == "Sleep" {
			doing = "idle"
		}
		return fmt.Sprintf("locked by the transaction of connection %d of %q at %q, %s for %s: if its process is frozen or gone, "+
			"end it on the database server: KILL %d", id, user, host, doing, time.Duration(idle)*time.Second, id)
	}
	return "locked by a transaction of a connection that this account has no right to see, or that the server does not tell: " +
		"find it with an account that has the right PROCESS, by " +
		"SELECT trx_mysql_thread_id, trx_started, trx_rows_locked FROM information_schema.INNODB_TRX ORDER BY trx_started; " +
		"if its process is frozen or gone, end it: KILL and the trx_mysql_thread_id"
}
