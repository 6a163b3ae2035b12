package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mergesafe/merge"
)

// Alike are rows that are the same in every database, as the check found: a table of the
// policy same, or built-in rows. The target's stay, and those of the sources are not copied.
type Alike struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // of the keys of built-in rows; empty: all rows of the table
	Keys   string `json:"keys,omitempty"`

	// Rows and Sums are of each database, the target first, when the plan was made.
	Rows int64 `json:"rows"`
	Sums []Sum `json:"sums"`
}

// alikes are those of the plan, without their sums.
func (p *planner) alikes() (all []Alike) {
	for _, table := range slices.Sorted(maps.Keys(p.same)) {
		all = append(all, Alike{Table: table})
	}
	for _, rows := range p.plan.rowsWithheld() {
		if kept, ok := rows.(*merge.KeptRows); ok {
			all = append(all, Alike{Table: kept.Table, Column: kept.Column, Keys: kept.Keys})
		}
	}
	return all
}

// measureAlikes sums up what was proved to be the same, so that apply sees if it is not any
// more.
func (p *planner) measureAlikes(ctx context.Context) error {
	for _, a := range p.alikes() {
		for i, s := range p.dbs {
			c, err := a.contents(ctx, p.dbs[0], s, s.on)
			if err != nil {
				return err
			}
			if i == 0 {
				a.Rows = c.Rows
			}
			a.Sums = append(a.Sums, c.Sum)
		}
		p.plan.Alike = append(p.plan.Alike, a)
	}
	return nil
}

// contents sums up the rows in a database; none if it does not have the table.
func (a *Alike) contents(ctx context.Context, target, s *source, on *connection) (Content, error) {
	if s.table(a.Table) == nil || target.table(a.Table) == nil {
		return Content{}, nil
	}
	only := *on.fork(1)
	defer only.close()
	only.withheld = nil
	if a.Column != "" {
		kept := merge.KeptRows{Table: a.Table, Column: a.Column, Keys: a.Keys}
		only.withheld = map[string]string{a.Table: "NOT " + kept.SQL(s.dialect.Quote)}
	}
	l := newLayout(target.dialect, target.table(a.Table))
	l.key = nil // a sum needs no order, and rows that are not copied need no key
	c, err := contents(ctx, &only, l, all, nil, nil, func(int) error { return ctx.Err() })
	if err != nil {
		err = fmt.Errorf("comparing the rows of %q: %w", a.Table, err)
	}
	return c, err
}

// alike refuses a database in which rows that were the same in every one are not as they
// were when the plan was made.
func (f *flight) alike(ctx context.Context, database int, s *source) error {
	for i := range f.plan.Alike {
		a := &f.plan.Alike[i]
		if database >= len(a.Sums) {
			continue
		}
		c, err := a.contents(ctx, f.model, s, s.on)
		if err != nil {
			return err
		}
		if c.Sum != a.Sums[database] {
			which := "its rows, which are the same in every database,"
			if a.Column != "" {
				which = fmt.Sprintf("its built-in rows (%s %s)", a.Column, a.Keys)
			}
			f.refuse(s.Name(), a.Table, "%s are not the same as when the plan was made: plan again", which)
		}
	}
	return nil
}
