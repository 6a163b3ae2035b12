package worldregistry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// ErrMoved: another process changed the row since it was read.
var ErrMoved = errors.New("another process changed the row at the same time: try again")

// Own returns a server that runs, or ran, on this database. A command that repairs
// something reads it first. withFleet says that the caller has the fleet registry;
// without it a world that is bound in one is refused.
func (r *Registry) Own(ctx context.Context, server gameid.ServerID, withFleet bool) (Server, error) {
	if err := server.Validate(); err != nil {
		return Server{}, err
	}
	if err := r.Check(ctx); err != nil {
		return Server{}, err
	}
	own, err := r.Server(ctx, server)
	switch {
	case err != nil:
		return Server{}, err
	case own.World == "":
		return Server{}, fmt.Errorf("server %s is not in the registry of %q: %w", server, r, sqldb.ErrNotFound)
	case own.Role != RoleOwn:
		return Server{}, r.refusal(&own)
	case own.Fleet != "" && !withFleet:
		return Server{}, fmt.Errorf("server %s is bound in a fleet registry (identity %s), which has a mark and a lease as well: want its DSN", server, own.Fleet)
	}
	return own, nil
}

// Overwrite writes over the row of a server that does not run, and returns
// [ErrMoved] if it is not the given one any more.
func (r *Registry) Overwrite(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) error {
	ok, err := r.CompareAndSet(ctx, server, row, c)
	return r.moved(server, ok, r.explainLock(ctx, server, err))
}

func (r *Registry) moved(server gameid.ServerID, ok bool, err error) error {
	if err == nil && !ok {
		err = fmt.Errorf("server %s in the registry of %q: %w", server, r, ErrMoved)
	}
	return err
}

// RaiseMark reserves all times up to at, so that the IDs of a server that does
// not run begin after it. Use it for a database that was restored from an older copy:
// the times that its process used since, ahead of the clock of the next one, are in no
// table any more. It changes nothing if the mark is later already, and returns the
// mark, in milliseconds since gameid.EpochMillis. The time may be at most MaxSkew of
// the options in the future, because a server does not start with a later one.
func (r *Registry) RaiseMark(ctx context.Context, server gameid.ServerID, at time.Time, options gameid.Options) (int64, error) {
	own, err := r.Own(ctx, server, true)
	if err == nil {
		err = own.Held()
	}
	if err != nil {
		return 0, err
	}
	if limit := MaxSkew(options); at.Sub(own.Now) > limit {
		return 0, fmt.Errorf("with a mark of %s server %s would not start: the clock of %q says %s, and at most %s ahead is allowed",
			printable.Time(at), server, r, printable.Time(own.Now), limit)
	}
	mark, err := gameid.MillisOf(at)
	if err != nil || mark <= own.Reserved {
		return own.Reserved, err
	}
	return mark, r.Overwrite(ctx, server, own.Record(), gameid.Claim{Reserved: mark})
}

// Leave makes the world of a server that does not run forget the fleet registry
// that it is bound in, so that it can start without it or be
// bound in another one. The fleet registry is not changed: there the server stays bound
// to this world, and no other gets it.
func (r *Registry) Leave(ctx context.Context, server gameid.ServerID) error {
	own, err := r.Own(ctx, server, true)
	if err == nil {
		err = own.Held()
	}
	switch {
	case err != nil:
		return err
	case own.Fleet == "":
		return fmt.Errorf("server %s with the database %q is bound in no fleet registry: %w", server, r.Place(), sqldb.ErrNotFound)
	}
	ok, err := r.db.Swap(ctx, "UPDATE "+Table+" SET fleet = '', epoch = epoch + 1 WHERE "+unchanged, unchangedArgs(server, own.Record())...)
	return r.moved(server, ok, err)
}
