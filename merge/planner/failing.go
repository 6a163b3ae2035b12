package planner

import (
	"context"
	"fmt"
	"slices"

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

// refuseNext refuses a counter if a CHECK or the partitions of its table refuse the number that it gives next, and would not
// without the merge: the game could create no more rows.
func refuseNext(ctx context.Context, p *Planner) error {
	first := p.DBs[0]
	q := first.Dialect.Quote
	for i := range p.Plan.Tables {
		t, counter := first.Table(p.Plan.Tables[i].Name), p.Plan.Tables[i].Counter
		if counter == nil || counter.After == counter.Before || t.AutoIncrement.Endless { // which continues after the largest key that is there
			continue
		}
		for _, c := range t.Conditions {
			of := c.Kind == catalog.ConditionCheck || c.Kind == catalog.ConditionPartition
			if !of || c.Off || c.Unclear != "" || !slices.Equal(c.Columns, []string{counter.Column}) {
				continue
			}
			refused := make(map[uint64]bool)
			for _, next := range []uint64{max(counter.Before, 1), counter.After} {
				n, err := first.On.Number(ctx, fmt.Sprintf("SELECT COUNT(*) FROM (SELECT %d AS %s) AS %s WHERE NOT (%s)", next, q(counter.Column), q(t.Name), c.Text), false)
				if err != nil {
					return fmt.Errorf("database %q: testing the next number of table %q: %w", first.Name(), t.Name, err)
				}
				refused[next] = n > 0
			}
			if refused[counter.After] && !refused[max(counter.Before, 1)] {
				p.refuse(plan.Refusal{Place: plan.PlaceValues, Source: first.Name(), Table: t.Name, Reason: fmt.Sprintf(
					"%s continues at %d, which %s refuses, so the game could create no more rows: alter that in all worlds first", counter.Column, counter.After, c.String())})
			}
		}
	}
	return nil
}
