package change

import (
	"context"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// planCounters reads the counters in rows of the first world that are to be raised.
func planCounters(ctx context.Context, p *Planning) error {
	if p.Plan.Rekey == nil {
		return nil
	}
	first := p.DBs[0]
	for _, c := range p.Plan.Rekey.Counters {
		refuse := func(format string, args ...any) { p.RefuseIn(first.Name(), c.Table, format, args...) }
		if c.Column == "" {
			chooseSequence(p, &c, refuse)
			continue
		}
		if key := keyOfCounter(first.Table(c.Table), c.Column); key != nil {
			rows, err := first.On.Number(ctx, "SELECT COUNT(*) FROM "+first.Dialect.Quote(c.Table), false)
			if err != nil {
				return err
			}
			if rows > 1 {
				refuse("its column %s counts keys and is part of a key, %s, so several rows could have the same one: drop the index from the first world until the merge is done", c.Column, catalog.ColumnList(key))
				continue
			}
		}
		lacks, err := counterRows(ctx, first, &c, func(l *world.Layout, row []any, n keys.Integer, ok bool) error {
			if !ok || n.Negative {
				refuse("row %s: its column %s counts keys but is not a number above 0", l.KeyText(row), c.Column)
				return nil
			}
			if c.Most > 0 && c.Next > c.Most && n.Bits < c.Next {
				refuse("row %s: its column %s counts keys and would be raised to %d, but ends at %d: give it a larger type in all databases, or set max of its space to %[4]d, so that lower offsets are looked for", l.KeyText(row), c.Column, c.Next, c.Most)
				return nil
			}
			key, err := world.EncodeKey(l.KeyOf(row))
			if err == nil && n.Bits < c.Next {
				p.Plan.Counters = append(p.Plan.Counters, plan.RowCounter{Table: c.Table, Column: c.Column, Key: key, Before: n.Bits, After: c.Next})
			}
			return err
		})
		if err != nil {
			return err
		}
		if lacks != "" {
			refuse("its column %s counts keys, and %s", c.Column, lacks)
		}
	}
	return nil
}

// keyOfCounter are the columns of a key that has a counter, or may have it in an expression or a condition that is not known.
func keyOfCounter(t *catalog.Table, column string) []string {
	if t == nil {
		return nil
	}
	key := t.KeyWith(column)
	for _, u := range t.Uniques {
		if key == nil && (strings.HasPrefix(u.Unclear, catalog.SomeRows) || slices.Contains(u.Columns, catalog.Expression)) {
			key = u.Columns
		}
	}
	return key
}

// counterRows calls f for each row of a world that is a counter: with its number, if it is one. A world without the table, or
// without its column or key, has none, and lacks says why.
func counterRows(ctx context.Context, s *world.World, c *verdict.RekeyedCounter, f func(l *world.Layout, row []any, n keys.Integer, ok bool) error) (lacks string, err error) {
	t := s.Table(c.Table)
	if t == nil || t.Key() == nil {
		return "the table has no key that identifies its rows", nil
	}
	l := world.NewLayout(s.Dialect, t)
	at, on := slices.Index(l.Columns, c.Column), -1
	if c.When != nil {
		on = slices.Index(l.Columns, c.When.Column)
	}
	if at < 0 {
		return "cannot be written", nil
	}
	return "", world.Every(ctx, s.On, l, func(row []any) error {
		if c.When != nil && (on < 0 || !c.When.Holds(world.Printed(row[on]))) {
			return nil
		}
		n, ok := keys.ParseInteger(world.Printed(row[at]))
		return f(l, row, n, ok)
	})
}

// chooseSequence notes how far a sequence of the first world is to be raised.
func chooseSequence(p *Planning, c *verdict.RekeyedCounter, refuse func(format string, args ...any)) {
	first := p.DBs[0]
	s := first.Known.Sequence(c.Table)
	switch {
	case s == nil:
		refuse("the sequence no longer exists")
		return
	case s.Increment < 0 || s.Cycle || s.Next.Negative:
		refuse("the sequence counts down, begins again at its end, or is below 0, so its numbers would collide with copied keys; make it count upwards only (ALTER SEQUENCE), then plan again")
		return
	}
	after := c.Next
	if by := uint64(s.Increment); by > 1 && after > s.Next.Bits { // it keeps the remainder
		after += (by - (after-s.Next.Bits)%by) % by
	}
	switch {
	case after <= s.Next.Bits:
	case s.Max.Less(keys.Integer{Bits: after}):
		refuse("the sequence would be raised to %d, but ends at %s: ALTER SEQUENCE %s MAXVALUE, then plan again", after, s.Max, first.Dialect.Quote(s.Name))
	default:
		p.Plan.Counters = append(p.Plan.Counters, plan.RowCounter{Table: c.Table, Before: s.Next.Bits, After: after})
	}
}
