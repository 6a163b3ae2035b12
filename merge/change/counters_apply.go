package change

import (
	"context"
	"fmt"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
)

// finishCounters raises the counters above all keys that came.
func finishCounters(ctx context.Context, r *job.Run) error {
	if err := setTables(ctx, r); err != nil {
		return err
	}
	return raiseSequences(ctx, r)
}

// raiseSequences raises the sequences. Counters in rows were raised on their way.
func raiseSequences(ctx context.Context, r *job.Run) error {
	for _, c := range r.Plan.Counters {
		if c.Column != "" {
			continue
		}
		if err := raiseSequence(ctx, r, &c); err != nil {
			return err
		}
	}
	return nil
}

// raiseSequence raises a sequence.
func raiseSequence(ctx context.Context, r *job.Run, c *plan.RowCounter) error {
	next, err := sequenceAt(ctx, r, c)
	if err != nil || next >= c.After {
		return err
	}
	_, err = r.New.Exec(ctx, "counter", fmt.Sprintf("DO SETVAL(%s, %d, 0)", r.New.Dialect().Quote(c.Table), c.After), false)
	return err
}

// setTables raises the counters of the new database above those of all worlds.
func setTables(ctx context.Context, r *job.Run) error {
	for _, t := range r.Plan.Tables {
		if c := t.Counter; c != nil && c.After > c.Before {
			if err := job.SetCounter(ctx, r.New, t.Name, c.Column, c.After); err != nil {
				return err
			}
		}
	}
	return nil
}
