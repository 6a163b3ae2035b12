package job

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// During calls f, which changes the new database or the worlds, while the merge is in a state that
// nobody can change until f has ended. f must not change it either, nor drop the connection to
// the new database.
//
// In SQLite that is one transaction, which has all that f writes to the new database. In MySQL and
// MariaDB a statement that changes tables ends a transaction, and the locks with it: there
// another connection holds the lock.
func (r *Run) During(ctx context.Context, state record.State, f func() error) error {
	if err := r.Hooks.Fail.At("before holding"); err != nil {
		return err
	}
	held := r.New
	if r.New.Dialect().MySQL() {
		if err := r.New.Open(ctx); err != nil {
			return err
		}
		held = &world.Connection{Database: r.New.Database, Writes: true, Fail: r.New.Fail, DB: r.New.DB, Shared: true}
		defer held.Close()
	}
	m := r.Manifest.Over(held)
	return held.Tx(ctx, func() error {
		if err := m.HoldState(ctx, state, record.Exclusive); err != nil {
			return err
		}
		return f()
	})
}

// OrBusy returns ErrBusy in the place of an error that comes of what another process did: the
// merge is not in the state in which this one left it. A table that is gone may be the first sign.
func (r *Run) OrBusy(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, record.ErrStopped) || errors.Is(err, record.ErrBusy) {
		return err
	}
	if errors.Is(err, sqldb.ErrReplaced) { // by an undo
		return fmt.Errorf("%w: %w", record.ErrBusy, err)
	}
	is, unread := r.State(ctx)
	if errors.Is(unread, sqldb.ErrUnavailable) { // by a session that has ended
		r.drop()
		is, unread = r.State(ctx)
	}
	if errors.Is(unread, record.ErrBusy) { // a session that begins says so
		return unread
	}
	begins := r.Manifest.Left == ""
	_, changed := errors.AsType[*record.ChangedError](err) // by the other one, if this one has not begun
	if unread == nil && is == r.Manifest.Left {
		if busy := r.Manifest.ExpectClaim(ctx); errors.Is(busy, record.ErrBusy) {
			return busy
		}
	}
	if unread != nil || is == r.Manifest.Left || is == "" && r.Manifest.Removed() || begins && is == r.Manifest.Working() && !changed {
		return err
	}
	return r.Manifest.WrongState(is, r.Manifest.Left)
}
