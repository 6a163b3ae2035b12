package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"mergesafe/merge/world"
)

// What keeps two processes from working on one merge is in this file: an undo beside an apply,
// or the same command twice, with two copies of the plan. Whoever writes reads the state of the
// merge first, and keeps others from changing it until the write has ended; the one that came
// second stops with ErrBusy. Batches do so in their transaction ([Manifest.HoldState]), all else
// by [job.Run.During]. Fences are in registries, with transactions of their own: there the state is
// read directly before ([Manifest.ExpectState]).

// ErrBusy says that another process works on the same merge. What it does stays; so does what
// this one did until then.
var ErrBusy = errors.New("merge: another process is working on the same merge")

// WrongState returns ErrBusy with both states, or with the later merge whose record was read.
func (m *Manifest) WrongState(is, want State) error {
	if l := m.Label; is == "" && l.ID != "" && !m.owns(l) {
		later := "the merge " + l.ID
		if l.ID == m.ID {
			later = "another one by the same plan"
		}
		return fmt.Errorf("%w: the merge %s was undone there, and %s has begun in its place", ErrBusy, m.ID, later)
	}
	return fmt.Errorf("%w: the state of the merge %s changed to %q from %q", ErrBusy, m.ID, orNone(is), orNone(want))
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

// Lock reads the state of the merge and who fills its tables, which both stay so until the transaction ends.
func (m *Manifest) Lock(ctx context.Context, only bool) (is State, claim string, err error) {
	err = m.On.Rows(ctx, lockState(m.On.Dialect(), "state, claim", only), true, []any{m.ID}, func(row []any) (bool, error) {
		is, claim = State(world.Text(row[0])), world.Text(row[1])
		return true, nil
	})
	return is, claim, err
}

func lockState(d world.Dialect, columns string, only bool) string {
	query := "SELECT " + columns + " FROM " + RecordTable + " WHERE id = ?"
	if d.MySQL() {
		query += map[bool]string{Shared: " LOCK IN SHARE MODE", Exclusive: " FOR UPDATE"}[only]
	}
	return query
}

// HoldState returns ErrBusy unless the merge is in state want, and keeps it there until the
// transaction ends. So it does if another process took up the work after this one.
func (m *Manifest) HoldState(ctx context.Context, want State, only bool) error {
	is, claim, err := m.Lock(ctx, only)
	if err == nil && m.Claim == "" { // the label stays with the row
		if m.Label, err = m.readLabel(ctx); err == nil && !m.owns(m.Label) {
			is = ""
		}
	}
	switch {
	case err != nil:
	case is != want:
		err = m.WrongState(is, want)
	case m.Claim != "" && claim != m.Claim:
		err = m.takenUp()
	}
	return err
}

func (m *Manifest) takenUp() error {
	return fmt.Errorf("%w: another apply began later and continues the merge %s", ErrBusy, m.ID)
}

// TakeUp makes this process the one that fills the tables. What an earlier one writes from then on is refused
// ([Manifest.HoldState]): it may still run, and what it has not finished is emptied.
func (m *Manifest) TakeUp(ctx context.Context) error {
	claim := rand.Text()
	m.Claim = ""
	err := m.On.Tx(ctx, func() error {
		if err := m.HoldState(ctx, m.Working(), Exclusive); err != nil {
			return err
		}
		_, err := m.On.Exec(ctx, "claim", "UPDATE "+RecordTable+" SET claim = ? WHERE id = ?", false, claim, m.ID)
		return err
	})
	if err == nil {
		m.Claim = claim
	}
	return err
}

// ExpectClaim returns ErrBusy if another process took up the work after this one.
func (m *Manifest) ExpectClaim(ctx context.Context) error {
	if m.Claim == "" {
		return nil
	}
	claims, err := m.Ask(ctx, "SELECT claim FROM "+RecordTable+" WHERE id = ?", m.ID)
	if err == nil && strings.Join(claims, "") != m.Claim {
		err = m.takenUp()
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
