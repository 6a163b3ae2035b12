package counters

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/write"
)

// finish raises the counters above all keys that came.
func finish(ctx context.Context, r *job.Run) error {
	if err := setTables(ctx, r); err != nil {
		return err
	}
	return raiseRows(ctx, r)
}

// raiseRows raises the counters in rows.
func raiseRows(ctx context.Context, r *job.Run) error {
	for _, c := range r.Plan.Counters {
		if c.Column == "" {
			if err := setSequence(ctx, r, &c); err != nil {
				return err
			}
			continue
		}
		d := r.New.Dialect()
		statement := fmt.Sprintf("UPDATE %s SET %s = %d", d.Quote(c.Table), d.Quote(c.Column), c.After)
		for _, name := range r.Clocked[c.Table] {
			statement += fmt.Sprintf(", %s = %[1]s", d.Quote(name))
		}
		where, args, err := keyOf(r, &c)
		if err != nil {
			return err
		}
		statement += where + fmt.Sprintf(" AND %s = %d", d.Quote(c.Column), c.Before)
		if _, err := r.New.Exec(ctx, "counter", statement, false, args...); err != nil {
			return err
		}
		reached, err := reachedBy(ctx, r, &c)
		if err != nil {
			return err
		}
		if !reached {
			return fmt.Errorf("transfer: table %q of %q: row %s: its counter %s is not %d any more: another process wrote to it while the merge ran: undo the merge, then plan again",
				c.Table, r.New.Name, rowio.KeyText(c.Key), c.Column, c.Before)
		}
	}
	return nil
}

// setSequence raises a sequence.
func setSequence(ctx context.Context, r *job.Run, c *plan.RowCounter) error {
	next, err := sequenceAt(ctx, r, c)
	name := r.New.Dialect().Quote(c.Table)
	switch {
	case err != nil:
		return err
	case next >= c.After:
		return nil
	case next != c.Before:
		return fmt.Errorf("transfer: the sequence %q of %q is not at %d any more: another process used it while the merge ran: undo the merge, then plan again", c.Table, r.New.Name, c.Before)
	}
	_, err = r.New.Exec(ctx, "counter", fmt.Sprintf("DO SETVAL(%s, %d, 0)", name, c.After), false)
	return err
}

// setTables raises the counters of the new database above those of all worlds.
func setTables(ctx context.Context, r *job.Run) error {
	for _, t := range r.Plan.Tables {
		if c := t.Counter; c != nil && c.After > c.Before {
			if err := write.SetCounter(ctx, r.New, t.Name, c.Column, c.After); err != nil {
				return err
			}
		}
	}
	return nil
}
