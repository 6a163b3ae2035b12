package change

import (
	"context"

	"mergesafe/merge/job"
)

// Do is what a change does at one moment.
type Do[T any] func(ctx context.Context, with T) error

// Change is what a merge does beside copying rows to a table. Each function is one moment of a
// step; nil: the change has nothing to do then.
type Change struct {
	// Plan: it only reads. Plan is called when the tables are chosen, and Measure when all their
	// rows are summed up.
	Plan, Measure Do[*Planning]

	// Look before the first write. Ready compares one world after the other with the plan, and
	// Together all at once. Unchanged does what Ready does, and is called at the proof too: it compares what a world has
	// beside the rows that come.
	Ready, Unchanged, Together Do[*Flight]

	// Carry out. Bring writes the rows of tables that are not copied part by part. Finish ends the merge.
	Bring, Finish Do[*job.Run]

	// Prove. ProveKeys adds to the parts of the proof about new keys.
	Prove, ProveKeys Do[*Proving]
}

// Walk calls one moment of all changes, in their order.
func Walk[T any](ctx context.Context, moment func(c *Change) Do[T], with T) error {
	for _, c := range changes() {
		if do := moment(&c); do != nil {
			if err := do(ctx, with); err != nil {
				return err
			}
		}
	}
	return nil
}
