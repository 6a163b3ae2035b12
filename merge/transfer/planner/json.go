package planner

import (
	"context"
	"fmt"
	"strings"

	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// refuseTyped refuses the rows of the sources that have JSON which a text cannot
// carry; see [rowio.Dialect.TextKeeps].
func refuseTyped(ctx context.Context, p *Planner) error {
	for i := range p.Plan.Tables {
		name := p.Plan.Tables[i].Name
		t := p.DBs[0].Table(name)
		l := rowio.NewLayout(p.DBs[0].Dialect, t).KeysOnly()
		for c := range t.Columns {
			column := &t.Columns[c]
			if !strings.EqualFold(column.Type, "json") || !l.Dialect.MySQL() || column.Generated != "" {
				continue
			}
			from := " FROM " + l.Dialect.Quote(name) + " WHERE NOT (" + l.Dialect.TextKeeps(column) + ")"
			for _, s := range p.DBs[1:] {
				if s.Table(name) == nil {
					continue
				}
				n, err := s.On.Number(ctx, "SELECT COUNT(*)"+from, false)
				lost := new(rowio.RowSamples)
				if err == nil && n > 0 {
					err = s.On.Rows(ctx, "SELECT "+strings.Join(l.Reads, ", ")+from+fmt.Sprintf(" LIMIT %d", rowio.MaxSamples), false, nil, func(row []any) (bool, error) {
						lost.Add(l, row)
						return true, nil
					})
				}
				if err != nil {
					return fmt.Errorf("database %q: reading the JSON of table %q: %w", s.Name(), name, err)
				}
				if lost.Rows = n; n > 0 {
					p.refuse(plan.Refusal{Source: s.Name(), Table: name, Reason: fmt.Sprintf("the column %q has JSON with a date, a time, bytes or a DECIMAL inside, which a copy would change into a text or another number, in %d rows: %s: convert the column to a text and back first (ALTER TABLE %s MODIFY %s LONGTEXT, then MODIFY to JSON as it was declared), or exclude the table",
						column.Name, n, lost, l.Dialect.Quote(name), l.Dialect.Quote(column.Name))})
				}
			}
		}
	}
	return nil
}
