package counters

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// choose reads the counters in rows of the first world that are to be raised.
func choose(ctx context.Context, p *step.Planning) error {
	if p.Plan.Rekey == nil {
		return nil
	}
	first := p.DBs[0]
	for _, c := range p.Plan.Rekey.Counters {
		refuse := func(format string, args ...any) {
			p.Refuse(plan.Refusal{Place: plan.PlaceValues, Source: first.Name(), Table: c.Table, Reason: fmt.Sprintf(format, args...)})
		}
		if c.Column == "" {
			chooseSequence(p, &c, refuse)
			continue
		}
		lacks, err := rowsOf(ctx, first, &c, func(l *rowio.Layout, row []any, n rekey.Integer, ok bool) error {
			if !ok || n.Negative {
				refuse("row %s: its column %s counts keys, and is not a number above 0", l.KeyText(row), c.Column)
				return nil
			}
			if c.Most > 0 && c.Next > c.Most && n.Bits < c.Next {
				refuse("row %s: its column %s counts keys, would be raised to %d, and ends at %d: give it a larger type in all databases, or raise max of its space", l.KeyText(row), c.Column, c.Next, c.Most)
				return nil
			}
			key, err := rowio.EncodeKey(l.KeyOf(row))
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

// rowsOf calls f for each row of a world that is a counter: with its number, if it is one. A world without the table, or
// without its column or key, has none, and lacks says why.
func rowsOf(ctx context.Context, s *rowio.Source, c *verdict.RekeyedCounter, f func(l *rowio.Layout, row []any, n rekey.Integer, ok bool) error) (lacks string, err error) {
	t := s.Table(c.Table)
	if t == nil || t.Key() == nil {
		return "the table has no key to find its rows by", nil
	}
	l := rowio.NewLayout(s.Dialect, t)
	at, on := slices.Index(l.Columns, c.Column), -1
	if c.When != nil {
		on = slices.Index(l.Columns, c.When.Column)
	}
	if at < 0 {
		return "cannot be written", nil
	}
	return "", rowio.Every(ctx, s.On, l, func(row []any) error {
		if c.When != nil && (on < 0 || !c.When.Holds(rowio.Printed(row[on]))) {
			return nil
		}
		n, ok := rekey.ParseInteger(rowio.Printed(row[at]))
		return f(l, row, n, ok)
	})
}

// chooseSequence notes how far a sequence of the first world is to be raised.
func chooseSequence(p *step.Planning, c *verdict.RekeyedCounter, refuse func(format string, args ...any)) {
	first := p.DBs[0]
	s := first.Known.Sequence(c.Table)
	switch {
	case s == nil:
		refuse("the sequence does not exist any more")
		return
	case s.Increment < 0 || s.Cycle || s.Next.Negative:
		refuse("the sequence counts down, begins again at its end, or is below 0, so its numbers would collide with keys that come; make it one that only rises (ALTER SEQUENCE), then plan again")
		return
	}
	after := c.Next
	if by := uint64(s.Increment); by > 1 && after > s.Next.Bits { // it keeps the remainder
		after += (by - (after-s.Next.Bits)%by) % by
	}
	switch {
	case after <= s.Next.Bits:
	case s.Max.Less(rekey.Integer{Bits: after}):
		refuse("the sequence would be raised to %d, and ends at %s: ALTER SEQUENCE %s MAXVALUE, then plan again", after, s.Max, first.Dialect.Quote(s.Name))
	default:
		p.Plan.Counters = append(p.Plan.Counters, plan.RowCounter{Table: c.Table, Before: s.Next.Bits, After: after})
	}
}
