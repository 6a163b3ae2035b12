package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// refuseAgain refuses sources whose rows a merge brought to the target before. A registry tells
// worlds apart; without one only the rows do: new keys and new names would hide that every player
// comes a second time. A world counts as the same one if most of its rows are in tables that
// were exactly the same then.
func (p *planner) refuseAgain(ctx context.Context) error {
	if slices.Contains(p.opts.Check.Allow, merge.CodeWorldMerged) {
		return nil
	}
	m := &manifest{on: p.dbs[0].on}
	plans, err := m.ask(ctx, "SELECT plan FROM "+MergesTable+" WHERE state = ? ORDER BY began, id", string(StateCopied))
	if err != nil {
		return err
	}
	for _, text := range plans {
		var old Plan
		if err := json.Unmarshal([]byte(text), &old); err != nil {
			return fmt.Errorf("the plan of a merge that %q has on record: %w", p.dbs[0].Name(), err)
		}
		for i, now := range p.plan.Sources {
			for j, then := range old.Sources {
				if same, rows := p.plan.sameRows(i, &old, j); 2*same > rows {
					p.refuse(Refusal{Code: merge.CodeWorldMerged, Source: now.Name, Reason: fmt.Sprintf(
						"the merge %s brought this world here already, as %q: %s of its %s are in tables that are exactly as they were then, and all would come a second time; leave it out, or undo that merge first; if it is another world that began with the same rows: -allow %s",
						old.ID, then.Name, printable.Number(same), printable.Count(rows, "row", "rows"), merge.CodeWorldMerged)})
				}
			}
		}
	}
	return nil
}

// sameRows counts the rows that a source of a plan brings, and those of them in tables that a
// source of an older plan had exactly so.
func (p *Plan) sameRows(source int, old *Plan, other int) (same, all int64) {
	then := make(map[string]Content)
	for i := range old.Tables {
		if t := &old.Tables[i]; other < len(t.Sources) {
			then[t.Name] = t.Sources[other]
		}
	}
	for i := range p.Tables {
		now := p.Tables[i].Sources[source]
		all += now.Rows
		if was, ok := then[p.Tables[i].Name]; ok && was.Rows == now.Rows && was.Sum == now.Sum {
			same += now.Rows
		}
	}
	return same, all
}
