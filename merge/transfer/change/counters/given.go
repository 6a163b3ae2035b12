package counters

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
)

// given are the counters of a world as they are.
func given(ctx context.Context, p *plan.Plan, world int, s *rowio.Source) (all []plan.Given, err error) {
	for _, t := range s.Known.Tables {
		if own := t.AutoIncrement; own != nil && !own.Endless && p.Gives(world, t.Name) {
			all = append(all, plan.Given{Table: t.Name, Column: own.Column, Next: own.Next})
		}
	}
	for _, q := range s.Known.Sequences {
		if q.Increment > 0 && !q.Next.Negative {
			all = append(all, plan.Given{Table: q.Name, Next: q.Next.Bits})
		}
	}
	if p.Rekey == nil {
		return all, nil
	}
	for _, c := range p.Rekey.Counters {
		if c.Column == "" {
			continue // a sequence
		}
		_, err := rowsOf(ctx, s, &c, func(l *rowio.Layout, row []any, n rekey.Integer, ok bool) error {
			key, err := rowio.EncodeKey(l.KeyOf(row))
			if ok && !n.Negative {
				all = append(all, plan.Given{Table: c.Table, Column: c.Column, Key: key, Next: n.Bits})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measure notes the counters of all worlds, so that apply and open see if one has given out more.
func measure(ctx context.Context, p *step.Planning) (err error) {
	for i, s := range p.DBs {
		if p.Plan.Worlds[i].Given, err = given(ctx, p.Plan, i, s); err != nil {
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
	}
	return nil
}

// Moved says which counters of a world have given out numbers since the plan was made, as "the counter of table \"t\" was
// 3 and is 5": keys of the new database, and those that it gives, may be such numbers.
func Moved(ctx context.Context, p *plan.Plan, world int, s *rowio.Source) (all []string, err error) {
	now, err := given(ctx, p, world, s)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", s.Name(), err)
	}
	for _, is := range now {
		at := slices.IndexFunc(p.Worlds[world].Given, func(g plan.Given) bool {
			return g.Table == is.Table && g.Column == is.Column && g.Key == is.Key
		})
		before := uint64(0)
		if at >= 0 {
			before = p.Worlds[world].Given[at].Next
		}
		if is.Next <= before {
			continue
		}
		what := fmt.Sprintf("the counter of table %q", is.Table)
		switch {
		case is.Key != "":
			what = fmt.Sprintf("the counter %s of table %q, row %s,", is.Column, is.Table, rowio.KeyText(is.Key))
		case is.Column == "":
			what = fmt.Sprintf("the sequence %q", is.Table)
		}
		all = append(all, fmt.Sprintf("%s was %d and is %d", what, before, is.Next))
	}
	return all, nil
}

// unchanged refuses a world that has given out numbers since the plan was made.
func unchanged(ctx context.Context, f *step.Flight) error {
	all, err := Moved(ctx, f.Plan, f.World, f.Source)
	for _, what := range all {
		f.Changed(f.Source.Name(), "", "%s since the plan was made", what)
	}
	return err
}
