package world

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
)

// ErrNotReplicating says that a server is no replica, or that its replication stands still: how far it lags is not known.
var ErrNotReplicating = errors.New("replication does not run")

// replicaStatus are the words for it, of which a server knows some. MariaDB from 10.5.1 has the first: without ALL it
// tells of one connection only (mariadb.com/kb/en/show-replica-status). MySQL tells of all channels, from 8.0.22 on in
// the second words, before in the third, which 8.4 does not know:
// dev.mysql.com/doc/refman/8.0/en/show-replica-status.html, dev.mysql.com/doc/relnotes/mysql/8.4/en/news-8-4-0.html.
var replicaStatus = []string{"SHOW ALL REPLICAS STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"}

// channel is what a server says of one primary that it follows.
type channel map[string]string

func (c channel) runs() bool {
	return c.says("IO_Running") == "Yes" && c.says("SQL_Running") == "Yes"
}

// says returns a value by the end of its name, which begins with Slave_ or Replica_.
func (c channel) says(name string) string {
	return cmp.Or(c["Replica_"+name], c["Slave_"+name])
}

// behind is how far it is behind; known is false if it does not say.
func (c channel) behind() (lag time.Duration, known bool) {
	text := cmp.Or(c["Seconds_Behind_Source"], c["Seconds_Behind_Master"])
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(seconds) * time.Second, err == nil
}

// asker is a pool or a connection.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// channels asks a server which primaries it follows. A group's own channels are none.
func channels(ctx context.Context, on asker) (all []channel, err error) {
	var rows *sql.Rows
	for _, statement := range replicaStatus {
		if rows, err = on.QueryContext(ctx, statement); !sqldb.Says(err, sqldb.Syntax) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		c := make(channel)
		for i, name := range names {
			c[name] = values[i].String
		}
		if !strings.HasPrefix(c["Channel_Name"], "group_replication_") {
			all = append(all, c)
		}
	}
	return all, rows.Err()
}

// Lag returns how far the replica that the source leads to is behind: of several channels, the slowest. A delay that a
// channel is told to keep (MASTER_DELAY) does not count.
func (s *Source) Lag(ctx context.Context) (time.Duration, error) {
	all, err := channels(ctx, s.pool)
	if err != nil {
		return 0, fmt.Errorf("sqlsource: lag: %w", err)
	}
	lag := time.Duration(-1)
	for _, c := range all {
		behind, known := c.behind()
		if !known {
			return 0, ErrNotReplicating
		}
		delay, _ := strconv.Atoi(c["SQL_Delay"]) // that it is told to keep
		lag = max(lag, behind-time.Duration(delay)*time.Second, 0)
	}
	if lag < 0 {
		return 0, ErrNotReplicating
	}
	return lag, nil
}

// mysqlReadReplica reads whether the server is a replica, as far as the account may see. Without a right to ask, MariaDB
// tells whether replication runs, and a server that is read-only may be a replica.
func mysqlReadReplica(ctx context.Context, conn *sql.Conn, b *builder) error {
	all, err := channels(ctx, conn)
	if sqldb.IsDenied(err) {
		running := ""
		err := each(ctx, conn, "SHOW GLOBAL STATUS LIKE 'Slave_running'", func() {}, new(string), &running)
		if isOn(cmp.Or(running, "OFF")) {
			b.Replica = "its database server is a replica, and the account may not see its progress: GRANT REPLICA MONITOR ON *.* TO it"
		} else if b.Frozen != "" {
			b.Replica = "its database server is read-only, and the account may not see whether it is a replica: GRANT REPLICATION CLIENT ON *.* TO it (MariaDB: REPLICA MONITOR)"
		}
		return err
	}
	if err != nil {
		return err
	}
	for _, c := range all {
		lag, known := c.behind()
		switch {
		case c.runs() && known && lag == 0:
			b.Replica = "its database server is a replica that has caught up but still follows its primary: its rows may change"
			continue
		case c.runs() && known:
			b.Replica = fmt.Sprintf("its database server is a replica that is %s behind its primary", lag)
		case c.applied():
			b.Replica = "its database server is a replica whose replication is stopped: it has applied all that it received, but may lack changes of its primary"
			continue
		default:
			b.Replica = "its database server is a replica at an unknown distance behind its primary: its replication does not run"
		}
		b.Behind = true
		return nil
	}
	return nil
}

// applied reports whether replication is stopped, and all that was received is applied.
func (c channel) applied() bool {
	read, executed := cmp.Or(c["Read_Source_Log_Pos"], c["Read_Master_Log_Pos"]), cmp.Or(c["Exec_Source_Log_Pos"], c["Exec_Master_Log_Pos"])
	file, at := cmp.Or(c["Source_Log_File"], c["Master_Log_File"]), cmp.Or(c["Relay_Source_Log_File"], c["Relay_Master_Log_File"])
	return c.says("IO_Running") == "No" && c.says("SQL_Running") == "No" && read == executed && file == at && c["Last_SQL_Errno"] == "0"
}
