package world

import (
	"context"
	"fmt"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
)

// holders find the connections of MySQL and MariaDB that may keep another one from altering or dropping a table of the database, or
// from changing a row: the first query that the server can answer, that the account may ask and that finds any tells. MySQL lists
// who has a lock of a table; MariaDB, to who has PROCESS, the transactions; each server, to every account, its own connections.
var holders = []string{
	`SELECT t.PROCESSLIST_ID, COALESCE(t.PROCESSLIST_USER, ''), COALESCE(p.HOST, t.PROCESSLIST_HOST, ''), COALESCE(t.PROCESSLIST_DB, ''),
		IF(t.PROCESSLIST_COMMAND = 'Sleep', 'idle', 'busy'), COALESCE(t.PROCESSLIST_TIME, 0)
	FROM performance_schema.threads AS t LEFT JOIN performance_schema.processlist AS p ON p.ID = t.PROCESSLIST_ID
	WHERE t.PROCESSLIST_ID NOT IN (CONNECTION_ID(), ?) AND t.THREAD_ID IN (SELECT OWNER_THREAD_ID FROM performance_schema.metadata_locks
		WHERE OBJECT_TYPE = 'TABLE' AND OBJECT_SCHEMA = DATABASE() AND LOCK_STATUS = 'GRANTED') ORDER BY 6 DESC`,
	`SELECT ID, USER, HOST, DB, IF(COMMAND = 'Sleep', 'idle', 'busy'), TIME FROM information_schema.PROCESSLIST
	WHERE ID NOT IN (CONNECTION_ID(), ?) AND DB = DATABASE() AND ID IN (SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX) ORDER BY 6 DESC`,
	`SELECT ID, USER, HOST, DB, IF(COMMAND = 'Sleep', 'idle', 'busy'), TIME FROM performance_schema.processlist
	WHERE ID NOT IN (CONNECTION_ID(), ?) AND DB = DATABASE() ORDER BY 6 DESC`,
	`SELECT ID, USER, HOST, DB, IF(COMMAND = 'Sleep', 'idle', 'busy'), TIME FROM information_schema.PROCESSLIST
	WHERE ID NOT IN (CONNECTION_ID(), ?) AND DB = DATABASE() ORDER BY 6 DESC`,
}

// holder says which connections may have the lock that this one waited for in vain; "" if the server shows none.
func (c *Connection) holder(ctx context.Context) string {
	on := &Connection{Database: c.Database}
	defer on.Close()
	for _, query := range holders {
		var found []sqldb.Holder
		err := on.Rows(ctx, query, false, []any{c.backend.ID}, func(row []any) (bool, error) {
			id, err := IntIn(row[0], "ID")
			h := sqldb.Holder{ID: id, User: Text(row[1]), Host: Text(row[2]), DB: Text(row[3]), Doing: Text(row[4])}
			if err == nil {
				h.Seconds, err = IntIn(row[5], "TIME")
			}
			found = append(found, h)
			return len(found) < 8, err
		})
		switch {
		case err != nil || len(found) == 0:
		case len(found) == 1:
			return found[0].Locks(fmt.Sprintf("KILL %d", found[0].ID))
		default:
			return fmt.Sprintf("locked by one of these, or by several: %s: if the process of one is frozen or gone, end it on the database server: KILL and its number",
				strings.Join(slice.Map(found, sqldb.Holder.String), "; "))
		}
	}
	return ""
}
