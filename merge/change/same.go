package change

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// Rows that are the same in every world, of the policy same and built-in ones, are not copied, so there is nothing to
// carry out: they only have to be as they were.

// alikes are those of the plan, without their sums.
func alikes(p *Planning) (all []plan.Alike) {
	for _, table := range slices.Sorted(maps.Keys(p.Same)) {
		all = append(all, plan.Alike{Table: table})
	}
	for _, rows := range p.Plan.RowsWithheld() {
		if kept, ok := rows.(*rules.KeptRows); ok {
			all = append(all, plan.Alike{Table: kept.Table, Column: kept.Column, Keys: kept.Keys})
		}
	}
	return all
}

// measureSame sums up what was proved to be the same, so that apply sees if it is not any
// more.
func measureSame(ctx context.Context, p *Planning) (err error) {
	for _, a := range alikes(p) {
		for i, s := range p.DBs {
			var c world.Content
			if summed := p.Summed[s.Name()][a.Table]; summed != nil && a.Column == "" {
				c = *summed
			} else if c, err = sameContents(ctx, &a, p.DBs[0], s); err != nil {
				return err
			}
			if i == 0 {
				a.Rows = c.Rows
			}
			a.Sums = append(a.Sums, c.Sum)
		}
		p.Plan.Alike = append(p.Plan.Alike, a)
	}
	return nil
}

// sameContents sums up the rows in a database; none if it does not have the table.
func sameContents(ctx context.Context, a *plan.Alike, first, s *world.World) (world.Content, error) {
	if s.Table(a.Table) == nil || first.Table(a.Table) == nil {
		return world.Content{}, nil
	}
	condition := ""
	if a.Column != "" {
		kept := rules.KeptRows{Table: a.Table, Column: a.Column, Keys: a.Keys}
		condition = kept.SQL(s.Dialect.Quote)
	}
	c, err := contentsOf(ctx, first, s, a.Table, condition)
	if err != nil {
		err = fmt.Errorf("comparing the rows of %q: %w", a.Table, err)
	}
	return c, err
}

// contentsOf sums up the rows of a table of a world for which a condition holds, or all, whether they come or not.
func contentsOf(ctx context.Context, first, of *world.World, table, condition string) (world.Content, error) {
	on := job.Fork(of.On, 1)
	defer on.Close()
	on.Withheld, on.Sifted = nil, nil
	if condition != "" {
		on.Withheld = map[string]string{table: "NOT " + condition}
	}
	l := world.NewLayout(first.Dialect, first.Table(table))
	l.Key = nil // a sum needs no order, and rows that are not copied need no key
	return world.Contents(ctx, on, l, nil, func(int) error { return ctx.Err() })
}

// sameUnchanged refuses a database in which rows that were the same in every one are not as they
// were when the plan was made.
func sameUnchanged(ctx context.Context, f *Flight) error {
	world, s := f.World, f.Source
	for i := range f.Plan.Alike {
		a := &f.Plan.Alike[i]
		if world >= len(a.Sums) {
			continue
		}
		c, err := sameContents(ctx, a, f.Model, s)
		if err != nil {
			return err
		}
		if c.Sum != a.Sums[world] {
			which := "its rows, which are the same in every database,"
			if a.Column != "" {
				which = fmt.Sprintf("its built-in rows (%s %s)", a.Column, a.Keys)
			}
			f.Changed(s.Name(), a.Table, "%s are not the same as when the plan was made", which)
		}
	}
	return nil
}
