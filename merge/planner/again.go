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
	"mergesafe/merge/world"
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
			return fmt.Errorf("the plan of a merge recorded in %q: %w", p.DBs[0].Name(), err)
		}
		for i, now := range p.Plan.Worlds {
			for j, then := range old.Worlds {
				if i == 0 {
					continue // which has these rows
				}
				if same, rows := sameRows(p.Plan, i, &old, j); 2*same > rows {
					p.refuse(plan.Refusal{Place: plan.PlaceServers, Code: verdict.CodeWorldMerged, Source: now.Name, Reason: fmt.Sprintf(
						"the merge %s already brought this world here, as %q: %s of its %s are in tables that have not changed since, and would be copied a second time; leave it out, or undo that merge first; if it is a different world that began with the same rows: -allow %s",
						old.ID, then.Name, printable.Number(same), printable.Count(rows, "row", "rows"), verdict.CodeWorldMerged)})
				}
			}
		}
	}
	return nil
}

// sameRows counts the rows that a world of a plan brings, and those of them in tables that a
// world of an earlier plan had exactly so.
func sameRows(p *plan.Plan, w int, old *plan.Plan, other int) (same, all int64) {
	then := make(map[string]world.Content)
	for i := range old.Tables {
		if t := &old.Tables[i]; other < len(t.Worlds) {
			then[t.Name] = t.Worlds[other]
		}
	}
	for i := range p.Tables {
		now := p.Tables[i].Worlds[w]
		all += now.Rows
		if was, ok := then[p.Tables[i].Name]; ok && was.Rows == now.Rows && was.Sum == now.Sum {
			same += now.Rows
		}
	}
	return same, all
}
