package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// Join is that of package store/fleet, which says what it promises.
func (f *Fleet) Join(ctx context.Context, reg *worldregistry.Registry, server gameid.ServerID, node worldregistry.NodeOptions, options Options) (*Member, error) {
	options, err := options.withDefaults(reg)
	if err != nil {
		return nil, err
	}
	if err := server.Validate(); err != nil {
		return nil, err
	}
	var m *Member
	err = f.unmoved(func() (err error) {
		m, err = f.tryJoin(ctx, reg, server, node, options, f.ask)
		return err
	})
	return m, err
}

// asker reads what the fleet registry says of a server.
type asker func(ctx context.Context, server gameid.ServerID, timeout time.Duration) (id string, row *Server, err error)

func (f *Fleet) tryJoin(ctx context.Context, reg *worldregistry.Registry, server gameid.ServerID, node worldregistry.NodeOptions, options Options, ask asker) (*Member, error) {
	own, err := reg.Admit(ctx, server, node)
	if err != nil {
		return nil, err // on this database: no question for the fleet
	}
	id, row, away := ask(ctx, server, options.Timeout)
	if away != nil {
		if ctx.Err() != nil || !absent(away) {
			return nil, away
		}
		if own.Fleet == "" {
			return nil, neverBound(server, options.Place, away)
		}
	} else if err := f.admit(server, row, id, own, node.Options, options); err != nil {
		return nil, err
	}
	if own.World == "" {
		if err = reg.Make(ctx, worldregistry.ServerRange{First: server, Last: server}); err == nil {
			own, err = reg.Server(ctx, server)
		}
		if err != nil {
			return nil, err
		}
	}

	r := &reserver{Registry: reg, options: node, server: server, blind: away != nil}
	older := row != nil && row.World == own.World && own.Epoch < row.WorldEpoch
	switch {
	case older:
		r.floor = row.reach()
	case row != nil:
		r.floor = row.Mark
	}
	n, err := reg.Start(ctx, own, r, node)
	if err != nil {
		return nil, err
	}
	m := &Member{
		Node: n, fleet: f, options: options, reserver: r, world: own.World, bound: own.Fleet,
		idle: make(chan struct{}), started: own.Epoch, status: Status{OlderCopy: older},
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
		m.report(Away, away)
	} else {
		m.report(Joined, nil)
	}
	beats, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	go m.heartbeats(beats)
	return m, nil
}

// join takes the lease for a node that has just been opened, if the row is
// still the one that admitted it, and returns worldregistry.ErrMoved if it is not. If the
// fleet registry went away meanwhile, or takes no changes, it returns why, if the world
// may start nevertheless.
func (m *Member) join(ctx context.Context, row *Server) (away, err error) {
	call, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	const attempts = 4
	for attempt := 1; ; attempt++ {
		err := m.take(call, row)
		if err == nil {
			return nil, m.remember(call)
		}
		if !absent(err) {
			return nil, err
		}
		// It may have been done nevertheless.
		found, lost := m.fleet.load(call, m.Node.Server())
		switch {
		case lost != nil && m.bound != "" && ctx.Err() == nil:
			return lost, nil
		case lost != nil:
			return nil, err
		case found != nil && found.Holder.Token == m.reserver.holder().Token:
			m.epoch, m.sure, m.base = found.Epoch, true, row.Mark
			return nil, m.remember(call)
		case found == nil || found.Epoch != row.Epoch:
			return nil, worldregistry.ErrMoved
		case attempt < attempts && pause(call, 100*time.Millisecond<<attempt):
		case m.bound != "" && ctx.Err() == nil:
			return err, nil
		default:
			return nil, err
		}
	}
}

// ask is an [asker] that asks now.
func (f *Fleet) ask(ctx context.Context, server gameid.ServerID, timeout time.Duration) (id string, row *Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if id, err = f.Identity(ctx); err == nil {
		row, err = f.load(ctx, server)
	}
	return id, row, err
}

// absent reports whether err leaves open what the fleet registry would have
// said. A database that answers and is not a fleet registry has said it.
func absent(err error) bool {
	_, refused := errors.AsType[*Error](err)
	return !refused && !errors.Is(err, sqldb.ErrSchema)
}

// admit decides whether a world may start.
func (f *Fleet) admit(server gameid.ServerID, row *Server, id string, own worldregistry.Server, node gameid.Options, options Options) error {
	if err := f.current(server, row, id, own, options); err != nil {
		return err
	}
	if err := worldregistry.CheckClock(node, row.Now); err != nil {
		return f.fault(err)
	}
	if row.World != "" && row.alive() {
		reason := fmt.Sprintf("cannot start with the database %q: a live copy of the same world runs elsewhere, %s. ", options.Place, row.running())
		if own.Epoch < row.WorldEpoch {
			reason += fmt.Sprintf("This database is an older copy, such as a cloned disk or a restored backup: its registry has changed %d times, that one's %d times. ", worldregistry.Changes(own.Epoch), worldregistry.Changes(row.WorldEpoch))
		}
		reason += "Stop that process if this is to be the world from now on; if this copy is to be a world of its own, claim another server for it"
		if row.LeaseUntil.Sub(row.Now) > max(5*time.Minute, 2*options.Lease) {
			reason += "; a lease that long comes from a clock that was wrong: if that process has ended, see: gameid servers release -h"
		}
		return &Error{Server: server, Row: *row, kind: ErrRunning, reason: reason}
	}
	return nil
}

// claims tells whether a server, as the fleet registry knows it, belongs to
// the world of a database or is free for it.
func (f *Fleet) claims(server gameid.ServerID, row *Server, id string, own worldregistry.Server, options Options) error {
	refuse := func(kind error, format string, args ...any) error {
		return &Error{Server: server, Row: *row, kind: kind, reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case row == nil:
		return f.notClaimed(server, options.Name, "-server "+server.String())
	case row.State == Retired:
		return refuse(ErrRetired, "is retired in the fleet registry %q: %q, %s; claim a new server for a new world; if this is the retired one and is to go on, see: gameid servers rebind -h", f, row.Name, row.lastSeen())
	case row.World == own.World && own.World != "" && row.GoneInto != "":
		return refuse(ErrSuperseded, "must not run on the database %q: its world was merged into %q, as the fleet registry %q has recorded: this is the database from before, or a copy of it. "+
			"Its players are there; to take the merge back: servermerge undo; if that database is lost and this copy is to be the world from now on, see: gameid servers rebind -h", options.Place, row.GoneInto, f)
	case row.World == own.World && own.World != "":
		return nil
	case row.World != "":
		world := "that has never been started"
		if own.World != "" {
			world = "whose identity is " + own.World
		}
		return refuse(ErrOtherWorld, "belongs to another world: the fleet registry %q bound it on %s to the world %s, %q, %s; this is %q, a world %s. "+
			"Claim a server of its own for this world; if it is the right one and has lost its identity, see: gameid servers rebind -h",
			f, printable.Time(row.BoundAt), row.World, row.Name, row.lastSeen(), options.Place, world)
	case own.Fleet != "" && own.Fleet != id:
		return refuse(ErrOtherFleet, "with the database %q is bound in another fleet registry (identity %s): this one is %q (identity %s). "+
			"Correct the DSN of the fleet registry; if the other one is lost, see: gameid servers rebind -h", options.Place, own.Fleet, f, id)
	}
	return nil
}

// remember notes in the game's own database where the world is bound, so that
// it can start while the fleet registry is away.
func (m *Member) remember(ctx context.Context) error {
	id, err := m.fleet.Identity(ctx)
	if err != nil || m.bound == id {
		return err
	}
	if err = m.reserver.Bind(ctx, worldregistry.ServerRange{First: m.Node.Server(), Last: m.Node.Server()}, id); err == nil {
		m.bound = id
	}
	return err
}

// reserver is the registry of the game's own database as a member uses
// it: it adds what the fleet registry knows, and follows what the node does.
type reserver struct {
	*worldregistry.Registry
	options worldregistry.NodeOptions
	server  gameid.ServerID
	floor   int64 // the mark in the fleet registry, or the largest ID in the game's own database
	blind   bool  // the fleet registry could not be asked

	mu      sync.Mutex
	used    int64 // up to here times may have been used before this node
	epoch   int64
	claimed gameid.Claim  // the last that was made
	process gameid.Holder // this one
}

// Floor implements [gameid.Floorer].
func (r *reserver) Floor(ctx context.Context, server gameid.ServerID) (int64, error) {
	found, err := r.Registry.Floor(ctx, server, r.options)
	r.floor = max(r.floor, found)
	return r.floor, err
}

// Load implements [gameid.Reserver].
func (r *reserver) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	rec, err := r.Registry.Load(ctx, server)
	if err != nil {
		return rec, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process.IsZero() {
		r.used = max(rec.Reserved, r.floor)
		if now, err := gameid.MillisOf(rec.Now); r.blind && err == nil {
			r.used = max(r.used, now) // a node begins after the present, by the database's clock too
		}
	} else if rec.Holder.Token == r.process.Token {
		r.epoch, r.claimed.Reserved = rec.Epoch, rec.Reserved
	}
	return rec, nil
}

// CompareAndSet implements [gameid.Reserver].
func (r *reserver) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
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
func (r *reserver) holder() gameid.Holder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process
}

// progress returns how often the row of the server has changed, and its mark.
func (r *reserver) progress() (epoch, mark int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.epoch, r.claimed.Reserved
}

// first returns a time that all IDs of this node are later than.
func (r *reserver) first() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
