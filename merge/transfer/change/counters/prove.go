package counters

import (
	"context"

	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
)

// proveKeys makes sure that no counter lies below the keys that came.
func proveKeys(ctx context.Context, proving *step.Proving) error {
	r, p := proving.Run, &proving.Parts.Disjoint
	for _, c := range r.Plan.Counters {
		if c.Column == "" {
			if next, err := sequenceAt(ctx, r, &c); err != nil {
				return err
			} else if next < c.After {
				p.NoteWrong(1, "the sequence %s is below keys that came", c.Table)
			}
			continue
		}
		reached, err := reachedBy(ctx, r, &c)
		if err != nil {
			return err
		}
		if !reached {
			p.NoteWrong(1, "table %s: row %s: the counter %s is below keys that came", c.Table, rowio.KeyText(c.Key), c.Column)
		}
	}
	return nil
}
