package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mergesafe/gameid"
)

// JoinFleet starts the node of a server, as [DB.OpenNode] does, with the
// consent of the fleet registry, and keeps reporting to it. The first start
// binds the number to the world of this database for good.
//
// It returns a [*FleetError] if the number is not claimed (ErrNotClaimed),
// retired (ErrRetired) or of another world (ErrOtherWorld), or if a live copy
// of the same world runs elsewhere (ErrRunning): a process has the lease, and
// is not known to have ended. A process that ended on this machine is known to
// (Linux); elsewhere its lease has to run out first. A wall clock that
// disagrees with the fleet registry's by more than MaxSkew is a
// [*gameid.ClockError].
//
// A world that was bound before starts also while the fleet registry cannot be
// reached, and goes on when it goes away; the status is then FleetAway. One
// that never was does not start (ErrNotBound). When the fleet registry is back
// and another copy of the world, or another world, has the number, the node is
// stopped: of two copies that started meanwhile one goes on.
//
// The IDs begin after the mark that the world reported last, whatever this
// database says: so a restored backup does not repeat IDs.
func (db *DB) JoinFleet(ctx context.Context, fleet *Fleet, server gameid.ServerID, node gameid.Options, options FleetOptions) (*Member, error) {
	options, err := options.withDefaults(db)
	if err != nil {
		return nil, err
	}
	if err := server.Validate(); err != nil {
		return nil, err
	}
	if err := db.CheckSchema(ctx); err != nil {
		return nil, err
	}
	const attempts = 4
	for range attempts {
		m, err := db.tryJoin(ctx, fleet, server, node, options)
		if err == nil {
			return m, nil
		}
		if !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, fleet.fault(errMoved)
}

func (db *DB) tryJoin(ctx context.Context, fleet *Fleet, server gameid.ServerID, node gameid.Options, options FleetOptions) (*Member, error) {
	own, err := db.serverOf(ctx, server)
	if err != nil {
		return nil, err
	}
	switch {
	case own.Role == RoleMerged:
		return nil, &FleetError{Server: server, kind: ErrOtherWorld, reason: fmt.Sprintf(
			"came to the database %q by a merge: its rows are here, but it cannot run here", options.Place)}
	case own.held():
		// On this database: no question for the fleet.
		return nil, db.explainRefusal(server, node, own.heldError(server))
	}
	id, row, away := fleet.ask(ctx, server, options.Timeout)
	if away != nil {
		if ctx.Err() != nil || !absent(away) {
			return nil, away
		}
		if own.Fleet == "" {
			return nil, &FleetError{Server: server, kind: ErrNotBound, cause: away, reason: fmt.Sprintf(
				"with the database %q was never bound in the fleet registry, so it does not start until that can be reached", options.Place)}
		}
	} else if err := fleet.admit(server, row, id, own, node, options); err != nil {
		return nil, err
	}
	if own.World == "" {
		if own, err = db.makeServer(ctx, server); err != nil {
			return nil, err
		}
	}

	r := &fleetReserver{Registry: db.Registry(), server: server, blind: away != nil}
	older := row != nil && row.World == own.World && own.Epoch < row.WorldEpoch
	switch {
	case older:
		r.floor = row.reach()
	case row != nil:
		r.floor = row.Mark
	}
	n, err := gameid.OpenNode(ctx, server, r, node)
	if err != nil {
		return nil, db.explainRefusal(server, node, err)
	}
	m := &Member{
		Node: n, db: db, fleet: fleet, options: options, reserver: r, world: own.World, bound: own.Fleet,
		idle: make(chan struct{}), started: own.Epoch, status: FleetStatus{OlderCopy: older},
	}
	if away == nil {
		away, err = m.join(ctx, row)
	}
	if err != nil {
		m.leave(ctx)
		n.Close()
		return nil, err
	}
	if away != nil {
		m.report(FleetAway, away)
	} else {
		m.report(FleetJoined, nil)
	}
	beats, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	go m.heartbeats(beats)
	return m, nil
}

// join takes the lease for a node that has just been opened, if the row is
// still the one that admitted it, and returns errMoved if it is not. Where the
// fleet registry went away meanwhile it returns why, if the world may start
// nevertheless.
func (m *Member) join(ctx context.Context, row *FleetServer) (away, err error) {
	call, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	for epoch := row.Epoch; ; {
		err := m.take(call, row)
		if err == nil {
			return nil, m.remember(call)
		}
		if !absent(err) {
			return nil, err
		}
		// It may have been done nevertheless.
		found, lost := m.fleet.load(call, m.Server())
		switch {
		case lost != nil && m.bound != "" && ctx.Err() == nil:
			return lost, nil
		case lost != nil:
			return nil, err
		case found != nil && found.Holder.Token == m.reserver.holder().Token:
			m.epoch, m.sure, m.base = found.Epoch, true, row.Mark
			return nil, m.remember(call)
		case found == nil || found.Epoch != epoch:
			return nil, errMoved
		}
	}
}

// ask reads what the fleet registry says of a number.
func (f *Fleet) ask(ctx context.Context, server gameid.ServerID, timeout time.Duration) (id string, row *FleetServer, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if id, err = f.identity(ctx); err == nil {
		row, err = f.load(ctx, server)
	}
	return id, row, err
}

// absent reports whether err leaves open what the fleet registry would have
// said. A database that answers and is not a fleet registry has said it.
func absent(err error) bool {
	_, refused := errors.AsType[*FleetError](err)
	return !refused && !errors.Is(err, ErrSchema)
}

// admit decides whether a world may start.
func (f *Fleet) admit(server gameid.ServerID, row *FleetServer, id string, own serverOf, node gameid.Options, options FleetOptions) error {
	if err := f.claims(server, row, id, own, options); err != nil {
		return err
	}
	if err := checkClock(node.Clock, row.Now, maxSkew(node)); err != nil {
		return f.fault(err)
	}
	if row.World != "" && row.alive() {
		reason := fmt.Sprintf("cannot start with the database %q: a live copy of the same world runs elsewhere, %s. ", options.Place, row.running())
		if own.Epoch < row.WorldEpoch {
			reason += fmt.Sprintf("This database is an older copy, such as a cloned disk or a restored backup: its registry has changed %d times, that one's %d times. ", own.Epoch, row.WorldEpoch)
		}
		reason += "Stop that process if this is to be the world from now on; if this copy is to be a world of its own, claim another number for it"
		if row.LeaseUntil.Sub(row.Now) > max(5*time.Minute, 2*options.Lease) {
			reason += "; a lease that long is left by a clock that was wrong: if that process is gone, see: gameid servers release -h"
		}
		return &FleetError{Server: server, Row: *row, kind: ErrRunning, reason: reason}
	}
	return nil
}

// maxSkew is gameid.Options.MaxSkew, or its default.
func maxSkew(o gameid.Options) time.Duration {
	return cmp.Or(o.MaxSkew, max(5*time.Minute, 2*o.Window))
}

// checkClock returns a [*gameid.ClockError] if a clock, or if it is nil that
// of this machine, disagrees with a database's by more than limit.
func checkClock(clock gameid.Clock, database time.Time, limit time.Duration) error {
	wall := time.Now()
	if clock != nil {
		wall = clock.Wall()
	}
	if wall.Sub(database).Abs() > limit {
		return &gameid.ClockError{Local: wall, Registry: database, Limit: limit}
	}
	return nil
}

// claims tells whether a number, as the fleet registry knows it, belongs to
// the world of a database or is free for it.
func (f *Fleet) claims(server gameid.ServerID, row *FleetServer, id string, own serverOf, options FleetOptions) error {
	refuse := func(kind error, format string, args ...any) error {
		return &FleetError{Server: server, Row: *row, kind: kind, reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case row == nil:
		return f.notClaimed(server, options.Name)
	case row.State == FleetRetired:
		return refuse(ErrRetired, "is retired: the fleet registry %q has its number, %q, %s; claim a new number for a new world", f, row.Name, row.lastSeen())
	case row.World == own.World && own.World != "":
		return nil
	case row.World != "":
		world := "that has never been started"
		if own.World != "" {
			world = "whose identity is " + own.World
		}
		return refuse(ErrOtherWorld, "belongs to another world: the fleet registry %q bound it on %s to the world %s, %q, %s; this is %q, a world %s. "+
			"Claim a number of its own for this world; if it is the right one and has lost its identity, see: gameid servers rebind -h",
			f, stamp(row.BoundAt), row.World, row.Name, row.lastSeen(), options.Place, world)
	case own.Fleet != "" && own.Fleet != id:
		return refuse(ErrOtherFleet, "with the database %q is bound in another fleet registry (identity %s): this one is %q (identity %s). "+
			"Correct the DSN of the fleet registry; if the other one is lost, see: gameid servers rebind -h", options.Place, own.Fleet, f, id)
	}
	return nil
}

// remember notes in the game's own database where the world is bound, so that
// it can start while the fleet registry is away.
func (m *Member) remember(ctx context.Context) error {
	id, err := m.fleet.identity(ctx)
	if err != nil || m.bound == id {
		return err
	}
	_, err = m.db.exec(ctx, seldom, fmt.Sprintf("registry of server %s: remember the fleet registry", m.Server()),
		"UPDATE "+RegistryTable+" SET fleet = ? WHERE server_id = ?", id, m.Server())
	if err == nil {
		m.bound = id
	}
	return err
}

// serverOf is what a game's own database knows of its server. It is zero if
// there is no such row.
type serverOf struct {
	World, Role, Fleet string
	Epoch, Mark        int64
	Holder             gameid.Holder
	LeaseUntil, Now    time.Time
}

// held reports whether another live process runs on the same database.
func (s serverOf) held() bool {
	return !s.Holder.IsZero() && s.Now.Before(s.LeaseUntil) && !s.Holder.Ended()
}

func (s serverOf) heldError(server gameid.ServerID) error {
	return explainHeld(&gameid.HeldError{Server: server, Holder: s.Holder, LeaseUntil: s.LeaseUntil, Now: s.Now})
}

// record is what identifies the row.
func (s serverOf) record() gameid.Record { return gameid.Record{Epoch: s.Epoch, Holder: s.Holder} }

func (db *DB) serverOf(ctx context.Context, server gameid.ServerID) (serverOf, error) {
	const query = "SELECT world, role, fleet, epoch, reserved_ms, holder, lease_until_ms, {now} AS now_ms FROM " + RegistryTable + " WHERE server_id = ?"
	var row struct {
		World      string `db:"world"`
		Role       string `db:"role"`
		Fleet      string `db:"fleet"`
		Epoch      int64  `db:"epoch"`
		Mark       int64  `db:"reserved_ms"`
		Holder     string `db:"holder"`
		LeaseUntil int64  `db:"lease_until_ms"`
		Now        int64  `db:"now_ms"`
	}
	if err := db.Get(ctx, &row, db.with(query), server); errors.Is(err, ErrNotFound) {
		return serverOf{}, nil
	} else if err != nil {
		return serverOf{}, err
	}
	holder, err := decodeHolder(row.Holder)
	return serverOf{row.World, row.Role, row.Fleet, row.Epoch, row.Mark, holder, unixTime(row.LeaseUntil), unixTime(row.Now)}, err
}

// makeServer makes the row of a server that has never run on this database,
// and with it the identity of its world.
func (db *DB) makeServer(ctx context.Context, server gameid.ServerID) (serverOf, error) {
	if _, err := db.Registry().CompareAndSet(ctx, server, gameid.Record{}, gameid.Claim{}); err != nil {
		return serverOf{}, err
	}
	own, err := db.serverOf(ctx, server)
	if err == nil && own.World == "" {
		err = &opError{fmt.Sprintf("registry of server %s", server), ErrNotFound}
	}
	return own, err
}

// fleetReserver is the registry of the game's own database as a member uses
// it: it adds what the fleet registry knows, and follows what the node does.
type fleetReserver struct {
	*Registry
	server gameid.ServerID
	floor  int64 // the mark in the fleet registry
	blind  bool  // the fleet registry could not be asked

	mu      sync.Mutex
	used    int64 // up to here times may have been used before this node
	epoch   int64
	claimed gameid.Claim  // the last that was made
	process gameid.Holder // this one
}

// Load implements [gameid.Reserver].
func (r *fleetReserver) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	rec, err := r.Registry.Load(ctx, server)
	if err != nil {
		return rec, err
	}
	rec.Floor = max(rec.Floor, r.floor)
	if now, err := gameid.MillisOf(rec.Now); r.blind && err == nil {
		// The fleet registry may know of later times than this database. So
		// begin at the present, however late this machine's clock is.
		rec.Floor = max(rec.Floor, now)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process.IsZero() {
		r.used = max(rec.Reserved, rec.Floor)
	} else if rec.Holder.Token == r.process.Token {
		r.epoch, r.claimed.Reserved = rec.Epoch, rec.Reserved
	}
	return rec, nil
}

// CompareAndSet implements [gameid.Reserver].
func (r *fleetReserver) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	r.mu.Lock()
	if r.process.IsZero() {
		r.process = c.Holder
	}
	r.mu.Unlock()
	ok, err := r.Registry.CompareAndSet(ctx, server, row, c)
	if ok && err == nil {
		r.mu.Lock()
		r.epoch, r.claimed = row.Epoch+1, c
		r.mu.Unlock()
	}
	return ok, err
}

// holder is this process, as it holds the lease in both registries.
func (r *fleetReserver) holder() gameid.Holder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process
}

// progress returns how often the row of the server has changed, and its mark.
func (r *fleetReserver) progress() (epoch, mark int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.epoch, r.claimed.Reserved
}

// first returns a time that all IDs of this node are later than.
func (r *fleetReserver) first() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
