package change

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// proveCounters makes sure that no counter of a table of the new database was lowered.
func proveCounters(ctx context.Context, p *Proving) error {
	if !slices.ContainsFunc(p.Plan.Tables, func(t plan.Table) bool { return t.Counter != nil }) {
		return nil
	}
	return p.LookAt(ctx, func(s *world.World) error {
		for _, t := range p.Plan.Tables {
			is := s.Table(t.Name)
			if t.Counter == nil || is == nil || is.AutoIncrement == nil || is.AutoIncrement.Endless || is.AutoIncrement.Next >= t.Counter.After {
				continue
			}
			p.Findings = append(p.Findings, plan.Refusal{Source: p.New.Name, Table: t.Name, Reason: fmt.Sprintf(
				"its counter is at %d, but the merge set it to %d: it would hand out numbers that a world has already used", is.AutoIncrement.Next, t.Counter.After)})
		}
		return nil
	})
}

// proveCounterKeys makes sure that no counter lies below the keys that came.
func proveCounterKeys(ctx context.Context, proving *Proving) error {
	r, p := proving.Run, &proving.Parts.Disjoint
	for _, c := range r.Plan.Counters {
		reached, err := reachedBy(ctx, r, &c)
		switch {
		case err != nil:
			return err
		case reached:
		case c.Column == "":
			p.NoteWrong(1, "the sequence %s is below keys that were copied", c.Table)
		default:
			p.NoteWrong(1, "table %s: row %s: the counter %s is below keys that were copied", c.Table, world.KeyText(c.Key), c.Column)
		}
	}
	return nil
}
