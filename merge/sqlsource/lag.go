package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ErrNotReplicating says that a server is no replica, or that its replication stands still: how far it lags is not known.
var ErrNotReplicating = errors.New("replication does not run")

// Lag returns how far the replica that the source leads to is behind: of several channels, the slowest. A delay that a
// channel is told to keep (MASTER_DELAY) does not count.
func (s *Source) Lag(ctx context.Context) (time.Duration, error) {
	rows, err := s.pool.QueryContext(ctx, "SHOW REPLICA STATUS") // MariaDB from 10.5, MySQL from 8.0.22
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
