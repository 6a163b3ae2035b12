package prove

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/change"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// proveGenerated makes sure that every generated column of the new database holds what its server computes from the row
// when it is strict. Sums are of the other columns: in a row with new keys and names what is generated is another value
// than in its world.
func proveGenerated(ctx context.Context, proving *change.Proving) error {
	r := proving.Run
	if !slices.ContainsFunc(r.Plan.Tables, func(t plan.Table) bool { return len(t.Generated) > 0 }) {
		return nil
	}
	var found []plan.Refusal
	err := r.LookAt(ctx, func(s *world.World) error {
		found = nil
		for _, t := range r.Plan.Tables {
			g := world.NewGenerated(r.Layouts[t.Name], s.Table(t.Name)).Stored(s.Known.Engine)
			if g == nil {
				continue
			}
			bent, err := g.BentInTable(ctx, s.On)
			if err != nil {
				return fmt.Errorf("proving the generated columns of table %q: %w", t.Name, err)
			}
			if bent != nil {
				found = append(found, plan.Refusal{Source: s.Name(), Table: t.Name, Reason: bent.String()})
			}
		}
		return nil
	})
	proving.Findings = append(proving.Findings, found...)
	return err
}
