package store

import (
	"context"
	"time"

	"mergesafe/gameid"
)

// NumberSpans are the runs of numbers, from the first up to but not including
// the second, that a server has, or a fleet registry for 0.
func NumberSpans(server gameid.ServerID, digits int) (spans [][2]int64) {
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

// FleetNumbersTable is where a fleet registry has its sequences.
const FleetNumbersTable = fleetNumbersTable

// CreateSchemaVersion makes the tables as a program of an older version did.
func (db *DB) CreateSchemaVersion(ctx context.Context, version int) error {
	older := *gameSchema
	older.version = version
	return older.create(ctx, db)
}

// UpgradeSchema runs the statements of the versions above the first, and leaves
// the mark: as a process does that ends before it is done.
func (db *DB) UpgradeSchema(ctx context.Context) error {
	broken := *gameSchema
	broken.fill = func(context.Context, Session) error { return ErrUnavailable }
	return broken.create(ctx, db)
}
