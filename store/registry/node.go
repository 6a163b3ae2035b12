package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// ErrBound: the world is bound in a fleet registry, and does not start without it.
var ErrBound = errors.New("bound in a fleet registry")

// BoundError names the fleet registry in which the world is bound. errors.Is finds
// [ErrBound] in it.
type BoundError struct {
	Server gameid.ServerID
	Fleet  string // the identity of the fleet registry
	Place  string // the database, without secrets
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("server %s with the database %q is bound in a fleet registry (identity %s), and does not start without it: give its DSN, in config.toml in [registry]; "+
		"if the world is to leave that fleet permanently, see: gameid servers leave -h", e.Server, e.Place, e.Fleet)
}

// Is reports whether target is [ErrBound].
func (e *BoundError) Is(target error) bool { return target == ErrBound }

// OpenNode starts the node of a server on this registry. It returns the errors of
// [gameid.OpenNode], and also these:
//
//   - an error that is store.ErrSchema, if the table of the registry cannot be used;
//   - a [*FencedError], if a merge keeps the servers of this database from starting;
//   - a [*LossyError], if the database may lose confirmed changes, unless that was
//     accepted: see [Registry.AcceptLossyDatabase];
//   - a [*BoundError], if the world is bound in a fleet registry: package store/fleet
//     starts it. See also [Registry.Leave].
//
// Close the node before the pool.
func (r *Registry) OpenNode(ctx context.Context, server gameid.ServerID, options gameid.Options) (*gameid.Node, error) {
	if err := r.Check(ctx); err != nil {
		return nil, err
	}
	own, err := r.Server(ctx, server)
	if err != nil {
		return nil, err
	}
	if own.Fleet != "" {
		return nil, &BoundError{Server: server, Fleet: own.Fleet, Place: r.Place()}
	}
	if held := own.Held(); held != nil {
		return nil, r.ExplainRefusal(server, options, held) // needs no look at the tables
	}
	return r.Start(ctx, server, r, options)
}

// ExplainRefusal adds what to do to an error of a server that could not start: because
// of a fence, of a mark in the far future, or of a lease that is longer than any that a
// server takes. Such a lease is left by a wrong clock of the database.
func (r *Registry) ExplainRefusal(server gameid.ServerID, options gameid.Options, err error) error {
	ways := func(command string) error {
		return fmt.Errorf("%w; for the ways out: gameid servers %s %s -server %s", err, command, printable.Quoted(r.String()), server)
	}
	if _, ok := errors.AsType[*gameid.MarkError](err); ok {
		return ways("repair-mark")
	}
	if held, ok := errors.AsType[*gameid.HeldError](err); ok {
		if _, fenced := FenceOf(held.Holder); fenced {
			return Explain(held)
		}
		longest := max(5*time.Minute, 4*options.Window) // that a server with these options takes
		if held.LeaseUntil.Sub(held.Now) > longest {
			return ways("release")
		}
	}
	return err
}

// RowLock says who keeps the row of a server from being changed, and how to end that; empty
// if it can be changed. A process that was frozen within a transaction with store.Tx.Guard has
// such a lock, also if its lease has ended: no other process can take the number then.
func (r *Registry) RowLock(ctx context.Context, server gameid.ServerID) (string, error) {
	return r.db.RowLock(ctx, "SELECT server_id FROM "+Table+" WHERE server_id = ?", server)
}

// explainLock adds to the error of a change that did not come to an end who locks the row.
func (r *Registry) explainLock(ctx context.Context, server gameid.ServerID, err error) error {
	if r.Dialect() == SQLite || !errors.Is(err, context.DeadlineExceeded) && !sqldb.Says(err, sqldb.LockWait) {
		return err // in SQLite, the error says it already
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if by, failed := r.RowLock(ctx, server); failed == nil && by != "" {
		return fmt.Errorf("the row of server %s in %q is %s: %w", server, r, by, err)
	}
	return err
}

// MaxSkew is gameid.Options.MaxSkew, or its default.
func MaxSkew(o gameid.Options) time.Duration {
	return cmp.Or(o.MaxSkew, max(5*time.Minute, 2*o.Window))
}

// CheckClock returns a [*gameid.ClockError] if the clock of options disagrees
// with that of a database by more than is allowed.
func CheckClock(o gameid.Options, database time.Time) error {
	wall := time.Now()
	if o.Clock != nil {
		wall = o.Clock.Wall()
	}
	if limit := MaxSkew(o); wall.Sub(database).Abs() > limit {
		return &gameid.ClockError{Local: wall, Registry: database, Limit: limit}
	}
	return nil
}
