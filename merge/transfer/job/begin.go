package job

import (
	"context"

	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/schema"
)

// State returns the state of the merge; "" if the new database does not know of it, or does not exist.
func (r *Run) State(ctx context.Context) (ledger.State, error) {
	if there, err := schema.Exists(ctx, r.New.Database); err != nil || !there {
		return "", err
	}
	return r.Manifest.Load(ctx)
}

// Begin returns the state of the merge.
func (r *Run) Begin(ctx context.Context) (state ledger.State, err error) {
	err = r.Retry(ctx, "reading the record", func(ctx context.Context) (err error) {
		state, err = r.State(ctx)
		return err
	})
	r.Manifest.Left = state
	return state, err
}
