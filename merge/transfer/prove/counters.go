package prove

import (
	"context"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/rowio"
)

// proveCounters makes sure that no counter lies below the keys that came.
func proveCounters(ctx context.Context, r *job.Run, p *evidence.KeyProof) error {
	for _, c := range r.Plan.Counters {
		if c.Column == "" {
			if next, err := r.SequenceAt(ctx, &c); err != nil {
				return err
			} else if next < c.After {
				p.NoteWrong(1, "the sequence %s is below keys that came", c.Table)
			}
			continue
		}
		reached, err := r.CounterAt(ctx, &c)
		if err != nil {
			return err
		}
		if !reached {
			p.NoteWrong(1, "table %s: row %s: the counter %s is below keys that came", c.Table, rowio.KeyText(c.Key), c.Column)
		}
	}
	return nil
}
