package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/verdict"
	"mergesafe/store/registry"
)

// UndoOptions configures [Undo].
type UndoOptions struct {
	job.Options

	// Force also drops a new database that was written to since it was made. The players' changes
	// to it are lost.
	Force bool

	// Placing, if not nil, is called before the new database is dropped, when the first world has the
	// marks and the generation to go on: to note elsewhere where the world is again. If the call is
	// interrupted it is made again.
	Placing func(ctx context.Context) error
}

// Undone is the result of [Undo].
type Undone struct {
	ID string `json:"id"`

	// Dropped says that the new database is gone. Others is what else is left in it: what the merge
	// did not make, and stays.
	Dropped bool     `json:"dropped,omitempty"`
	Others  []string `json:"others,omitempty"`

	// Raised says that a game may have given IDs, numbers and values of counters in the new database,
	// so that those of the first world were raised above these.
	Raised bool `json:"raised,omitempty"`

	// NoRecord says that there was no record of the merge: it had not begun, or an earlier undo
	// was interrupted at its very end. Lifted are the fences, by this call.
	NoRecord bool         `json:"no_record,omitempty"`
	Lifted   []job.Lifted `json:"lifted,omitempty"`
}

// Undo takes a merge back, completed or not: it drops what the merge made, and lifts the fences of
// the worlds. Until it was opened no player can have entered, and there is nothing to compare. What was opened is
// compared row by row, and the first world first learns what was given there: its marks, numbers
// and counters never fall behind, so that nothing is given twice.
//
// It returns a [*ledger.RefusedError] if a game server runs on the new database, if that was written
// to since it was made and Force is not set, or if a world is gone, forced or not: then the new
// database has the only rows of it.
//
// If it is interrupted, the same call resumes, as with [apply.Apply]. It returns a result beside an
// error too, unless it could not read the record.
//
// Without a record of the merge, the new database may be under another name: Undo lifts fences only
// if all of them say that no row of the merge came, or that an undo was dropping it; others are a
// [*ledger.RefusedError]. If there are no fences, the error is [ledger.ErrNoMerge].
func Undo(ctx context.Context, plan *plan.Plan, into rowio.Database, worlds []rowio.Database, opts UndoOptions) (*Undone, error) {
	return UndoWith(ctx, plan, into, worlds, opts, job.Hooks{})
}

func UndoWith(ctx context.Context, plan *plan.Plan, into rowio.Database, worlds []rowio.Database, opts UndoOptions, h job.Hooks) (*Undone, error) {
	r, err := job.NewRun(plan, into, worlds, opts.Options, h)
	if err != nil {
		return nil, err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.Close()
	r.New.Unchecked = true
	state, err := r.Begin(ctx)
	if err != nil {
		return nil, err
	}
	u := &undo{Run: r, force: opts.Force, placing: opts.Placing, done: &Undone{ID: plan.ID}}
	return u.done, u.OrBusy(ctx, u.undo(ctx, state))
}

type undo struct {
	*job.Run
	force   bool
	placing func(ctx context.Context) error
	done    *Undone
}

func (u *undo) undo(ctx context.Context, state ledger.State) error {
	if state == "" {
		return u.nothing(ctx)
	}
	if err := u.Retry(ctx, "looking at the worlds", func(ctx context.Context) error { return worldsThere(ctx, u) }); err != nil {
		return err
	}
	if !state.Undoing() {
		if err := mayDrop(ctx, u, state); err != nil {
			return err
		}
		if err := u.Retry(ctx, "beginning the undo", func(ctx context.Context) error {
			if now, err := u.Manifest.Load(ctx); err != nil {
				return err
			} else if state == ledger.StateMade && now == ledger.StateProved { // by the look at what was written
				state, u.Manifest.Left = now, now
			}
			if state == ledger.StateOpen || u.force && state.Whole() {
				if err := u.Manifest.NoteFact(ctx, ledger.FactGiven); err != nil {
					return err
				}
			}
			undoing := ledger.StateUndoing
			if state == ledger.StateTried {
				undoing = ledger.StateDropping
			}
			return u.Manifest.Advance(ctx, state, undoing)
		}); err != nil {
			return err
		}
	}
	type action struct {
		doing string
		do    func(ctx context.Context, u *undo) error
	}
	all := []action{
		{"raising what the first world has given", surpass},
		{"noting where the world is again", func(ctx context.Context, u *undo) error {
			if u.placing == nil {
				return nil
			}
			return u.placing(ctx)
		}},
		{"marking the fences", func(ctx context.Context, u *undo) error {
			if err := stillUndoing(ctx, u); err != nil {
				return err
			}
			return apply.MarkFences(ctx, u.Run, registry.FenceDropping)
		}},
		{"dropping the new database", drop},
		{"lifting the fences", func(ctx context.Context, u *undo) error { return apply.LiftFences(ctx, u.Run, registry.FenceDropping) }},
	}
	if u.Manifest.Left == ledger.StateDropping { // a rehearsal writes nothing to the worlds
		all = []action{{"dropping the new database", drop}}
	}
	for _, s := range all {
		if err := u.Retry(ctx, s.doing, func(ctx context.Context) error { return s.do(ctx, u) }); err != nil {
			return err
		}
	}
	u.done.Lifted = u.Run.Lifted
	return nil
}

// stillUndoing returns [ledger.ErrBusy] if another process came to the end of the undo meanwhile: what is there now may be
// a later merge by the same plan. The database is opened again: a file that is open may have been removed.
func stillUndoing(ctx context.Context, u *undo) error {
	u.New.Close()
	now, err := u.State(ctx)
	if err == nil && now != u.Manifest.Left {
		err = u.Manifest.WrongState(now, u.Manifest.Left)
	}
	return err
}

// worldsThere refuses, forced or not, to drop the new database if a world is gone: it has the only rows of that.
func worldsThere(ctx context.Context, u *undo) error {
	refused := &ledger.RefusedError{Doing: "undo"}
	for i, c := range u.Worlds {
		there, err := schema.Exists(ctx, c.Database)
		var found []string
		if err == nil && there {
			found, err = schema.Contains(ctx, c)
		}
		if err != nil {
			return err
		}
		missing := slices.ContainsFunc(u.Plan.Tables, func(t plan.Table) bool { return t.Worlds[i].Rows > 0 && !contains(found, t.Name) })
		if !there || missing {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: c.Name, Reason: fmt.Sprintf(
				"its database or tables are gone, so %s has the only rows of it, and is not dropped: restore the database, then run undo again", u.New.Name)})
		}
	}
	if len(refused.Refusals) > 0 {
		return refused
	}
	return nil
}

// nothing ends an undo that was interrupted at its very end, or takes back fences that were
// only prepared. There is no new database, or not one of this merge.
func (u *undo) nothing(ctx context.Context) error {
	u.done.NoRecord = true
	err := u.Retry(ctx, "lifting the fences", func(ctx context.Context) error { return apply.LiftWithoutRecord(ctx, u.Run, "undo") })
	u.done.Lifted = u.Run.Lifted
	if err == nil { // an apply that was killed before it wrote its record leaves empty tables
		err = u.Retry(ctx, "removing the tables of the merge", func(ctx context.Context) error {
			if there, err := schema.Exists(ctx, u.New.Database); err != nil || !there {
				return err
			}
			if err := u.Manifest.Remove(ctx); err != nil || u.Plan.New.There {
				return err
			}
			if left, err := schema.Contains(ctx, u.New); err != nil || len(left) > 0 {
				return err
			}
			u.New.Close()
			return schema.Remove(ctx, u.New.Database)
		})
	}
	if err == nil && len(u.done.Lifted) == 0 {
		err = fmt.Errorf("transfer: %w: there is no database %q of the merge %s, and no world has its fence: nothing is to be undone", ledger.ErrNoMerge, u.New.Name, u.Plan.ID)
	}
	return err
}

// mayDrop refuses to drop a database that a game has used since, unless that is forced.
func mayDrop(ctx context.Context, u *undo, state ledger.State) error {
	if !state.Whole() {
		return nil // an apply that was killed
	}
	var reasons []plan.Refusal
	err := u.Retry(ctx, "looking at the new database", func(ctx context.Context) error {
		return u.Learn(ctx)
	})
	if err == nil && u.Registry {
		err = u.Retry(ctx, "fencing the new database", func(ctx context.Context) error {
			return apply.CloseGate(ctx, u.Run, "undo")
		})
	}
	// Without a registry nothing keeps a game from writing there, from the moment on that it is made.
	if err == nil && !u.force && (state == ledger.StateOpen || !u.Registry) {
		reasons, err = written(ctx, u)
	}
	if err != nil {
		return err
	}
	if len(reasons) == 0 {
		return nil
	}
	if state == ledger.StateOpen && u.Registry { // the game goes on there
		if err := apply.OpenGate(ctx, u.Run); err != nil {
			return err
		}
	}
	return &ledger.RefusedError{Doing: "undo", Refusals: reasons}
}

// written says what was written to the new database since it was proved.
func written(ctx context.Context, u *undo) (reasons []plan.Refusal, err error) {
	proof, err := prove.Again(ctx, u.Run)
	if altered, is := errors.AsType[*ledger.RefusedError](err); is && proof != nil {
		for _, r := range altered.Refusals {
			r.Reason = "it has other tables than the merge made, which verify explains: what was written there would be lost; -force drops it"
			reasons = append(reasons, r)
		}
		return reasons, nil
	}
	if err != nil || proof.Verdict == verdict.Pass {
		return nil, err
	}
	for _, t := range proof.Tables {
		if t.Verdict != verdict.Pass {
			reasons = append(reasons, plan.Refusal{Source: u.New.Name, Table: t.Table, Reason: fmt.Sprintf(
				"it has %s where %d were made, or some have other values: all of that would be lost; -force drops it", ledger.CountRows(t.Rows), t.Want)})
		}
	}
	if len(reasons) == 0 {
		reasons = []plan.Refusal{{Source: u.New.Name, Reason: "it is not as it was made, which verify explains: all that was written since would be lost; -force drops it"}}
	}
	return reasons, nil
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// drop removes what the merge made, its record last, and the database if nothing else is in it.
func drop(ctx context.Context, u *undo) error {
	if there, err := schema.Exists(ctx, u.New.Database); err != nil || !there {
		u.done.Dropped = err == nil
		return err
	}
	if err := stillUndoing(ctx, u); err != nil {
		return err
	}
	all, err := schema.Read(ctx, u.Worlds[0])
	if err != nil {
		return err
	}
	made := !u.Plan.New.There
	last := []string{ledger.ProgressTable, ledger.MergesTable}
	more := slices.Concat(
		slice.Map(u.Plan.Tables, func(t plan.Table) string { return t.Name }),
		u.Plan.Resets,
		slices.DeleteFunc(sqldb.Tables(), func(table string) bool { return slices.Contains(last, table) }))
	if made && !u.New.Dialect().MySQL() { // a file goes at once
		others, err := all.Others(ctx, u.New, append(append(last, more...), sqldb.KeysView))
		if err != nil {
			return err
		}
		if u.done.Dropped = len(others) == 0; u.done.Dropped {
			u.New.Close()
			return schema.Remove(ctx, u.New.Database)
		}
	}
	others, err := all.Drop(ctx, u.New, more, last)
	if err != nil {
		return err
	}
	u.done.Others = slice.Map(others, printable.Text)
	if u.done.Dropped = len(others) == 0; u.done.Dropped && made {
		u.New.Close()
		return schema.Remove(ctx, u.New.Database)
	}
	return nil
}
