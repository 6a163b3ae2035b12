package mysql

import (
	"context"
	"fmt"
	"strings"

	"mergesafe/internal/sqldb"
)

// blockers find the connections that another one waits for, and that themselves wait for none: first the
// ones that surely do. MariaDB gives a transaction with no more than shared locks the number 0, as it does to
// every reader: of those, each one that has locked rows is possible, and one that waits for a row elsewhere, too.
// On MySQL, who may not read the performance schema is shown who has locked any rows.
// MySQL's information_schema.PROCESSLIST is an error (3854) while any connection runs a statement with bytes in it
// that are no text; the one of the performance schema is not.
var blockers = []string{
	`SELECT b.trx_id <> 0 AS sure, b.trx_state = 'LOCK WAIT' AS waits, b.trx_mysql_thread_id AS id,
		COALESCE(p.user, '') AS user, COALESCE(p.host, '') AS host,
		COALESCE(p.db, '') AS db, IF(p.command = 'Sleep', 'idle', 'busy') AS doing, COALESCE(p.time, 0) AS seconds
	FROM information_schema.INNODB_TRX AS b LEFT JOIN information_schema.PROCESSLIST AS p ON p.id = b.trx_mysql_thread_id
	WHERE b.trx_id IN (SELECT l.blocking_trx_id FROM information_schema.INNODB_LOCK_WAITS AS l
		JOIN information_schema.INNODB_TRX AS w ON w.trx_id = l.requesting_trx_id WHERE w.trx_mysql_thread_id = ?)
	AND IF(b.trx_id = 0, b.trx_rows_locked > 0, b.trx_state <> 'LOCK WAIT')
	ORDER BY sure DESC, waits, p.db <=> DATABASE() DESC, b.trx_started`, // MariaDB
	`SELECT DISTINCT TRUE AS sure, FALSE AS waits, b.processlist_id AS id, COALESCE(b.processlist_user, '') AS user,
		COALESCE(p.host, b.processlist_host, '') AS host, COALESCE(b.processlist_db, '') AS db,
		IF(b.processlist_command = 'Sleep', 'idle', 'busy') AS doing, COALESCE(b.processlist_time, 0) AS seconds
	FROM performance_schema.data_lock_waits AS l
	JOIN performance_schema.threads AS w ON w.thread_id = l.requesting_thread_id
	JOIN performance_schema.threads AS b ON b.thread_id = l.blocking_thread_id
	LEFT JOIN performance_schema.processlist AS p ON p.id = b.processlist_id
	WHERE w.processlist_id = ? AND NOT EXISTS
		(SELECT 1 FROM performance_schema.data_lock_waits AS o WHERE o.requesting_thread_id = l.blocking_thread_id)`, // MySQL
	`SELECT FALSE AS sure, FALSE AS waits, b.trx_mysql_thread_id AS id, COALESCE(p.user, '') AS user, COALESCE(p.host, '') AS host,
		COALESCE(p.db, '') AS db, IF(p.command = 'Sleep', 'idle', 'busy') AS doing, COALESCE(p.time, 0) AS seconds
	FROM information_schema.INNODB_TRX AS w JOIN information_schema.INNODB_TRX AS b ON b.trx_rows_locked > 0 AND b.trx_state <> 'LOCK WAIT'
	LEFT JOIN performance_schema.processlist AS p ON p.id = b.trx_mysql_thread_id
	WHERE w.trx_mysql_thread_id = ? AND w.trx_state = 'LOCK WAIT'
	ORDER BY b.trx_mysql_thread_id = 0, p.db <=> DATABASE() DESC, b.trx_started`, // MySQL, to an account that has PROCESS alone
}

// mostBlockers is how many connections a message names.
const mostBlockers = 8

// blocking is one of the rows that they find.
type blocking struct {
	Sure, Waits bool
	sqldb.Holder
}

// RowLock implements [sqldb.Engine]. A session that is read-only locks, too: nothing is changed.
func (engine) RowLock(ctx context.Context, db *sqldb.DB, query string, args ...any) (string, error) {
	begin := []string{"SET SESSION innodb_lock_wait_timeout = 2", "START TRANSACTION READ WRITE"}
	return db.WaitForLock(ctx, begin, func(waiter int64) string { return blocker(ctx, db, waiter) }, query, args...)
}

// blocker describes the connection that another one waits for.
func blocker(ctx context.Context, db *sqldb.DB, waiter int64) string {
	for _, query := range blockers {
		var found []blocking
		if err := db.Pool().SelectContext(ctx, &found, query, waiter); err != nil || len(found) == 0 || found[0].Waits {
			continue // of the other kind of server, or the account has no right to know
		}
		if found[0].ID == 0 {
			return "locked by a prepared XA transaction whose connection is gone: " +
				"if its owner does not end it, find it with XA RECOVER, and end it: XA ROLLBACK and its name"
		}
		if found[0].Sure || len(found) == 1 {
			return found[0].Locks(fmt.Sprintf("KILL %d", found[0].ID))
		}
		var names []string
		for _, b := range found[:min(len(found), mostBlockers)] {
			names = append(names, b.String())
		}
		if more := len(found) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		return fmt.Sprintf("locked by one of the following transactions (the server does not say which): %s: "+
			"if the process of one of them is frozen or gone, end it on the database server: KILL and its number", strings.Join(names, "; "))
	}
	return "locked by a transaction that this account has no right to see, or that the server does not show: " +
		"find it with an account that has the PROCESS privilege, by " +
		"SELECT trx_mysql_thread_id, trx_started, trx_rows_locked FROM information_schema.INNODB_TRX ORDER BY trx_started; " +
		"if its process is frozen or gone, end it: KILL and the trx_mysql_thread_id"
}
