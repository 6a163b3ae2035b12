package change

import (
	"context"

	"mergesafe/merge/job"
)

// finishCounters raises the counters of tables of the new database above those of all worlds, and its sequences above all
// keys that came. Counters in rows were raised on their way.
func finishCounters(ctx context.Context, r *job.Run) error {
	for _, t := range r.Plan.Tables {
		if c := t.Counter; c != nil && c.After > c.Before {
			if err := job.SetCounter(ctx, r.New, t.Name, c.Column, c.After); err != nil {
				return err
			}
		}
	}
	for _, c := range r.Plan.Counters {
		if c.Column != "" {
			continue
		}
		next, err := sequenceAt(ctx, r, &c)
		if err == nil && next < c.After {
			err = setSequence(ctx, r.New, c.Table, c.After)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
