package counters

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
)

// prove makes sure that no counter of a table of the new database was lowered.
func prove(ctx context.Context, p *step.Proving) error {
	return p.LookAt(ctx, func(s *rowio.Source) error {
		for _, t := range p.Plan.Tables {
			is := s.Table(t.Name)
			if t.Counter == nil || is == nil || is.AutoIncrement == nil || is.AutoIncrement.Endless || is.AutoIncrement.Next >= t.Counter.After {
				continue
			}
			p.Findings = append(p.Findings, plan.Refusal{Source: p.New.Name, Table: t.Name, Reason: fmt.Sprintf(
				"its counter is at %d, and was made to begin at %d: it would give numbers that a world has given", is.AutoIncrement.Next, t.Counter.After)})
		}
		return nil
	})
}

// proveKeys makes sure that no counter lies below the keys that came.
func proveKeys(ctx context.Context, proving *step.Proving) error {
	r, p := proving.Run, &proving.Parts.Disjoint
	for _, c := range r.Plan.Counters {
		reached, err := reachedBy(ctx, r, &c)
		switch {
		case err != nil:
			return err
		case reached:
		case c.Column == "":
			p.NoteWrong(1, "the sequence %s is below keys that came", c.Table)
		default:
			p.NoteWrong(1, "table %s: row %s: the counter %s is below keys that came", c.Table, rowio.KeyText(c.Key), c.Column)
		}
	}
	return nil
}
