package job

import (
	"context"

	"mergesafe/merge/transfer/ledger"
)

// Begin returns the state of the merge, and takes what the step has done of it
// into the result.
func (r *Run) Begin(ctx context.Context, step string) (state ledger.State, err error) {
	r.Tally.step, r.Tally.parts = step, make(map[ledger.Place]int64)
	err = r.Retry(ctx, "reading the target", func(ctx context.Context) (err error) {
		if err := r.Target.Exists(ctx); err != nil {
			return err
		}
		if state, err = r.Manifest.Load(ctx); err == nil && state != "" && (step == ledger.StepCopy || step == ledger.StepUndo) {
			err = r.Manifest.DivideProgress(ctx)
		}
		if err == nil && state != "" {
			r.Tally.parts, err = r.Manifest.Checkpoints(ctx, step)
		}
		return err
	})
	r.Manifest.Left = state
	return state, err
}
