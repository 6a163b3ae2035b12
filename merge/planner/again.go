package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
)

// refuseAgain refuses worlds whose rows a merge brought to the first world before. A registry tells
// worlds apart; without one only the rows do: new keys and new names would hide that every player
// comes a second time. A world counts as the same one if most of its rows are in tables that
// were exactly the same then.
func refuseAgain(ctx context.Context, p *Planner) error {
	if slices.Contains(p.opts.Check.Allow, verdict.CodeWorldMerged) {
		return nil
	}
	m := &record.Manifest{On: p.DBs[0].On}
	plans, err := m.Plans(ctx)
	if err != nil {
		return err
	}
	for _, text := range plans {
		var old plan.Plan
		if err := json.Unmarshal([]byte(text), &old); err != nil {
			return fmt.Errorf("the plan of a merge that %q has on record: %w", p.DBs[0].Name(), err)
		}
		for i, now := range p.Plan.Worlds {
			for j, then := range old.Worlds {
				if i == 0 {
					continue // which has these rows
				}
				if same, rows := p.Plan.SameRows(i, &old, j); 2*same > rows {
					p.refuse(plan.Refusal{Place: plan.PlaceServers, Code: verdict.CodeWorldMerged, Source: now.Name, Reason: fmt.Sprintf(
						"the merge %s brought this world here already, as %q: %s of its %s are in tables that are exactly as they were then, and all would come a second time; leave it out, or undo that merge first; if it is another world that began with the same rows: -allow %s",
						old.ID, then.Name, printable.Number(same), printable.Count(rows, "row", "rows"), verdict.CodeWorldMerged)})
				}
			}
		}
	}
	return nil
}
