package transfer

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/store/registry"
)

// Result is the result of [Apply]. Beside an error it says how far the merge came: a
// batch whose COMMIT got no answer may be written and not counted yet.
type Result struct {
	ID      string       // of the merge and its plan
	Rows    int64        // copied, by this call and earlier ones
	Parts   []PartResult // Rows, by table and source, in the order of the plan
	Renames int          // in the plan
	Resumed bool         // an earlier call had begun the merge
	Notes   []string     // notes for the operator although it worked
}

// Apply carries out a plan. The databases are given in the order of the plan, by
// the names that they have there.
//
// Before it writes anything it makes sure that the databases are as planned
// (schema, registries, numbers of rows), that no game server runs on them, and
// that the accounts have the rights. If not, it returns a [*RefusedError].
//
// From its first write until the merge is completed or undone, the target's own
// servers cannot start, if the target has a registry. If a game still wrote to the
// target, Apply refuses to resume: undo the merge, then plan again.
//
// If it is interrupted, in whatever way, the same call resumes; after [ErrStopped]
// nothing else is needed. A [*ChangedError] says that a source is not as planned. If
// the merge was completed before, Apply returns no error.
//
// It returns a result beside an error too, unless it could not read the target.
func Apply(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) (*Result, error) {
	return applyWith(ctx, plan, target, sources, opts, hooks{})
}

func applyWith(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options, h hooks) (*Result, error) {
	r, err := newRun(plan, target, sources, opts, h)
	if err != nil {
		return nil, err
	}
	if err := plan.needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.close()
	r.target.unchecked = true
	state, err := r.begin(ctx, StepCopy)
	if err != nil {
		return nil, err
	}
	err = r.outrun(ctx, r.apply(ctx, state))
	result := &Result{ID: plan.ID, Renames: len(plan.Renames), Resumed: state != ""}
	result.Parts, result.Rows = r.partResults()
	result.Notes = r.notes
	return result, err
}

// begin returns the state of the merge, and takes what the step has done of it
// into the result.
func (r *run) begin(ctx context.Context, step string) (state State, err error) {
	r.tally.step, r.tally.parts = step, make(map[place]int64)
	err = r.retry(ctx, "reading the target", func(ctx context.Context) (err error) {
		if err := r.target.exists(ctx); err != nil {
			return err
		}
		if state, err = r.manifest.load(ctx); err == nil && state != "" && (step == StepCopy || step == StepUndo) {
			err = r.manifest.divideProgress(ctx)
		}
		if err == nil && state != "" {
			r.tally.parts, err = r.manifest.checkpoints(ctx, step)
		}
		return err
	})
	r.manifest.left = state
	return state, err
}

func (r *run) apply(ctx context.Context, state State) error {
	switch state {
	case StateUndoing:
		return fmt.Errorf("transfer: the merge %s is being undone: run undo again to its end first", r.plan.ID)
	case StateCopied:
		return r.release(ctx) // it may have been interrupted there
	}
	if state == StateCopying {
		if err := r.mendResets(ctx, r.makeEmpty); err != nil {
			return err
		}
	}
	if err := r.preflight(ctx, state); err != nil {
		return err
	}
	if state == "" && r.opts.Reserve != nil {
		if err := r.opts.Reserve(ctx); err != nil {
			return err
		}
	}
	if err := r.open(ctx, state); err != nil {
		return err
	}
	err := r.retry(ctx, "fencing the sources", func(ctx context.Context) error {
		return r.during(ctx, StateCopying, func() error { return r.fence(ctx, registry.FenceMerging) })
	})
	if err != nil {
		return err
	}
	if err := r.emptyTables(ctx); err != nil {
		return err
	}
	if err := r.renameOwn(ctx); err != nil {
		return err
	}
	r.step(r.plan.Rows())
	if err := r.combineTables(ctx); err != nil {
		return err
	}
	if err := r.inParallel(ctx, writing, r.plan.notCombined(r.parts(0, divided)), func(ctx context.Context, w *run, p part) error { return w.copyPart(ctx, p) }); err != nil {
		return err
	}
	err = r.retry(ctx, "completing the merge", func(ctx context.Context) error {
		if now, err := r.manifest.load(ctx); err != nil || now == StateCopied { // the answer was lost
			r.manifest.left = StateCopied
			return err
		}
		if err := r.checkReferences(ctx, "undo the merge, then plan again", nil); err != nil {
			return err
		}
		if err := r.checkUndisturbed(ctx); err != nil {
			return err
		}
		if err := r.checkEmptied(ctx); err != nil {
			return err
		}
		if err := r.checkKept(ctx); err != nil {
			return err
		}
		err := r.unaltered(ctx, "apply", "alter them back, then run the same command again")
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			return fmt.Errorf("transfer: tables were altered while the merge ran: %s", refused.Refusals[0])
		} else if err != nil {
			return err
		}
		err = r.during(ctx, StateCopying, func() error {
			if err := r.setCounters(ctx, false); err != nil {
				return err
			}
			if err := r.raiseRowCounters(ctx, false); err != nil {
				return err
			}
			return r.rememberKeys(ctx)
		})
		if err != nil {
			return err
		}
		return r.manifest.advance(ctx, StateCopying, StateCopied)
	})
	if err != nil {
		return err
	}
	return r.release(ctx)
}

// release lifts the fences of the target, when the merge is as this process left it.
func (r *run) release(ctx context.Context) error {
	return r.retry(ctx, "lifting the fences of the target", func(ctx context.Context) error {
		if err := r.manifest.yet(ctx, r.manifest.left); err != nil {
			return err
		}
		if r.manifest.left == "" { // it may begin in another process
			return r.unguard(ctx, noRowsCame...)
		}
		return r.unguard(ctx)
	})
}

// open records the merge in the target if it has not begun, and fences the target for the rows
// to come.
func (r *run) open(ctx context.Context, state State) error {
	if state != StateCopying {
		if err := r.openRecord(ctx, state); err != nil {
			return err
		}
	}
	return afterUndo(r.retry(ctx, "fencing the target", func(ctx context.Context) error {
		if err := r.manifest.yet(ctx, StateCopying); err != nil {
			return err
		}
		return r.guard(ctx, "apply", registry.FenceMerging, true)
	}))
}

// openRecord guards the target and records the merge there. If that is refused before anything is
// recorded, the target is as it was.
func (r *run) openRecord(ctx context.Context, state State) error {
	err := r.outrun(ctx, r.retry(ctx, "writing the manifest", r.record))
	if sqldb.IsDenied(err) {
		err = &RefusedError{Doing: "apply", Refusals: []Refusal{{Source: r.target.Name, Reason: fmt.Sprintf("the account lacks a right: %v", err)}}}
	}
	_, refused := errors.AsType[*RefusedError](err)
	switch {
	case errors.Is(err, ErrBusy): // which may have lifted the fences before this process set them
		if now, unread := r.manifest.load(ctx); unread == nil && (now == "" || now == StateCopied) {
			r.manifest.left = now
		} else {
			return err
		}
	case !refused:
		return err
	case state != "":
		return afterUndo(err)
	default:
		r.manifest.left = StatePreparing // nothing was copied
		if removing := r.retry(ctx, "removing the record of the merge", r.manifest.remove); removing != nil {
			return removing
		}
	}
	if lifting := r.release(ctx); lifting != nil {
		return lifting
	}
	return err
}

// record guards the target, writes the manifest, and in one transaction lists the
// merged worlds in the target's registry and lets the copying begin.
func (r *run) record(ctx context.Context) error {
	state, err := r.manifest.load(ctx)
	switch {
	case err != nil:
		return err
	case state == StateCopying:
		r.manifest.left = state
		return nil
	case state != "" && state != StatePreparing:
		return r.manifest.moved(state, r.manifest.left)
	}
	if err := r.manifest.create(ctx); err != nil {
		return err
	}
	if err := r.guard(ctx, "apply", registry.FencePrepared, true); err != nil {
		return err
	}
	if err := r.manifest.write(ctx, r.plan, r.hooks.clock()); err != nil {
		return err
	}
	// An undo that found no record of the merge may have lifted the fences.
	if err := r.manifest.yet(ctx, StatePreparing); err != nil {
		return err
	}
	if err := r.guard(ctx, "apply", registry.FencePrepared, true); err != nil {
		return err
	}
	if err := r.hooks.fail.at("before lineage"); err != nil {
		return err
	}
	r.target.drop() // SQLite has one writer at a time
	err = r.target.db.InTx(ctx, func(tx *sqldb.Tx) error {
		done, err := tx.Exec(ctx, "UPDATE "+MergesTable+" SET state = ? WHERE id = ? AND state = ?", StateCopying, r.plan.ID, StatePreparing)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		renames := 0
		if err == nil {
			err = tx.Get(ctx, &renames, "SELECT COUNT(*) FROM "+RenamesTable+" WHERE merge_id = ?", r.plan.ID)
		}
		if err == nil && (n != 1 || renames != len(r.plan.Renames)) {
			err = fmt.Errorf("%w: it began, or took back, the merge %s meanwhile", ErrBusy, r.plan.ID)
		}
		if err != nil || !r.registry {
			return err
		}
		return registryOf(r.target.db).AddMerged(ctx, tx.Begun(), mergedServers(r.plan)...)
	})
	if err != nil {
		return err
	}
	r.manifest.left = StateCopying
	return r.hooks.fail.at("after lineage")
}
