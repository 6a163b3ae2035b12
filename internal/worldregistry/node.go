package worldregistry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// NodeOptions are those of package store/registry, which says what they mean.
type NodeOptions struct {
	gameid.Options
	AcceptLossyDatabase    bool
	FloorOnly, FloorExcept []string
}

// Admit returns the row of a server whose node may be opened. Every way to open a node begins with
// it, and ends with [Registry.Start].
//
// It refuses a database that may lose confirmed changes with a [*LossyError], one in which any server is
// fenced with a [*FencedError], a server that another process holds with a [*gameid.HeldError], and
// one that came by a merge.
func (r *Registry) Admit(ctx context.Context, server gameid.ServerID, options NodeOptions) (own Server, err error) {
	if err := r.usable(ctx, options); err != nil {
		return own, err
	}
	if err := r.checkFences(ctx, server); err != nil {
		return own, err
	}
	if own, err = r.Server(ctx, server); err == nil {
		err = r.explainRefusal(server, r.refusal(&own)) // needs no look at the tables
	}
	return own, err
}

// usable returns an error if no node can be opened on this database.
func (r *Registry) usable(ctx context.Context, options NodeOptions) error {
	if err := options.checkFloor(); err != nil {
		return err
	}
	if err := r.waitsForItself(); err != nil {
		return err
	}
	if err := r.Check(ctx); err != nil {
		return err
	}
	found, err := r.readSettings(ctx)
	if err != nil {
		return err
	}
	if options.AcceptLossyDatabase {
		r.db.AcceptLossy()
		return nil
	}
	return refuse(r.Place(), found, false)
}

// waitsForItself returns an error if minting inside a transaction would wait for the registry, which would
// wait for the connection of that transaction.
func (r *Registry) waitsForItself() error {
	if r.Pool().Stats().MaxOpenConnections == 1 {
		return errors.New("store: the pool of the registry may open one connection only: IDs and numbers that are taken inside a transaction on it would wait for " +
			"the registry, which would wait for that transaction; allow two or more (SetMaxOpenConns), or give the registry a pool of its own: store.WrapTwo")
	}
	return nil
}

// refusal returns why no node of a server can be opened here, as its row says; nil if one can.
func (r *Registry) refusal(s *Server) error {
	if s.Role == RoleMerged {
		return fmt.Errorf("server %s was merged into %q: its rows are here, but it does not run here", s.ID, r)
	}
	return s.Held()
}

// Start opens the node of a server that was admitted, through a Floorer that uses this registry.
func (r *Registry) Start(ctx context.Context, own Server, through gameid.Floorer, options NodeOptions) (*gameid.Node, error) {
	node, err := gameid.OpenNode(ctx, own.ID, through, options.Options)
	if err != nil {
		return nil, r.explainRefusal(own.ID, r.explainLock(ctx, own.ID, err))
	}
	// A merge that began meanwhile has seen the lease, or its fence is seen now.
	if err := r.checkFences(ctx, own.ID); err != nil {
		return nil, errors.Join(err, node.Close())
	}
	return node, nil
}

// explainRefusal adds what to do to an error of a server that could not start: because
// of a fence, of a mark in the far future, or of a lease that is longer than any that a
// server takes. Such a lease is left by a wrong clock of the database.
func (r *Registry) explainRefusal(server gameid.ServerID, err error) error {
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
		const longest = 5 * time.Minute // no server takes a lease as long
		if held.LeaseUntil.Sub(held.Now) > longest {
			return ways("release")
		}
	}
	return err
}

const lockedRow = "SELECT server_id FROM " + Table + " WHERE server_id = ?"

// RowLock says who keeps the row of a server from being changed, and how to end that; empty
// if it can be changed. A process that was frozen within a transaction with store.Tx.Guard has
// such a lock, also if its lease has ended: no other process can take the server then.
func (r *Registry) RowLock(ctx context.Context, server gameid.ServerID) (string, error) {
	return r.db.RowLock(ctx, lockedRow, server)
}

// explainLock adds to the error of a change that did not come to an end who locks the row.
func (r *Registry) explainLock(ctx context.Context, server gameid.ServerID, err error) error {
	return r.db.ExplainLock(ctx, err, fmt.Sprintf("server %s in %q", server, r), lockedRow, server)
}

// MaxSkew is gameid.Options.MaxSkew, or its default.
func MaxSkew(o gameid.Options) time.Duration {
	return cmp.Or(o.MaxSkew, 5*time.Minute)
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
