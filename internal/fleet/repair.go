package fleet

import (
	"context"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
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
		err := fleet.change(ctx, p.Server, "lower mark", note,
			"UPDATE fleet_servers SET mark_ms = ?, epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", p.Lowered, p.Server, p.fleetEpoch)
		if err != nil {
			return err
		}
	}
	if !p.lowersMark() {
		return nil
	}
	return reg.Overwrite(ctx, p.Server, p.row, gameid.Claim{Reserved: p.Lowered})
}

// Lease is the lease of a server in one registry, with its holder.
type Lease struct {
	Holder gameid.Holder
	Place  string // the database that Holder uses, as it names it; empty in that database's own registry

	// Until is when the lease ends, and Now when it was read, both by the clock
	// of the registry.
	Until, Now time.Time

	epoch int64
}

// Held reports whether a process had the lease when it was read.
func (l *Lease) Held() bool { return !l.Holder.IsZero() && l.Now.Before(l.Until) }

// Leases are the leases of a server: see [FindLeases].
type Leases struct {
	Server gameid.ServerID
	Own    Lease  // in the registry of its database
	Fleet  *Lease // in the fleet registry; nil if the world is in none

	mark int64
}

// Held reports whether one of them keeps the server from starting.
func (l *Leases) Held() bool { return l.Own.Held() || l.Fleet != nil && l.Fleet.Held() }

// Fence returns the fence that keeps the server from starting, if there is one.
func (l *Leases) Fence() (worldregistry.Fence, bool) { return worldregistry.FenceOf(l.Own.Holder) }

// FindLeases returns the leases of a server that runs, or ran, on this database. fleet
// may be nil only if the world is not bound in a fleet registry. It changes nothing, so
// the database may be opened read-only.
func FindLeases(ctx context.Context, reg *worldregistry.Registry, fleet *Fleet, server gameid.ServerID) (*Leases, error) {
	own, err := reg.Own(ctx, server, fleet != nil)
	if err != nil {
		return nil, err
	}
	l := &Leases{Server: server, mark: own.Reserved, Own: Lease{Holder: own.Holder, Until: own.LeaseUntil, Now: own.Now, epoch: own.Epoch}}
	if fleet == nil {
		return l, nil
	}
	row, err := fleet.rowOf(ctx, server, own, reg.Place())
	if err != nil {
		return nil, err
	}
	if row != nil {
		l.Fleet = &Lease{Holder: row.Holder, Place: row.Place, Until: row.LeaseUntil, Now: row.Now, epoch: row.Epoch}
	}
	return l, nil
}

// EndLeases ends the leases of a server whose process has ended. Use it if a lease lasts
// very long because a database's clock was wrong when the lease was taken. Reserved times
// stay reserved.
//
// It first watches the rows of both leases for the given time. It returns [ErrRunning] if
// the process is provably alive: if it runs on this machine (Linux), or changes one of the
// rows. A game server renews the lease in its database every third of
// gameid.Options.Window (3.3 s), and the one in the fleet registry every
// Options.Heartbeat (30 s), so a minute is enough for both. A process that is alive but
// renews nothing for longer loses its lease, and stops minting when it learns that. It
// repeats no ID: uniqueness does not rest on the lease.
//
// EndLeases does not end a fence: it returns a [*worldregistry.FencedError]. To lift a fence
// use [worldregistry.Registry.LiftFence], which needs its token.
func EndLeases(ctx context.Context, reg *worldregistry.Registry, fleet *Fleet, l *Leases, watch time.Duration, note Note) error {
	if _, fenced := l.Fence(); fenced {
		return worldregistry.Explain(&gameid.HeldError{Server: l.Server, Holder: l.Own.Holder, LeaseUntil: l.Own.Until, Now: l.Own.Now})
	}
	for _, lease := range []*Lease{&l.Own, l.Fleet} {
		if lease != nil && lease.Held() && lease.Holder.Running() {
			return &Error{Server: l.Server, kind: ErrRunning, reason: fmt.Sprintf("runs on this machine: %s; stop it, and it gives its lease back", lease.Holder)}
		}
	}
	timer := time.NewTimer(watch)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	now, err := FindLeases(ctx, reg, fleet, l.Server)
	if err != nil {
		return err
	}
	if now.Own.epoch != l.Own.epoch || (now.Fleet == nil) != (l.Fleet == nil) || now.Fleet != nil && now.Fleet.epoch != l.Fleet.epoch {
		holder := now.Own.Holder
		if now.Own.epoch == l.Own.epoch && now.Fleet != nil {
			holder = now.Fleet.Holder
		}
		return &Error{Server: l.Server, kind: ErrRunning, reason: fmt.Sprintf(
			"is alive: its lease was renewed or taken while it was watched, by %s; nothing was changed", holder)}
	}
	// The fleet registry comes first, so that a second attempt completes one that
	// was interrupted.
	if l.Fleet != nil && l.Fleet.Held() {
		err := fleet.change(ctx, l.Server, "release", note,
			"UPDATE fleet_servers SET lease_until_ms = {now}, epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", l.Server, l.Fleet.epoch)
		if err != nil {
			return err
		}
	}
	if !l.Own.Held() {
		return nil
	}
	row := gameid.Record{Epoch: l.Own.epoch, Holder: l.Own.Holder}
	return reg.Overwrite(ctx, l.Server, row, gameid.Claim{Reserved: l.mark})
}
