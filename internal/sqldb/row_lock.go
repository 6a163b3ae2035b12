package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A lock that a process has taken and does not give back, because it is frozen or gone, ends
// with its connection. The server knows which one that is only while another one waits for
// the lock.

// rowLockTimeout is how long RowLock waits for a lock until that counts as held. The server
// tells about waits with a delay of up to 0.1 s.
const rowLockTimeout = 500 * time.Millisecond

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

// RowLock says who keeps the rows of a query from being changed, and how to end that, as
// the rest of a sentence that begins with the rows; empty if they can be changed. It waits for
// the lock for half a second, and gives it back at once. In SQLite it is a lock on the whole file,
// and only Linux tells who has it.
func (db *DB) RowLock(ctx context.Context, query string, args ...any) (string, error) {
	if db.dialect == SQLite {
		return db.fileLock(ctx)
	}
	conn, err := db.pool.Connx(ctx)
	if err != nil {
		return "", db.Fault("look for a lock", err)
	}
	defer conn.Close()
	defer discard(conn) // ends its transaction, and its settings are not those of others
	waiter, err := MySQL.BackendOf(ctx, conn.Conn)
	if err == nil { // in a session that is read-only, too: nothing is changed
		err = execAll(ctx, conn, []string{"SET SESSION innodb_lock_wait_timeout = 2", "START TRANSACTION READ WRITE"})
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
	timer := time.NewTimer(rowLockTimeout)
	defer timer.Stop()
	select {
	case err = <-got:
	case <-timer.C:
		defer func() {
			waiter.Kill(db.pool.DB)
			<-got
		}()
		return db.blocker(ctx, waiter.id), nil
	}
	if IsLockWait(err) {
		return db.blocker(ctx, waiter.id), nil
	}
	return "", db.Fault("look for a lock", err)
}

// blocker describes the connection that another one waits for.
func (db *DB) blocker(ctx context.Context, waiter int64) string {
	for _, query := range blockers {
		var id, idle int64
		var user, host, command string
		if db.pool.QueryRowContext(ctx, query, waiter).Scan(&id, &user, &host, &command, &idle) != nil {
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

// fileLock is RowLock of SQLite. A writer that is not frozen gives the lock back soon.
func (db *DB) fileLock(ctx context.Context) (string, error) {
	for end := time.Now().Add(rowLockTimeout); ; {
		holder := lockHolder(db.path)
		switch {
		case holder == "":
			return "", nil
		case time.Now().After(end):
			return fmt.Sprintf("locked by %s, with the whole file: if that process is frozen or does not answer, end it: kill -9", holder), nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
