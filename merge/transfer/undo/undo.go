package undo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/store/registry"
)

// UndoOptions configures [Undo].
type UndoOptions struct {
	job.Options

	// Force also removes rows that were changed since they were copied. The players'
	// changes to them are lost.
	Force bool

	// Placing, if not nil, is called before a new database is dropped, when the first world has the
	// marks and the generation to go on: to note elsewhere where the world is again. If the call is
	// interrupted it is made again.
	Placing func(ctx context.Context) error
}

// Undone is the result of [Undo]. Beside an error it says how far the undo came: a
// batch whose COMMIT got no answer may be removed and not counted yet.
type Undone struct {
	ID   string `json:"id"`
	Rows int64  `json:"rows"` // removed, by this call

	// Parts are the rows of the sources that this call and earlier ones handled, by
	// table and source in the order of the plan. Rows that were gone before count too.
	Parts []job.PartResult `json:"-"`

	// Changed rows are not as they were copied, Missing rows are gone. They
	// block the undo, unless it is forced.
	Changed int64                 `json:"changed"`
	Missing int64                 `json:"missing"`
	Samples []evidence.Difference `json:"samples,omitempty"` // the first of them

	// SameAsBefore says that every table that was copied or emptied holds exactly the rows
	// that the plan found in it. Tables are the others.
	SameAsBefore bool                   `json:"same_as_before"`
	Tables       []evidence.UndoneTable `json:"tables,omitempty"`

	// Dropped says that the new database is gone, or what else is left in it. Of that one
	// only Rows and Lifted are told besides.
	Dropped bool     `json:"dropped,omitempty"`
	Others  []string `json:"others,omitempty"` // what the merge did not make, and stays

	// Raised says that a game may have given IDs, numbers and values of counters in the new database,
	// so that those of the first world were raised above these.
	Raised bool `json:"raised,omitempty"`

	// NoRecord says that the target has no record of the merge: it had not begun, or an
	// earlier undo took it back and was interrupted at its very end. Lifted are the fences. If
	// none was left, SameAsBefore is set: the rows of the target were read.
	NoRecord bool         `json:"no_record,omitempty"`
	Lifted   []job.Lifted `json:"lifted,omitempty"` // by this call
}

// Undo takes a merge out of the target again, completed or not: the rows that were copied and are as
// they were copied, the renames of the target's own rows, the rows removed from emptied tables (they
// are put back), the entries in the registry, the fences in the sources, the record of the merge
// itself and finally the fences in the target. Rows that a game added meanwhile stay.
//
// It needs the sources as they were copied: they show which rows to remove. A source
// that was changed since is a [*ledger.ChangedError].
//
// Before it writes anything it compares all rows. It returns a [*ledger.RefusedError] if
// a game server runs on the target, if another merge came later, if the rows of an emptied
// table are not kept any more or the game has made rows with their keys, if rows were changed
// since and Force is not set, or if rows that did not come with the merge reference rows that
// did.
//
// When all is removed, it makes sure that no row of the merge is in the target and that the own
// rows that the merge changed are as they were; otherwise it returns a [*evidence.NotUndoneError], and the
// record of the merge stays. Other own rows may differ: see [evidence.UndoneTable].
//
// If it is interrupted, the same call resumes, as with [apply.Apply]. It returns a
// result beside an error too, unless it could not read the target.
//
// A target without a record of the merge may be another copy of it, while the rows are elsewhere. Undo
// lifts fences there only if they say that no row of the merge is in the target: a campaign had only
// prepared it, or an undo had removed them all. Other fences, and another database than the target,
// are a [*ledger.RefusedError]. If there are no fences, all is well if the target holds what it held when
// the merge was planned; otherwise the error is [ledger.ErrNoMerge].
func Undo(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts UndoOptions) (*Undone, error) {
	return UndoWith(ctx, plan, target, sources, opts, job.Hooks{})
}

func UndoWith(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts UndoOptions, h job.Hooks) (*Undone, error) {
	r, err := job.NewRun(plan, target, sources, opts.Options, h)
	if err != nil {
		return nil, err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.Close()
	r.Target.Unchecked = true // what references the rows is looked for before
	state, err := r.Begin(ctx, ledger.StepUndo)
	if err != nil {
		return nil, err
	}
	u := &undo{Undoing: &step.Undoing{Run: r, Force: opts.Force}, placing: opts.Placing, done: &Undone{ID: plan.ID}}
	if r.First != nil {
		return u.done, u.OrBusy(ctx, undoInto(ctx, u, state))
	}
	if state == "" {
		return undoWithoutRecord(ctx, r)
	}
	err = u.OrBusy(ctx, u.undo(ctx, state))
	u.done.Parts, _ = r.PartResults()
	u.done.Rows, u.done.Lifted = r.Tally.Rows, r.Lifted
	if left, ok := errors.AsType[*evidence.NotUndoneError](err); ok && u.done.Tables == nil {
		u.done.Tables = left.Tables // the rest was not looked at
	}
	return u.done, err
}

// undoWithoutRecord ends an undo that was interrupted at its very end, or takes back what was only
// prepared.
func undoWithoutRecord(ctx context.Context, r *job.Run) (*Undone, error) {
	if err := r.Retry(ctx, "checking whether this is the target", func(ctx context.Context) error { return apply.IsTarget(ctx, r) }); err != nil {
		return nil, err
	}
	err := r.Retry(ctx, "lifting the fences", func(ctx context.Context) error { return apply.LiftWithoutRecord(ctx, r, "undo") })
	if err == nil {
		err = r.Retry(ctx, "removing the tables of the merge", r.Manifest.Remove)
	}
	if err != nil {
		return nil, err
	}
	if len(r.Lifted) > 0 {
		return &Undone{ID: r.Plan.ID, NoRecord: true, Lifted: r.Lifted}, nil
	}
	differing, err := unlike(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(differing) == 0 {
		return &Undone{ID: r.Plan.ID, NoRecord: true, SameAsBefore: true}, nil
	}
	return nil, fmt.Errorf("transfer: %w: %q has no record of the merge %s, and does not hold what it held when that was planned: %v",
		ledger.ErrNoMerge, r.Target.Name, r.Plan.ID, differing[0])
}

type undo struct {
	*step.Undoing
	placing func(ctx context.Context) error
	done    *Undone
	copied  map[plan.Part]*cameRows // what is to be removed, as it was read before; none if nothing was copied

	dangling map[plan.ColumnAt]int64 // rows that referred to nothing when this call began
}

func (u *undo) undo(ctx context.Context, state ledger.State) error {
	if state == ledger.StateCopying || state == ledger.StateUndoing {
		if err := step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*job.Run] { return c.MendBack }, u.Run); err != nil {
			return err
		}
	}
	if err := u.prepare(ctx, state); err != nil {
		return err
	}
	steps := []func(context.Context) error{u.remove, u.takeBack,
		u.compareWithBefore, u.complete, u.drop}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	err := u.RetryDuring(ctx, "lifting the fences", ledger.StateUndoing, func(ctx context.Context) error { return apply.LiftFences(ctx, u.Run) })
	if err != nil {
		return err
	}
	if err := u.Retry(ctx, "noting in the fences that the rows are gone", func(ctx context.Context) error { return apply.GuardUndone(ctx, u.Run) }); err != nil {
		return err
	}
	if err := u.Retry(ctx, "removing the record of the merge", u.Manifest.Remove); err != nil {
		return err
	}
	return apply.Release(ctx, u.Run)
}

// takeBack takes the changes back.
func (u *undo) takeBack(ctx context.Context) error {
	return step.Walk(ctx, all.Backwards(), func(c *step.Change) step.Do[*step.Undoing] { return c.Undo }, u.Undoing)
}

// drop removes what was kept, when all was put back.
func (u *undo) drop(ctx context.Context) error {
	return step.Walk(ctx, all.Backwards(), func(c *step.Change) step.Do[*job.Run] { return c.Drop }, u.Run)
}

// complete sets back the other counters and the registry, when nothing of the merge is left.
func (u *undo) complete(ctx context.Context) error {
	return u.Retry(ctx, "setting back counters and registry", func(ctx context.Context) error {
		if err := apply.CheckReferences(ctx, u.Run, "let these rows reference other rows or remove them, then run undo again", u.dangling, nil); err != nil {
			return err
		}
		err := u.During(ctx, ledger.StateUndoing, func() error {
			return step.Walk(ctx, all.Backwards(), func(c *step.Change) step.Do[*job.Run] { return c.Forget }, u.Run)
		})
		if err != nil || !u.Registry {
			return err
		}
		if err := u.Hooks.Fail.At("before lineage"); err != nil {
			return err
		}
		u.Target.Drop() // SQLite has one writer at a time
		return u.Target.DB.InTx(ctx, func(tx *sqldb.Tx) error {
			if err := u.Manifest.HoldStateIn(ctx, tx, ledger.StateUndoing); err != nil {
				return err
			}
			return rowio.RegistryOf(u.Target.DB).RemoveMerged(ctx, tx.Begun(), ledger.MergedServers(u.Plan)...)
		})
	})
}

// prepare looks for everything that blocks the undo, and then records in the
// target that it began.
func (u *undo) prepare(ctx context.Context, state ledger.State) error {
	const then = "alter them back, or restore this database from its backup; then run undo again"
	if err := u.Unaltered(ctx, "undo", then); err != nil {
		return err
	}
	var progress string // of an apply that may still run
	err := u.Retry(ctx, "reading the databases", func(soft context.Context) (err error) {
		u.Reasons = nil
		if state == ledger.StateCopying {
			if progress, err = u.Manifest.Progress(soft); err != nil {
				return err
			}
		}
		s, err := rowio.OpenSource(soft, u.Target.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		u.Know(s)
		planner.TriggersNow(u.Run, s, true, func(table, reason string) { u.Refuse(table, "%s", reason) })
		if u.Registry {
			now, err := ledger.Servers(soft, u.Target.Database)
			if err != nil {
				return err
			}
			for _, reason := range ledger.InUse(now, u.Plan.ID) {
				u.Refuse("", "%s", reason)
			}
		}
		if u.dangling, err = apply.DanglingRows(soft, u.Run); err != nil {
			return err
		}
		lacks, err := apply.Rights(soft, u.Run)
		if err != nil {
			return err
		}
		u.Reasons = append(u.Reasons, lacks...)
		ids, err := u.Manifest.Later(soft)
		if len(ids) > 0 {
			u.Refuse("", "the merge %s came later: undo that first", strings.Join(ids, ", "))
		}
		return err
	})
	if err != nil {
		return err
	}
	compares := []func(context.Context) error{
		func(ctx context.Context) error {
			return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Undoing] { return c.Kept }, u.Undoing)
		},
		func(ctx context.Context) error {
			if err := u.compareAll(ctx, state == ledger.StateUndoing); err != nil {
				return err
			}
			return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Undoing] { return c.Compare }, u.Undoing)
		},
	}
	for _, compare := range compares {
		if len(u.Reasons) > 0 || state == ledger.StatePreparing {
			break
		}
		if err := compare(ctx); err != nil {
			return err
		}
	}
	if len(u.Reasons) > 0 {
		return &ledger.RefusedError{Doing: "undo", Refusals: u.Reasons}
	}
	err = u.Retry(ctx, "fencing the target", func(ctx context.Context) error {
		if err := u.Manifest.ExpectState(ctx, state); err != nil {
			return err
		}
		return apply.Guard(ctx, u.Run, "undo", registry.FenceMerging, false)
	})
	if _, refused := errors.AsType[*ledger.RefusedError](err); refused && state == ledger.StateCopied {
		if lifting := apply.Release(ctx, u.Run); lifting != nil {
			return lifting
		}
	}
	if err != nil {
		return err
	}
	return u.Retry(ctx, "beginning the undo", func(ctx context.Context) error { return u.beginRemoving(ctx, state, progress) })
}

// beginRemoving records in the target that the undo began: from then on an apply copies nothing
// more. What it copied until then is what was compared, if the progress is what it was before.
func (u *undo) beginRemoving(ctx context.Context, state ledger.State, progress string) error {
	if state != ledger.StateCopying {
		return u.Manifest.Advance(ctx, state, ledger.StateUndoing)
	}
	return u.Target.Tx(ctx, func() error {
		is, err := u.Manifest.Lock(ctx, ledger.Exclusive)
		if err == nil && is == ledger.StateCopying {
			var now string
			if now, err = u.Manifest.Progress(ctx); err == nil && now != progress {
				err = fmt.Errorf("%w: it copied more rows while this one compared those to be removed: end that process, then run undo again", ledger.ErrBusy)
			}
		}
		if err != nil {
			return err
		}
		return u.Manifest.Advance(ctx, state, ledger.StateUndoing)
	})
}
