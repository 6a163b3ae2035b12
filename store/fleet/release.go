package fleet

import (
	"context"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

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
	// The fleet registry comes first, so that a second attempt finishes what was
	// broken off.
	if l.Fleet != nil && l.Fleet.Held() {
		err := fleet.change(ctx, l.Server, "release", note, func(tx *sqldb.Tx) (bool, error) {
			return tx.Swap(ctx, "UPDATE fleet_servers SET lease_until_ms = {now}, epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", l.Server, l.Fleet.epoch)
		})
		if err != nil {
			return fleet.fault(err)
		}
	}
	if !l.Own.Held() {
		return nil
	}
	row := gameid.Record{Epoch: l.Own.epoch, Holder: l.Own.Holder}
	return reg.Overwrite(ctx, l.Server, row, gameid.Claim{Reserved: l.mark})
}
