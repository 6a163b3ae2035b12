package change

import (
	"context"
	"fmt"

	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// reachedBy reports whether a counter or a sequence is where the merge raises it, or beyond.
func reachedBy(ctx context.Context, r *job.Run, c *plan.RowCounter) (bool, error) {
	if c.Column == "" {
		next, err := sequenceAt(ctx, r, c)
		return err == nil && next >= c.After, err
	}
	n, found, err := counterValue(ctx, r, c)
	return found && n >= c.After, err
}

// counterValue is the value of a counter in a row of the new database, if there is one.
func counterValue(ctx context.Context, r *job.Run, c *plan.RowCounter) (n uint64, found bool, err error) {
	d := r.New.Dialect()
	where, args, err := counterKey(r, c)
	if err != nil {
		return 0, false, err
	}
	err = r.New.Rows(ctx, "SELECT "+d.Quote(c.Column)+" FROM "+d.Quote(c.Table)+where, false, args, func(row []any) (bool, error) {
		value, ok := keys.ParseInteger(world.Printed(row[0]))
		n, found = value.Bits, ok && !value.Negative
		return true, nil
	})
	return n, found, err
}

// counterKey is the condition that finds the row of a counter.
func counterKey(r *job.Run, c *plan.RowCounter) (where string, args []any, err error) {
	if args, err = world.DecodeKey(c.Key); err != nil {
		return "", nil, err
	}
	l := r.Keys[c.Table]
	if l == nil || l.Multiset() || len(l.Key) != len(args) {
		return "", nil, fmt.Errorf("the key of table %q has changed since the merge was planned", c.Table)
	}
	return " WHERE " + l.Equal(1), l.Bound(args), nil
}

// sequenceAt returns the number that a sequence has certainly not given.
func sequenceAt(ctx context.Context, r *job.Run, c *plan.RowCounter) (uint64, error) {
	values, err := r.New.Texts(ctx, "SELECT CAST(next_not_cached_value AS CHAR) FROM "+r.New.Dialect().Quote(c.Table))
	if err != nil {
		return 0, fmt.Errorf("reading the sequence %q: %w", c.Table, err)
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the sequence %q of %q has %d rows, want one", c.Table, r.New.Name, len(values))
	}
	next, ok := keys.ParseInteger([]byte(values[0]))
	if !ok || next.Negative {
		return 0, fmt.Errorf("the sequence %q of %q is at %s", c.Table, r.New.Name, values[0])
	}
	return next.Bits, nil
}

// setSequence has a sequence give this number next, unless it is beyond already.
func setSequence(ctx context.Context, on *world.Connection, name string, next uint64) error {
	_, err := on.Exec(ctx, "counter", fmt.Sprintf("DO SETVAL(%s, %d, 0)", on.Dialect().Quote(name), next), false)
	return err
}
