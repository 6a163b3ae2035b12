package counters

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/transfer/write"
)

// finish raises the counters above all keys that came.
func finish(ctx context.Context, r *job.Run) error {
	if err := setTables(ctx, r, false); err != nil {
		return err
	}
	return raiseRows(ctx, r, false)
}

// lower sets the counters in rows back.
func lower(ctx context.Context, u *step.Undoing) error {
	return u.RetryDuring(ctx, "setting back counters", ledger.StateUndoing, func(ctx context.Context) error { return raiseRows(ctx, u.Run, true) })
}

// forget sets the other counters back.
func forget(ctx context.Context, r *job.Run) error { return setTables(ctx, r, true) }

// raiseRows raises the counters in rows, or sets back those that were raised no further since.
func raiseRows(ctx context.Context, r *job.Run, back bool) error {
	for _, c := range r.Plan.Counters {
		if c.Column == "" {
			if err := setSequence(ctx, r, &c, back); err != nil {
				return err
			}
			continue
		}
		from, to := c.Before, c.After
		if back {
			from, to = to, from
		}
		d := r.Target.Dialect()
		statement := fmt.Sprintf("UPDATE %s SET %s = %d", d.Quote(c.Table), d.Quote(c.Column), to)
		for _, name := range r.Clocked[c.Table] {
			statement += fmt.Sprintf(", %s = %[1]s", d.Quote(name))
		}
		where, args, err := keyOf(r, &c)
		if err != nil {
			return err
		}
		statement += where + fmt.Sprintf(" AND %s = %d", d.Quote(c.Column), from)
		if _, err := r.Target.Exec(ctx, "counter", statement, false, args...); err != nil {
			return err
		}
		if back {
			continue
		}
		reached, err := reachedBy(ctx, r, &c)
		if err != nil {
			return err
		}
		if !reached {
			return fmt.Errorf("transfer: table %q of %q: row %s: its counter %s is not %d any more: another process wrote to it while the merge ran: undo the merge, then plan again",
				c.Table, r.Target.Name, rowio.KeyText(c.Key), c.Column, c.Before)
		}
	}
	return nil
}

// setSequence raises a sequence, or sets it back if it gave no number since.
func setSequence(ctx context.Context, r *job.Run, c *plan.RowCounter, back bool) error {
	next, err := sequenceAt(ctx, r, c)
	name := r.Target.Dialect().Quote(c.Table)
	switch {
	case err != nil:
		return err
	case back && next == c.After:
		_, err = r.Target.Exec(ctx, "counter", fmt.Sprintf("ALTER SEQUENCE %s RESTART WITH %d", name, c.Before), false)
		return err
	case back, next >= c.After:
		return nil
	case next != c.Before:
		return fmt.Errorf("transfer: the sequence %q of %q is not at %d any more: another process used it while the merge ran: undo the merge, then plan again", c.Table, r.Target.Name, c.Before)
	}
	_, err = r.Target.Exec(ctx, "counter", fmt.Sprintf("DO SETVAL(%s, %d, 0)", name, c.After), false)
	return err
}

// setTables raises the target's counters above those of the sources, or sets them back to what they were.
func setTables(ctx context.Context, r *job.Run, back bool) error {
	for _, t := range r.Plan.Tables {
		c := t.Counter
		if c == nil || !back && c.After <= c.Before {
			continue
		}
		next := c.After
		if back {
			next = c.Before
		}
		if err := write.SetCounter(ctx, r.Target, t.Name, c.Column, next); err != nil {
			return err
		}
	}
	return nil
}
