package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

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

// mostNamed is how many connections a message names.
const mostNamed = 8

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

// blocker describes the connection that another one waits for. It may be one of this process: a transaction that a game forgot.
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
		var all []sqldb.Holder
		for _, b := range found {
			all = append(all, b.Holder)
		}
		return "locked by one of the following transactions (the server does not say which): " + listed(all)
	}
	return unseen
}

// unseen is what a message says if the server does not show who has the lock.
const unseen = "locked by a transaction that this account has no right to see, or that the server does not show: " +
	"find it with an account that has the PROCESS privilege, by " +
	"SELECT trx_mysql_thread_id, trx_started, trx_rows_locked FROM information_schema.INNODB_TRX ORDER BY trx_started; " +
	"if its process is frozen or gone, end it: KILL and the trx_mysql_thread_id; " +
	"a connection with LOCK TABLES or FLUSH TABLES WITH READ LOCK is in SHOW FULL PROCESSLIST alone"

// listed names connections, and says how to end them.
func listed(found []sqldb.Holder) string {
	var names []string
	for _, h := range found[:min(len(found), mostNamed)] {
		names = append(names, h.String())
	}
	if more := len(found) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, "; ") + ": if the process of one of them is frozen or gone, end it on the database server: KILL and its number"
}

// holders find the connections that may keep another one from altering or dropping a table of the database, or from changing a
// row: the first query that the server can answer, that the account may ask and that finds any tells. MySQL lists who has a lock
// of a table; MariaDB, to who has PROCESS, the transactions; each server, to every account, its own connections.
var holders = []struct {
	query  string
	locked bool // finds only who has a lock or a transaction, whatever the account
}{
	{`SELECT t.PROCESSLIST_ID AS id, COALESCE(t.PROCESSLIST_USER, '') AS user, COALESCE(p.HOST, t.PROCESSLIST_HOST, '') AS host,
		COALESCE(t.PROCESSLIST_DB, '') AS db, IF(t.PROCESSLIST_COMMAND = 'Sleep', 'idle', 'busy') AS doing,
		COALESCE(t.PROCESSLIST_TIME, 0) AS seconds, ` + numbered("t.PROCESSLIST_ID") + ` AS numbered
	FROM performance_schema.threads AS t LEFT JOIN performance_schema.processlist AS p ON p.ID = t.PROCESSLIST_ID
	WHERE t.PROCESSLIST_ID IS NOT NULL AND t.THREAD_ID IN (SELECT OWNER_THREAD_ID FROM performance_schema.metadata_locks
		WHERE OBJECT_TYPE = 'TABLE' AND OBJECT_SCHEMA = DATABASE() AND LOCK_STATUS = 'GRANTED') ORDER BY seconds DESC`, true},
	{inDatabase("information_schema") + " AND ID IN (SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX) ORDER BY seconds DESC", true},
	{inDatabase("performance_schema") + " ORDER BY seconds DESC", false},
	{inDatabase("information_schema") + " ORDER BY seconds DESC", false},
}

// inDatabase lists the connections in the database.
func inDatabase(schema string) string {
	return `SELECT ID AS id, USER AS user, COALESCE(HOST, '') AS host, DB AS db, IF(COMMAND = 'Sleep', 'idle', 'busy') AS doing,
		COALESCE(TIME, 0) AS seconds, ` + numbered("ID") + ` AS numbered FROM ` + schema + `.processlist WHERE DB = DATABASE()`
}

// Holders says which connections may have a lock that one of this process waited for in vain. Those of this process
// are never named: whoever ends one ends the command that asks.
func Holders(ctx context.Context, db *sqldb.DB) string {
	for _, h := range holders {
		var rows []struct {
			Numbered string
			sqldb.Holder
		}
		if err := db.Pool().SelectContext(ctx, &rows, h.query); err != nil {
			continue // of the other kind of server, or the account has no right to know
		}
		var found []sqldb.Holder
		for _, row := range rows {
			if _, is := own.Load(row.Numbered); !is {
				found = append(found, row.Holder)
			}
		}
		switch {
		case len(found) == 0:
		case !h.locked:
			return "locked by one of these: " + listed(found) + "; or " + unseen
		case len(found) == 1:
			return found[0].Locks(fmt.Sprintf("KILL %d", found[0].ID))
		default:
			return "locked by one of these, or by several: " + listed(found)
		}
	}
	return unseen
}

// LeftOut is the error of a lock that the last statement of a connection waited for in vain, and only warned of: what that
// statement lists of the catalogue is not complete.
func LeftOut(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var level string
		var warning mysql.MySQLError
		if err := rows.Scan(&level, &warning.Number, &warning.Message); err != nil {
			return err
		}
		if answered(&warning, conditions[sqldb.LockWait]...) {
			return &warning
		}
	}
	return rows.Err()
}
