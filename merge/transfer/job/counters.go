package job

import (
	"context"
	"fmt"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// CounterAt reports whether a counter is where the merge raises it, or beyond.
func (r *Run) CounterAt(ctx context.Context, c *plan.RowCounter) (bool, error) {
	d := r.Target.Dialect()
	where, args, err := r.CounterKey(c)
	if err != nil {
		return false, err
	}
	found := false
	err = r.Target.Rows(ctx, "SELECT "+d.Quote(c.Column)+" FROM "+d.Quote(c.Table)+where, false, args, func(row []any) (bool, error) {
		n, ok := rekey.ParseInteger(rowio.Printed(row[0]))
		found = ok && !n.Negative && n.Bits >= c.After
		return true, nil
	})
	return found, err
}

// CounterKey is the condition that finds the row of a counter.
func (r *Run) CounterKey(c *plan.RowCounter) (where string, args []any, err error) {
	if args, err = rowio.DecodeKey(c.Key); err != nil {
		return "", nil, err
	}
	l := r.Keys[c.Table]
	if l == nil || l.Multiset() || len(l.Key) != len(args) {
		return "", nil, fmt.Errorf("table %q has another key than when the merge was planned", c.Table)
	}
	return " WHERE " + l.Equal(1), l.Bound(args), nil
}

// SequenceAt returns the number that a sequence has certainly not given.
func (r *Run) SequenceAt(ctx context.Context, c *plan.RowCounter) (uint64, error) {
	values, err := r.Target.Texts(ctx, "SELECT CAST(next_not_cached_value AS CHAR) FROM "+r.Target.Dialect().Quote(c.Table))
	if err != nil {
		return 0, fmt.Errorf("reading the sequence %q: %w", c.Table, err)
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the sequence %q of %q has %d rows, want one", c.Table, r.Target.Name, len(values))
	}
	next, ok := rekey.ParseInteger([]byte(values[0]))
	if !ok || next.Negative {
		return 0, fmt.Errorf("the sequence %q of %q is at %s", c.Table, r.Target.Name, values[0])
	}
	return next.Bits, nil
}

// WorldsAsCounted returns a [*ledger.ChangedError] if a world of which rows came into a new database has
// another number of them in a table than the plan found.
func (r *Run) WorldsAsCounted(ctx context.Context) error {
	worlds := r.Worlds()
	look := func(world *rowio.Connection, table string, want int64) error {
		n, err := world.Number(ctx, "SELECT COUNT(*) FROM "+world.Dialect().Quote(table)+rowio.Where(world.Comes(table)), false)
		switch {
		case err != nil:
			return fmt.Errorf("counting the rows of table %q of %q: %w", table, world.Name, err)
		case n != want:
			return &ledger.ChangedError{Database: world.Name, Table: table, Rows: n, Want: want}
		}
		return nil
	}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		for k, world := range worlds {
			if want := t.In(k).Rows; k == 0 || want > 0 {
				if err := look(world, t.Name, want); err != nil {
					return err
				}
			}
		}
	}
	for i := range r.Plan.Into.Tables {
		t := &r.Plan.Into.Tables[i]
		if err := look(worlds[0], t.Name, t.Content.Rows); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) Count(ctx context.Context, table string) (int64, error) {
	return r.Target.Number(ctx, "SELECT COUNT(*) FROM "+r.Target.Dialect().Quote(table), false)
}
