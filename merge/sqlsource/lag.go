package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// Lag returns how far the replica that the source leads to is behind: of several channels, the slowest. A delay that a
// channel is told to keep (MASTER_DELAY) does not count.
func (s *Source) Lag(ctx context.Context) (time.Duration, error) {
	var rows *sql.Rows
	var err error
	for _, statement := range replicaStatus {
		if rows, err = s.pool.QueryContext(ctx, statement); !sqldb.IsSyntax(err) {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("sqlsource: lag: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return 0, fmt.Errorf("sqlsource: lag: %w", err)
	}
	lag := time.Duration(-1)
	for rows.Next() {
		values, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return 0, fmt.Errorf("sqlsource: lag: %w", err)
		}
		delay := time.Duration(0) // that it is told to keep
		if i := slices.Index(names, "SQL_Delay"); i >= 0 {
			n, _ := strconv.Atoi(values[i].String)
			delay = time.Duration(n) * time.Second
		}
		for i, name := range names {
			if name != "Seconds_Behind_Master" && name != "Seconds_Behind_Source" {
				continue
			}
			seconds, err := strconv.ParseInt(values[i].String, 10, 64)
			if !values[i].Valid || err != nil {
				return 0, ErrNotReplicating
			}
			lag = max(lag, time.Duration(seconds)*time.Second-delay, 0)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("sqlsource: lag: %w", err)
	}
	if lag < 0 {
		return 0, ErrNotReplicating
	}
	return lag, nil
}
