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
// second stops with ErrBusy. Batches do so in their transaction ([Manifest.HoldState]), all else
// by [job.Run.During]. Fences are in registries, with transactions of their own: there the state is
// read directly before ([Manifest.ExpectState]).

// ErrBusy says that another process works on the same merge. What it does stays; so does what
// this one did until then.
var ErrBusy = errors.New("transfer: another process works on the same merge")

// WrongState returns ErrBusy with both states.
func (m *Manifest) WrongState(is, want State) error {
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
	Shared    = false // others may read it in that way too
	Exclusive = true
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
	if d.MySQL() {
		query += map[bool]string{Shared: " LOCK IN SHARE MODE", Exclusive: " FOR UPDATE"}[only]
	}
	return query
}

// HoldState returns ErrBusy unless the merge is in state want, and keeps it there until the
// transaction ends.
func (m *Manifest) HoldState(ctx context.Context, want State, only bool) error {
	is, err := m.Lock(ctx, only)
	if err == nil && is != want {
		err = m.WrongState(is, want)
	}
	return err
}

// HoldStateIn is [Manifest.HoldState] in a transaction of the registry.
func (m *Manifest) HoldStateIn(ctx context.Context, tx *sqldb.Tx, want State) error {
	var is State
	err := tx.Get(ctx, &is, lockState(m.On.Dialect(), Exclusive), m.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = nil
	}
	if err == nil && is != want {
		err = m.WrongState(is, want)
	}
	return err
}

// ExpectState returns ErrBusy unless the merge is in state want; "" means not recorded.
func (m *Manifest) ExpectState(ctx context.Context, want State) error {
	is, err := m.Load(ctx)
	if err == nil && is != want {
		err = m.WrongState(is, want)
	}
	return err
}
