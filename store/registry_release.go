package store

import (
	"context"
	"fmt"
	"time"

	"mergesafe/gameid"
)

// Lease is who has the lease of a server in one registry.
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

// Leases are the leases of a server: see [DB.Leases].
type Leases struct {
	Server gameid.ServerID
	Own    Lease  // in the registry of its database
	Fleet  *Lease // in the fleet registry; nil if the world is in none

	mark int64
}

// Held reports whether one of them keeps the server from starting.
func (l *Leases) Held() bool { return l.Own.Held() || l.Fleet != nil && l.Fleet.Held() }

// Fence returns the fence that keeps the server from starting, if there is one.
func (l *Leases) Fence() (Fence, bool) { return FenceOf(l.Own.Holder) }

// Leases returns who has the leases of a server that runs, or ran, on this
// database. fleet may be nil only if the world is not bound in a fleet
// registry. It changes nothing, so the database may be opened read-only.
func (db *DB) Leases(ctx context.Context, fleet *Fleet, server gameid.ServerID) (*Leases, error) {
	own, err := db.ownServer(ctx, server, fleet != nil)
	if err != nil {
		return nil, err
	}
	l := &Leases{Server: server, mark: own.Mark, Own: Lease{Holder: own.Holder, Until: own.LeaseUntil, Now: own.Now, epoch: own.Epoch}}
	if fleet == nil {
		return l, nil
	}
	row, err := fleet.rowOf(ctx, server, own, db.place())
	if err != nil {
		return nil, err
	}
	if row != nil {
		l.Fleet = &Lease{Holder: row.Holder, Place: row.Place, Until: row.LeaseUntil, Now: row.Now, epoch: row.Epoch}
	}
	return l, nil
}

// EndLeases ends the leases of a server whose process is gone: those that keep
// it from starting for long, because a database's clock was wrong when they
// were taken. What it was reserved stays reserved.
//
// It refuses with [ErrRunning] while the process is provably alive: if it runs
// on this machine (Linux), or changes a row within the given time, in which
// both are watched. A game server renews the lease in its database every third
// of gameid.Options.Window (3.3 s), and the one in the fleet registry every
// FleetOptions.Heartbeat (30 s): a minute sees both. A process that is alive
// and silent for longer loses its lease, mints no more when it learns of it,
// and has repeated no ID: that does not rest on the lease.
//
// A fence is no lease that was forgotten: it is refused with a [*FencedError].
// [Registry.LiftFence] lifts one, for who knows which.
func (db *DB) EndLeases(ctx context.Context, fleet *Fleet, l *Leases, watch time.Duration, note Note) error {
	if _, fenced := l.Fence(); fenced {
		return explainHeld(&gameid.HeldError{Server: l.Server, Holder: l.Own.Holder, LeaseUntil: l.Own.Until, Now: l.Own.Now})
	}
	for _, lease := range []*Lease{&l.Own, l.Fleet} {
		if lease != nil && lease.Held() && lease.Holder.Running() {
			return &FleetError{Server: l.Server, kind: ErrRunning, reason: fmt.Sprintf("runs on this machine: %s; stop it, and it gives its lease back", lease.Holder)}
		}
	}
	timer := time.NewTimer(watch)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	now, err := db.Leases(ctx, fleet, l.Server)
	if err != nil {
		return err
	}
	if now.Own.epoch != l.Own.epoch || (now.Fleet == nil) != (l.Fleet == nil) || now.Fleet != nil && now.Fleet.epoch != l.Fleet.epoch {
		holder := now.Own.Holder
		if now.Own.epoch == l.Own.epoch && now.Fleet != nil {
			holder = now.Fleet.Holder
		}
		return &FleetError{Server: l.Server, kind: ErrRunning, reason: fmt.Sprintf(
			"is alive: its lease was renewed or taken while it was watched, by %s; nothing was changed", holder)}
	}
	// The fleet registry comes first, so that a second attempt finishes what was
	// broken off.
	if l.Fleet != nil && l.Fleet.Held() {
		err := fleet.change(ctx, l.Server, "release", note, func(tx *Tx) (bool, error) {
			return swap(ctx, tx, "UPDATE fleet_servers SET lease_until_ms = {now}, epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", l.Server, l.Fleet.epoch)
		})
		if err != nil {
			return fleet.fault(err)
		}
	}
	if !l.Own.Held() {
		return nil
	}
	row := gameid.Record{Epoch: l.Own.epoch, Holder: l.Own.Holder}
	return db.overwrite(ctx, l.Server, row, gameid.Claim{Reserved: l.mark})
}

// RaiseMark reserves all times up to at, so that the IDs of a server that does
// not run begin after it. It is for a database that was restored from an older
// copy: what its process had used since, ahead of the clock that the next one
// goes by, is in no table any more. It changes nothing where the mark is
// later already, and returns the mark, in milliseconds since
// gameid.EpochMillis. The time must not be further in the future than the
// server is allowed to start with, MaxSkew of the options.
func (db *DB) RaiseMark(ctx context.Context, server gameid.ServerID, at time.Time, options gameid.Options) (int64, error) {
	own, err := db.ownServer(ctx, server, true)
	if err != nil {
		return 0, err
	}
	if own.held() {
		return 0, own.heldError(server)
	}
	if limit := maxSkew(options); at.Sub(own.Now) > limit {
		return 0, fmt.Errorf("with a mark of %s server %s would not start: the clock of %q says %s, and at most %s ahead is allowed",
			stamp(at), server, db.name, stamp(own.Now), limit)
	}
	mark, err := gameid.MillisOf(at)
	if err != nil || mark <= own.Mark {
		return own.Mark, err
	}
	return mark, db.overwrite(ctx, server, own.record(), gameid.Claim{Reserved: mark})
}

// overwrite writes over the row of a server, and returns errMoved if it is
// another one by now.
func (db *DB) overwrite(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) error {
	ok, err := db.Registry().CompareAndSet(ctx, server, row, c)
	if err == nil && !ok {
		err = fmt.Errorf("server %s in the registry of %q: %w", server, db.name, errMoved)
	}
	return err
}

// Fleet returns the identity of the fleet registry that the world of a server
// is bound in, as its own database knows it, or "" if it is in none.
func (db *DB) Fleet(ctx context.Context, server gameid.ServerID) (string, error) {
	own, err := db.ownServer(ctx, server, true)
	return own.Fleet, err
}

// LeaveFleet makes the world of a server that does not run forget the fleet
// registry that it is bound in, so that it can start without ([DB.OpenNode]) or
// be bound in another one. The fleet registry is not told: there the number
// stays bound to this world, and is given to no other.
func (db *DB) LeaveFleet(ctx context.Context, server gameid.ServerID) error {
	own, err := db.ownServer(ctx, server, true)
	switch {
	case err != nil:
		return err
	case own.held():
		return own.heldError(server)
	case own.Fleet == "":
		return fmt.Errorf("server %s with the database %q is bound in no fleet registry: %w", server, db.place(), ErrNotFound)
	}
	ok, err := swap(ctx, db, "UPDATE "+RegistryTable+" SET fleet = '', epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", server, own.Epoch)
	if err == nil && !ok {
		err = fmt.Errorf("server %s in the registry of %q: %w", server, db.name, errMoved)
	}
	return err
}
