package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// refuseTyped refuses the rows to be copied that have JSON which a text cannot
// carry; see [world.Dialect.TextKeeps]. That is of MySQL, which keeps a document and not its text
// (dev.mysql.com/doc/refman/8.4/en/json.html, "Normalization, Merging, and Autowrapping of JSON Values"); MariaDB keeps
// a LONGTEXT as it is (mariadb.com/kb/en/json-data-type).
func refuseTyped(ctx context.Context, p *Planner) error {
	for i := range p.Plan.Tables {
		from := p.DBs
		if p.Plan.Tables[i].Only {
			from = p.DBs[:1]
		}
		if err := p.refuseTypedIn(ctx, p.DBs[0].Table(p.Plan.Tables[i].Name), from); err != nil {
			return err
		}
	}
	return nil
}

// refuseNumberless refuses rows with a value of an ENUM or a SET that a text cannot tell from another one: that was not in the
// list when it was written, beside an empty member, or that is in the list a second time.
func (p *Planner) refuseNumberless(ctx context.Context, t *catalog.Table, c *catalog.Column, dbs []*world.World) error {
	if !p.DBs[0].Dialect.MySQL() || c.Generated != "" {
		return nil
	}
	refuse := func(where, format string) error {
		for _, s := range dbs {
			if s.Table(t.Name) == nil {
				continue
			}
			q := s.Dialect.Quote
			where := fmt.Sprintf(where, q(c.Name))
			rows, err := s.On.Number(ctx, "SELECT COUNT(*) FROM "+q(t.Name)+" WHERE "+where, false)
			if err != nil {
				return fmt.Errorf("database %q: reading table %q: %w", s.Name(), t.Name, err)
			}
			if rows > 0 {
				p.refuse(plan.Refusal{Place: plan.PlaceEngine, Source: s.Name(), Table: t.Name,
					Reason: fmt.Sprintf(format, c.Name, record.CountRows(rows), q(t.Name), q(c.Name), where)})
			}
		}
		return nil
	}
	n := world.NewNumbering(c.Type)
	if n.Ambiguous() && !slices.Contains(t.Key(), c.Name) { // a key says so itself
		if err := refuse("%s = 0", "the ENUM column %q has the value 0 in %s (stored for a value that is not in its list), which reads as its member '': "+
			"give them a value: UPDATE %s SET %s = NULL WHERE %s, or a member"); err != nil {
			return err
		}
	}
	if second := n.Second(); second != "" {
		return refuse(second, "the column %q has a member twice in its list, and holds the second one, which reads as the first, in %s: "+
			"give them that: UPDATE %s SET %s = CONCAT(%[4]s) WHERE %[5]s")
	}
	return nil
}

// refuseTypedIn does that for the rows of one table in some databases.
func (p *Planner) refuseTypedIn(ctx context.Context, t *catalog.Table, dbs []*world.World) error {
	name := t.Name
	l := world.NewLayout(p.DBs[0].Dialect, t).KeysOnly()
	for c := range t.Columns {
		column := &t.Columns[c]
		if err := p.refuseNumberless(ctx, t, column, dbs); err != nil {
			return err
		}
		if !strings.EqualFold(column.Type, "json") || !l.Dialect.MySQL() || column.Generated != "" {
			continue
		}
		from := " FROM " + l.Dialect.Quote(name) + " WHERE NOT (" + l.Dialect.TextKeeps(column) + ")"
		for _, s := range dbs {
			if s.Table(name) == nil {
				continue
			}
			n, err := s.On.Number(ctx, "SELECT COUNT(*)"+from, false)
			lost := new(world.RowSamples)
			if err == nil && n > 0 {
				err = s.On.Rows(ctx, "SELECT "+strings.Join(l.Reads, ", ")+from+fmt.Sprintf(" LIMIT %d", world.MaxSamples), false, nil, func(row []any) (bool, error) {
					lost.Add(l, row)
					return true, nil
				})
			}
			if err != nil {
				return fmt.Errorf("database %q: reading the JSON of table %q: %w", s.Name(), name, err)
			}
			if lost.Rows = n; n > 0 {
				p.refuse(plan.Refusal{Place: plan.PlaceEngine, Source: s.Name(), Table: name, Reason: fmt.Sprintf("the column %q has JSON with a date, a time, bytes or a DECIMAL inside, which a copy would change into a text or another number, in %d rows: %s: convert the column to a text and back first (ALTER TABLE %s MODIFY %s LONGTEXT, then MODIFY to JSON as it was declared), or exclude the table",
					column.Name, n, lost, l.Dialect.Quote(name), l.Dialect.Quote(column.Name))})
			}
		}
	}
	return nil
}
