package fleet

import (
	"context"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// MarkPlan is a way to repair a mark that a broken clock left in the far future, which
// keeps a server from starting: see [gameid.MarkError] and [PlanMark].
type MarkPlan struct {
	Server gameid.ServerID

	// Now is the present, by the clock of the database. The server starts only if
	// no mark and no ID is later than Now by more than Limit.
	Now   time.Time
	Limit time.Duration

	// Mark and FleetMark are the marks in the registry of the database and in
	// the fleet registry, in milliseconds since gameid.EpochMillis. FleetMark
	// is 0 if the server is in no fleet.
	Mark, FleetMark int64

	// Columns are all columns that may hold IDs, with the IDs found there.
	Columns []worldregistry.ColumnIDs

	// OlderCopy says that the fleet registry has seen more changes than this
	// database: IDs may exist that are not in its tables. FleetMark is then
	// not lowered, and nothing is lowered below it.
	OlderCopy bool

	// Lowered is the new value of the marks that are too late. It is never
	// below the largest ID found, and never in the past.
	Lowered int64

	row        gameid.Record // as it was read
	fleetEpoch int64
}

func (p *MarkPlan) late(ms int64) bool { return gameid.TimeOf(ms).Sub(p.Now) > p.Limit }

// Largest returns the column that holds the largest ID of the server. Its
// Largest is zero if there is none.
func (p *MarkPlan) Largest() worldregistry.ColumnIDs {
	var largest worldregistry.ColumnIDs
	for _, c := range p.Columns {
		if c.Largest.Compare(largest.Largest) > 0 {
			largest = c
		}
	}
	return largest
}

// Late reports whether a mark, or an ID in a table, keeps the server from
// starting.
func (p *MarkPlan) Late() bool {
	return p.late(p.Mark) || p.late(p.FleetMark) || p.late(p.Largest().Largest.Millis())
}

// Useful reports whether lowering changes anything.
func (p *MarkPlan) Useful() bool { return p.lowersMark() || p.lowersFleetMark() }

// Enough reports whether the server can start when the marks are lowered. If
// not, rows with IDs of the far future exist, or may exist elsewhere.
func (p *MarkPlan) Enough() bool { return !p.late(p.Lowered) }

func (p *MarkPlan) lowersMark() bool { return p.late(p.Mark) && p.Lowered < p.Mark }

func (p *MarkPlan) lowersFleetMark() bool {
	return p.late(p.FleetMark) && p.Lowered < p.FleetMark
}

// PlanMark reads the marks of a server and all its IDs in the database, and plans the
// repair of a mark in the far future. It changes nothing, so the database may be opened
// read-only. It reads every column that may hold IDs (BINARY or BLOB), which can take
// long. Of the options it uses MaxSkew and Clock.
//
// fleet may be nil only if the world is not bound in a fleet registry. A server
// that runs is a [*gameid.HeldError] or a [*Error], a wall clock that
// disagrees with the database's a [*gameid.ClockError].
func PlanMark(ctx context.Context, reg *worldregistry.Registry, fleet *Fleet, server gameid.ServerID, options gameid.Options) (*MarkPlan, error) {
	own, err := reg.Own(ctx, server, fleet != nil)
	if err != nil {
		return nil, err
	}
	if err := own.Held(); err != nil {
		return nil, err
	}
	p := &MarkPlan{Server: server, Now: own.Now, Limit: worldregistry.MaxSkew(options), Mark: own.Reserved, row: own.Record()}
	if err := worldregistry.CheckClock(options, own.Now); err != nil {
		return nil, err
	}
	if p.Lowered, err = gameid.MillisOf(own.Now); err != nil {
		return nil, err
	}
	if fleet != nil {
		if err := p.askFleet(ctx, fleet, own, reg.Place()); err != nil {
			return nil, err
		}
	}
	if p.Columns, err = reg.IDs(ctx, server, p.Lowered+p.Limit.Milliseconds()); err != nil {
		return nil, err
	}
	p.Lowered = max(p.Lowered, p.Largest().Largest.Millis())
	return p, nil
}

// rowOf returns what the fleet registry says of a world, or nil if the world is
// in no fleet.
func (f *Fleet) rowOf(ctx context.Context, server gameid.ServerID, own worldregistry.Server, place string) (*Server, error) {
	id, err := f.Identity(ctx)
	if err != nil {
		return nil, err
	}
	row, err := f.load(ctx, server)
	if err != nil || row == nil && own.Fleet == "" {
		return nil, err
	}
	return row, f.claims(server, row, id, own, Options{Place: place})
}

func (p *MarkPlan) askFleet(ctx context.Context, fleet *Fleet, own worldregistry.Server, place string) error {
	row, err := fleet.rowOf(ctx, p.Server, own, place)
	if err != nil || row == nil {
		return err
	}
	if row.alive() {
		return &Error{Server: p.Server, Row: *row, kind: ErrRunning, reason: "runs: " + row.running() + "; stop it first"}
	}
	p.FleetMark, p.fleetEpoch = row.Mark, row.Epoch
	if p.OlderCopy = own.Epoch < row.WorldEpoch; p.OlderCopy {
		p.Lowered = max(p.Lowered, row.Mark)
	}
	return nil
}

// LowerMark carries out the plan, if nothing has changed since. It changes the fleet
// registry first, so a second attempt finishes an interrupted one.
func LowerMark(ctx context.Context, reg *worldregistry.Registry, fleet *Fleet, p *MarkPlan, note Note) error {
	if p.lowersFleetMark() {
		note.Why = fmt.Sprintf("%s (from %s to %s)", note.Why, printable.Time(gameid.TimeOf(p.FleetMark)), printable.Time(gameid.TimeOf(p.Lowered)))
		err := fleet.change(ctx, p.Server, "lower mark", note, func(tx *sqldb.Tx) (bool, error) {
			return tx.Swap(ctx, "UPDATE fleet_servers SET mark_ms = ?, epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", p.Lowered, p.Server, p.fleetEpoch)
		})
		if err != nil {
			return fleet.fault(err)
		}
	}
	if !p.lowersMark() {
		return nil
	}
	return reg.Overwrite(ctx, p.Server, p.row, gameid.Claim{Reserved: p.Lowered})
}
