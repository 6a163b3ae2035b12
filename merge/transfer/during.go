package transfer

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
)

// What keeps two processes from working on one merge is in this file: an undo beside an apply,
// or the same command twice, with two copies of the plan. Whoever writes reads the state of the
// merge first, and keeps others from changing it until the write has ended; the one that came
// second stops with ErrBusy. Batches do so in their transaction ([manifest.still]), all else
// by [run.during]. Fences are in registries, with transactions of their own: there the state is
// read directly before ([manifest.yet]).

// ErrBusy says that another process works on the same merge. What it does stays; so does what
// this one did until then.
var ErrBusy = errors.New("transfer: another process works on the same merge")

// moved is ErrBusy of a merge that is in another state than it should be.
func (m *manifest) moved(is, want State) error {
	return fmt.Errorf("%w: the state of the merge %s in the target is %q, and was %q", ErrBusy, m.id, orNone(is), orNone(want))
}

func orNone(s State) State {
	if s == "" {
		return StateNone
	}
	return s
}

// How a transaction reads the state of a merge.
const (
	sharing = false // so that others may read it in that way too
	alone   = true
)

// lock reads the state of the merge, which stays so until the transaction ends.
func (m *manifest) lock(ctx context.Context, only bool) (is State, err error) {
	err = m.on.rows(ctx, m.on.dialect().lockState(only), true, []any{m.id}, func(row []any) (bool, error) {
		is = State(text(row[0]))
		return true, nil
	})
	return is, err
}

func (d dialect) lockState(only bool) string {
	query := "SELECT state FROM " + MergesTable + " WHERE id = ?"
	if d.mysql() {
		query += map[bool]string{sharing: " LOCK IN SHARE MODE", alone: " FOR UPDATE"}[only]
	}
	return query
}

// still makes sure, in a transaction, that the merge is in a state, and stays so until the
// transaction ends.
func (m *manifest) still(ctx context.Context, want State, only bool) error {
	is, err := m.lock(ctx, only)
	if err == nil && is != want {
		err = m.moved(is, want)
	}
	return err
}

// stillIn is still in a transaction of the registry.
func (m *manifest) stillIn(ctx context.Context, tx *sqldb.Tx, want State) error {
	var is State
	err := tx.Get(ctx, &is, m.on.dialect().lockState(alone), m.id)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = nil
	}
	if err == nil && is != want {
		err = m.moved(is, want)
	}
	return err
}

// yet makes sure that the merge is in a state now; "" is that the target does not know of it.
func (m *manifest) yet(ctx context.Context, want State) error {
	is, err := m.load(ctx)
	if err == nil && is != want {
		err = m.moved(is, want)
	}
	return err
}

// during calls f, which changes the target or the sources, while the merge is in a state that
// nobody can change until f has ended. f must not change it either, nor drop the connection to
// the target.
//
// In SQLite that is one transaction, which has all that f writes to the target. In MySQL and
// MariaDB a statement that changes tables ends a transaction, and the locks with it: there
// another connection holds the lock.
func (r *run) during(ctx context.Context, state State, f func() error) error {
	if err := r.hooks.fail.at("before holding"); err != nil {
		return err
	}
	held := r.target
	if r.target.dialect().mysql() {
		if err := r.target.open(ctx); err != nil {
			return err
		}
		held = &connection{Database: r.target.Database, writes: true, fail: r.target.fail, db: r.target.db, shared: true}
		defer held.close()
	}
	m := &manifest{on: held, id: r.manifest.id}
	return held.tx(ctx, func() error {
		if err := m.still(ctx, state, alone); err != nil {
			return err
		}
		return f()
	})
}

// outrun returns ErrBusy in the place of an error that comes of what another process did: the
// merge is not in the state in which this one left it. A table that is gone may be the first sign.
func (r *run) outrun(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrStopped) || errors.Is(err, ErrBusy) {
		return err
	}
	is, unread := r.manifest.load(ctx)
	begins := r.manifest.left == "" || r.manifest.left == StatePreparing
	_, changed := errors.AsType[*ChangedError](err) // by the other one, if this one has not begun
	if unread != nil || is == r.manifest.left || is == "" && r.manifest.removing || begins && (is == StatePreparing || is == StateCopying && !changed) {
		return err
	}
	return r.manifest.moved(is, r.manifest.left)
}
