package numbers

import (
	"context"
	"database/sql"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/sqldb"
)

// Spans are the runs of numbers, from the first up to but not including the
// second, that a server has, or a fleet registry for 0.
func Spans(server gameid.ServerID, digits int) (spans [][2]int64) {
	s := fleetSpace(digits)
	if server != 0 {
		s = shareSpace(server, digits)
	}
	for _, sp := range s {
		spans = append(spans, [2]int64{sp.first, sp.end})
	}
	return spans
}

// AdaptBlock is the size of the next block.
func AdaptBlock(last, used int64, in, target time.Duration) int64 {
	return adapt(last, used, in, target)
}

// OpenSharedVia is OpenShared over another pool of the fleet registry's
// database, whose connections may fail.
func OpenSharedVia(ctx context.Context, pool *sql.DB, dialect sqldb.Dialect, name string, options Options) (*Sequence, error) {
	q := &row{db: sqldb.Wrap(pool, dialect), table: fleet.NumbersTable}
	q.admit = func(context.Context) error { return nil }
	return open(ctx, q, name, options)
}
