package ledger

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/rowio"
)

// What keeps two processes from working on one merge is in this file: an undo beside an apply,
// or the same command twice, with two copies of the plan. Whoever writes reads the state of the
// merge first, and keeps others from changing it until the write has ended; the one that came
// second stops with ErrBusy. Batches do so in their transaction ([Manifest.Still]), all else
// by [job.Run.During]. Fences are in registries, with transactions of their own: there the state is
// read directly before ([Manifest.Yet]).

// ErrBusy says that another process works on the same merge. What it does stays; so does what
// this one did until then.
var ErrBusy = errors.New("transfer: another process works on the same merge")

// Moved is ErrBusy of a merge that is in another state than it should be.
func (m *Manifest) Moved(is, want State) error {
	return fmt.Errorf("%w: the state of the merge %s in the target is %q, and was %q", ErrBusy, m.ID, orNone(is), orNone(want))
}

func orNone(s State) State {
	if s == "" {
		return StateNone
	}
	return s
}

// How a transaction reads the state of a merge.
const (
	Sharing = false // so that others may read it in that way too
	Alone   = true
)

// Lock reads the state of the merge, which stays so until the transaction ends.
func (m *Manifest) Lock(ctx context.Context, only bool) (is State, err error) {
	err = m.On.Rows(ctx, lockState(m.On.Dialect(), only), true, []any{m.ID}, func(row []any) (bool, error) {
		is = State(rowio.Text(row[0]))
		return true, nil
	})
	return is, err
}

func lockState(d rowio.Dialect, only bool) string {
	query := "SELECT state FROM " + MergesTable + " WHERE id = ?"
	if d.Mysql() {
		query += map[bool]string{Sharing: " LOCK IN SHARE MODE", Alone: " FOR UPDATE"}[only]
	}
	return query
}

// Still makes sure, in a transaction, that the merge is in a state, and stays so until the
// transaction ends.
func (m *Manifest) Still(ctx context.Context, want State, only bool) error {
	is, err := m.Lock(ctx, only)
	if err == nil && is != want {
		err = m.Moved(is, want)
	}
	return err
}

// StillIn is still in a transaction of the registry.
func (m *Manifest) StillIn(ctx context.Context, tx *sqldb.Tx, want State) error {
	var is State
	err := tx.Get(ctx, &is, lockState(m.On.Dialect(), Alone), m.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = nil
	}
	if err == nil && is != want {
		err = m.Moved(is, want)
	}
	return err
}

// Yet makes sure that the merge is in a state now; "" is that the target does not know of it.
func (m *Manifest) Yet(ctx context.Context, want State) error {
	is, err := m.Load(ctx)
	if err == nil && is != want {
		err = m.Moved(is, want)
	}
	return err
}
