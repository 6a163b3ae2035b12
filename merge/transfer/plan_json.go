package transfer

import (
	"context"
	"fmt"
	"strings"
)

// refuseTyped refuses the rows of the sources that have JSON which a text cannot
// carry; see [dialect.textKeeps].
func (p *planner) refuseTyped(ctx context.Context) error {
	for i := range p.plan.Tables {
		name := p.plan.Tables[i].Name
		t := p.dbs[0].table(name)
		l := newLayout(p.dbs[0].dialect, t).keysOnly()
		for c := range t.Columns {
			column := &t.Columns[c]
			if !strings.EqualFold(column.Type, "json") || !l.dialect.mysql() || column.Generated != "" {
				continue
			}
			from := " FROM " + l.dialect.Quote(name) + " WHERE NOT (" + l.dialect.textKeeps(column) + ")"
			for _, s := range p.dbs[1:] {
				if s.table(name) == nil {
					continue
				}
				n, err := s.on.number(ctx, "SELECT COUNT(*)"+from, false)
				lost := new(rowSamples)
				if err == nil && n > 0 {
					err = s.on.rows(ctx, "SELECT "+strings.Join(l.reads, ", ")+from+fmt.Sprintf(" LIMIT %d", maxSamples), false, nil, func(row []any) (bool, error) {
						lost.add(l, row)
						return true, nil
					})
				}
				if err != nil {
					return fmt.Errorf("database %q: reading the JSON of table %q: %w", s.Name(), name, err)
				}
				if lost.rows = n; n > 0 {
					p.refuse(Refusal{Source: s.Name(), Table: name, Reason: fmt.Sprintf("the column %q has JSON with a date, a time, bytes or a DECIMAL inside, which a copy would change into a text or another number, in %d rows: %s: convert the column to a text and back first (ALTER TABLE %s MODIFY %s LONGTEXT, then MODIFY to JSON as it was declared), or exclude the table",
						column.Name, n, lost, l.dialect.Quote(name), l.dialect.Quote(column.Name))})
				}
			}
		}
	}
	return nil
}
