package planner

import (
	"context"
	"fmt"

	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// refuseFailing refuses rows of the first world that the new database would not take, in tables of which
// the rows of the other worlds stay behind. Such a row came while a condition was not enforced.
func refuseFailing(ctx context.Context, p *Planner) error {
	first := p.DBs[0]
	for i := range p.Plan.Tables {
		t := first.Table(p.Plan.Tables[i].Name)
		if p.Resolved.Model().Tables[t.Name] != nil {
			continue // refused-check and its like say so
		}
		var conditions []catalog.Condition
		for _, c := range t.Conditions {
			if !c.Off {
				conditions = append(conditions, c)
			}
		}
		if len(conditions) == 0 {
			continue
		}
		found, err := first.Failing(ctx, t.Name, conditions, nil, 1)
		if err != nil {
			return fmt.Errorf("database %q: testing the rows of table %q: %w", first.Name(), t.Name, err)
		}
		for k, f := range found {
			c := conditions[k]
			switch name := c.String(); {
			case f.Unclear != "" && p.Rows[first.Name()][t.Name] != 0:
				p.refuse(plan.Refusal{Place: plan.PlaceEngine, Source: first.Name(), Table: t.Name, Reason: fmt.Sprintf("its rows cannot be tested against %s: %s: drop it during the merge", name, f.Unclear)})
			case f.Rows > 0:
				p.refuse(plan.Refusal{Place: plan.PlaceEngine, Source: first.Name(), Table: t.Name, Reason: fmt.Sprintf("%s would be refused by %s: correct those that SELECT * FROM %s%s finds",
					record.CountRows(f.Rows), name, first.Dialect.Quote(t.Name), world.Where("NOT ("+c.Text+")"))})
			}
		}
	}
	return nil
}
