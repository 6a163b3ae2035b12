package change

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// given are the counters of a world as they are.
func given(ctx context.Context, p *plan.Plan, w int, s *world.World) (all []plan.Given, err error) {
	for _, t := range s.Known.Tables {
		if own := t.AutoIncrement; own != nil && !own.Endless && p.Comes(w, t.Name) != nil {
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
		_, err := counterRows(ctx, s, &c, func(l *world.Layout, row []any, n keys.Integer, ok bool) error {
			key, err := world.EncodeKey(l.KeyOf(row))
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

// measureCounters notes the counters of all worlds, so that apply and open see if one has given out more.
func measureCounters(ctx context.Context, p *Planning) (err error) {
	for i, s := range p.DBs {
		if p.Plan.Worlds[i].Given, err = given(ctx, p.Plan, i, s); err != nil {
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
	}
	return nil
}

// MovedCounters says which counters of a world have given out numbers since the plan was made, as "the counter of table \"t\" was
// 3 and is 5": keys of the new database, and those that it gives, may be such numbers.
func MovedCounters(ctx context.Context, p *plan.Plan, w int, s *world.World) (all []string, err error) {
	now, err := given(ctx, p, w, s)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", s.Name(), err)
	}
	for _, is := range now {
		at := slices.IndexFunc(p.Worlds[w].Given, func(g plan.Given) bool {
			return g.Table == is.Table && g.Column == is.Column && g.Key == is.Key
		})
		before := uint64(0)
		if at >= 0 {
			before = p.Worlds[w].Given[at].Next
		}
		if is.Next <= before {
			continue
		}
		what := fmt.Sprintf("the counter of table %q", is.Table)
		switch {
		case is.Key != "":
			what = fmt.Sprintf("the counter %s of table %q, row %s,", is.Column, is.Table, world.KeyText(is.Key))
		case is.Column == "":
			what = fmt.Sprintf("the sequence %q", is.Table)
		}
		all = append(all, fmt.Sprintf("%s was %d and is %d", what, before, is.Next))
	}
	return all, nil
}

// countersUnchanged refuses a world that has given out numbers since the plan was made.
func countersUnchanged(ctx context.Context, f *Flight) error {
	all, err := MovedCounters(ctx, f.Plan, f.World, f.Source)
	for _, what := range all {
		f.Changed(f.Source.Name(), "", "%s since the plan was made", what)
	}
	return err
}
