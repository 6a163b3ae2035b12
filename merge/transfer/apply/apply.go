package apply

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/store/registry"
)

// Result is the result of [Apply]. Beside an error it says how far the merge came: a
// batch whose COMMIT got no answer may be written and not counted yet.
type Result struct {
	ID      string           // of the merge and its plan
	Rows    int64            // copied, by this call and earlier ones
	Wrote   int64            // of these, those that this call copied
	Parts   []job.PartResult // Rows, by table and source, in the order of the plan
	Renames int              // in the plan
	Resumed bool             // an earlier call had begun the merge
	Notes   []string         // notes for the operator although it worked
}

// Apply carries out a plan. The databases are given in the order of the plan, by
// the names that they have there.
//
// Before it writes anything it makes sure that the databases are as planned
// (schema, registries, numbers of rows), that no game server runs on them, and
// that the accounts have the rights. If not, it returns a [*ledger.RefusedError].
//
// From its first write until the merge is completed or undone, the target's own
// servers cannot start, if the target has a registry. If a game still wrote to the
// target, Apply refuses to resume: undo the merge, then plan again.
//
// If it is interrupted, in whatever way, the same call resumes; after [ledger.ErrStopped]
// nothing else is needed. A [*ledger.ChangedError] says that a source is not as planned. If
// the merge was completed before, Apply returns no error.
//
// It returns a result beside an error too, unless it could not read the target.
func Apply(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options) (*Result, error) {
	return ApplyWith(ctx, plan, target, sources, opts, job.Hooks{})
}

func ApplyWith(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options, h job.Hooks) (*Result, error) {
	r, err := job.NewRun(plan, target, sources, opts, h)
	if err != nil {
		return nil, err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.Close()
	r.Target.Unchecked = true
	state, err := r.Begin(ctx, ledger.StepCopy)
	if err != nil {
		return nil, err
	}
	carryOut := apply
	if plan.Into != nil {
		carryOut = applyInto
	}
	err = r.OrBusy(ctx, carryOut(ctx, r, state))
	result := &Result{ID: plan.ID, Renames: len(plan.Renames), Resumed: state != ""}
	result.Parts, result.Rows = r.PartResults()
	result.Wrote, result.Notes = r.Tally.Rows, r.Notes
	return result, err
}

func apply(ctx context.Context, r *job.Run, state ledger.State) error {
	switch state {
	case ledger.StateUndoing:
		return fmt.Errorf("transfer: the merge %s is being undone: run undo again to its end first", r.Plan.ID)
	case ledger.StateCopied:
		return Release(ctx, r) // it may have been interrupted there
	}
	if state == ledger.StateCopying {
		if err := step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*job.Run] { return c.Mend }, r); err != nil {
			return err
		}
	}
	if err := preflight(ctx, r, state); err != nil {
		return err
	}
	if state == "" {
		// A record here would let an undo of this copy lift the fences of the other one.
		if err := r.Retry(ctx, "looking at the fences", func(ctx context.Context) error { return otherCopies(ctx, r, "apply") }); err != nil {
			return err
		}
	}
	if state == "" && r.Opts.Reserve != nil {
		if err := r.Opts.Reserve(ctx); err != nil {
			return err
		}
	}
	if err := open(ctx, r, state); err != nil {
		return err
	}
	err := r.RetryDuring(ctx, "fencing the sources", ledger.StateCopying, func(ctx context.Context) error { return fence(ctx, r, registry.FenceMerging) })
	if err != nil {
		return err
	}
	if err := step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*job.Run] { return c.MakeRoom }, r); err != nil {
		return err
	}
	r.Step(r.Plan.Rows())
	if err := bring(ctx, r); err != nil {
		return err
	}
	if err := r.InParallel(ctx, job.Writing, r.Plan.NotCombined(r.Parts(0, plan.Divided)), func(ctx context.Context, w *job.Run, p plan.Part) error { return copyPart(ctx, w, p) }); err != nil {
		return err
	}
	r.Beside(ledger.StepFinish, r.Target.Name, "", 0, r.Plan.AllRows())
	err = r.Retry(ctx, "completing the merge", func(ctx context.Context) error {
		if now, err := r.Manifest.Load(ctx); err != nil || now == ledger.StateCopied { // the answer was lost
			r.Manifest.Left = ledger.StateCopied
			return err
		}
		for _, look := range []func(context.Context, *job.Run) error{noneDangles, checkUndisturbed, confirm, stillUnaltered} {
			if err := look(ctx, r); err != nil {
				return err
			}
		}
		if err := r.During(ctx, ledger.StateCopying, func() error { return finish(ctx, r) }); err != nil {
			return err
		}
		return r.Manifest.Advance(ctx, ledger.StateCopying, ledger.StateCopied)
	})
	if err != nil {
		return err
	}
	return Release(ctx, r)
}

// bring brings the rows of tables that are not copied part by part.
func bring(ctx context.Context, r *job.Run) error {
	return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*job.Run] { return c.Bring }, r)
}

// confirm makes sure that the changes are as planned.
func confirm(ctx context.Context, r *job.Run) error {
	return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*job.Run] { return c.Confirm }, r)
}

// finish ends the merge: counters are raised above all keys that came, and these are recorded.
func finish(ctx context.Context, r *job.Run) error {
	return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*job.Run] { return c.Finish }, r)
}

// stillUnaltered makes sure that no table was altered while rows were copied.
func stillUnaltered(ctx context.Context, r *job.Run) error {
	err := r.Unaltered(ctx, "apply", "alter them back, then run the same command again")
	if refused, ok := errors.AsType[*ledger.RefusedError](err); ok {
		return fmt.Errorf("transfer: tables were altered while the merge ran: %s", refused.Refusals[0])
	}
	return err
}

// Release lifts the fences of the target, when the merge is as this process left it.
func Release(ctx context.Context, r *job.Run) error {
	return r.Retry(ctx, "lifting the fences of the target", func(ctx context.Context) error {
		if err := r.Manifest.ExpectState(ctx, r.Manifest.Left); err != nil {
			return err
		}
		if r.Manifest.Left == "" { // it may begin in another process
			return unguard(ctx, r, noRowsCame...)
		}
		return unguard(ctx, r)
	})
}

// open records the merge in the target if it has not begun, and fences the target for the rows
// to come.
func open(ctx context.Context, r *job.Run, state ledger.State) error {
	if state != ledger.StateCopying {
		if err := openRecord(ctx, r, state); err != nil {
			return err
		}
	}
	return ledger.AfterUndo(r.Retry(ctx, "fencing the target", func(ctx context.Context) error {
		if err := r.Manifest.ExpectState(ctx, ledger.StateCopying); err != nil {
			return err
		}
		return Guard(ctx, r, "apply", registry.FenceMerging, true)
	}))
}

// openRecord guards the target and records the merge there. If that is refused before anything is
// recorded, the target is as it was.
func openRecord(ctx context.Context, r *job.Run, state ledger.State) error {
	err := r.OrBusy(ctx, r.Retry(ctx, "writing the manifest", func(ctx context.Context) error { return record(ctx, r) }))
	if sqldb.IsDenied(err) {
		err = &ledger.RefusedError{Doing: "apply", Refusals: []plan.Refusal{{Source: r.Target.Name, Reason: fmt.Sprintf("the account lacks a right: %v", err)}}}
	}
	_, refused := errors.AsType[*ledger.RefusedError](err)
	switch {
	case errors.Is(err, ledger.ErrBusy): // which may have lifted the fences before this process set them
		if now, unread := r.Manifest.Load(ctx); unread == nil && (now == "" || now == ledger.StateCopied) {
			r.Manifest.Left = now
		} else {
			return err
		}
	case !refused:
		return err
	case state != "":
		return ledger.AfterUndo(err)
	default:
		r.Manifest.Left = ledger.StatePreparing // nothing was copied
		if removing := r.Retry(ctx, "removing the record of the merge", r.Manifest.Remove); removing != nil {
			return removing
		}
	}
	if lifting := Release(ctx, r); lifting != nil {
		return lifting
	}
	return err
}

// begun reports whether the merge is recorded and copies already. If not, it makes the tables of the
// record.
func begun(ctx context.Context, r *job.Run) (bool, error) {
	state, err := r.Manifest.Load(ctx)
	switch {
	case err != nil:
		return false, err
	case state == ledger.StateCopying:
		r.Manifest.Left = state
		return true, nil
	case state != "" && state != ledger.StatePreparing:
		return false, r.Manifest.WrongState(state, r.Manifest.Left)
	}
	return false, r.Manifest.Create(ctx)
}

// record guards the target, writes the manifest, and in one transaction lists the
// merged worlds in the target's registry and lets the copying begin.
func record(ctx context.Context, r *job.Run) error {
	if begun, err := begun(ctx, r); err != nil || begun {
		return err
	}
	if err := Guard(ctx, r, "apply", registry.FencePrepared, true); err != nil {
		return err
	}
	if err := r.Manifest.Write(ctx, r.Plan, r.Hooks.Clock()); err != nil {
		return err
	}
	// An undo that found no record of the merge may have lifted the fences.
	if err := r.Manifest.ExpectState(ctx, ledger.StatePreparing); err != nil {
		return err
	}
	if err := Guard(ctx, r, "apply", registry.FencePrepared, true); err != nil {
		return err
	}
	if err := r.Hooks.Fail.At("before lineage"); err != nil {
		return err
	}
	r.Target.Drop() // SQLite has one writer at a time
	err := r.Target.DB.InTx(ctx, func(tx *sqldb.Tx) error {
		done, err := tx.Exec(ctx, "UPDATE "+ledger.MergesTable+" SET state = ? WHERE id = ? AND state = ?", ledger.StateCopying, r.Plan.ID, ledger.StatePreparing)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		renames := 0
		if err == nil {
			err = tx.Get(ctx, &renames, "SELECT COUNT(*) FROM "+ledger.RenamesTable+" WHERE merge_id = ?", r.Plan.ID)
		}
		if err == nil && (n != 1 || renames != len(r.Plan.Renames)) {
			err = fmt.Errorf("%w: it began, or took back, the merge %s meanwhile", ledger.ErrBusy, r.Plan.ID)
		}
		if err != nil || !r.Registry {
			return err
		}
		return rowio.RegistryOf(r.Target.DB).AddMerged(ctx, tx.Begun(), ledger.MergedServers(r.Plan)...)
	})
	if err != nil {
		return err
	}
	r.Manifest.Left = ledger.StateCopying
	return r.Hooks.Fail.At("after lineage")
}
