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
	return raiseRows(ctx, r)
}

// raiseRows raises the counters in rows, and the sequences. One that is not as planned is raised all the same: the proof
// compares its row.
func raiseRows(ctx context.Context, r *job.Run) error {
	for _, c := range r.Plan.Counters {
		raise := raiseRow
		if c.Column == "" {
			raise = raiseSequence
		}
		if err := raise(ctx, r, &c); err != nil {
			return err
		}
	}
	return nil
}

// raiseRow raises a counter in a row.
func raiseRow(ctx context.Context, r *job.Run, c *plan.RowCounter) error {
	n, found, err := counterValue(ctx, r, c)
	if err != nil || !found || n >= c.After {
		return err
	}
	d := r.New.Dialect()
	statement := fmt.Sprintf("UPDATE %s SET %s = %d", d.Quote(c.Table), d.Quote(c.Column), c.After)
	for _, name := range r.Clocked[c.Table] {
		statement += fmt.Sprintf(", %s = %[1]s", d.Quote(name))
	}
	where, args, err := counterKey(r, c)
	if err == nil {
		_, err = r.New.Exec(ctx, "counter", statement+where, false, args...)
	}
	return err
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
