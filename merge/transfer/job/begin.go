package job

import (
	"context"

	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/schema"
)

// State returns the state of the merge; "" if the target does not know of it, or is a new
// database that does not exist.
func (r *Run) State(ctx context.Context) (ledger.State, error) {
	if r.First != nil {
		if there, err := schema.Exists(ctx, r.Target.Database); err != nil || !there {
			return "", err
		}
	} else if err := r.Target.Exists(ctx); err != nil {
		return "", err
	}
	return r.Manifest.Load(ctx)
}

// Begin returns the state of the merge, and takes what the step has done of it
// into the result.
func (r *Run) Begin(ctx context.Context, step string) (state ledger.State, err error) {
	r.Tally.step, r.Tally.parts = step, make(map[ledger.Place]int64)
	err = r.Retry(ctx, "reading the target", func(ctx context.Context) (err error) {
		if state, err = r.State(ctx); err == nil && state == ledger.StateUndoing && r.First != nil {
			return nil // what is not dropped yet says nothing
		}
		if err == nil && state != "" {
			r.Tally.parts, err = r.Manifest.Checkpoints(ctx, step)
		}
		return err
	})
	r.Manifest.Left = state
	return state, err
}
