package planner

import (
	"fmt"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// judgeTriggers refuses triggers that would run, and notes those that an undo
// would run.
func judgeTriggers(p *Planner) {
	if p.Plan.Into != nil { // they are made after the rows
		return
	}
	for i := range p.Plan.Tables {
		t := &p.Plan.Tables[i]
		of := p.DBs[0].Table(t.Name)
		for _, reason := range t.InWay(of) {
			p.refuse(plan.Refusal{Place: plan.PlaceValues, Table: t.Name, Reason: reason})
		}
		for _, r := range t.InWayOfUndo(of) {
			t.UndoTriggers = append(t.UndoTriggers, r.Name)
		}
	}
}

// TriggersNow calls refuse for each trigger that would run now. An account that is
// shown none has to believe the plan about those that an undo would run.
func TriggersNow(r *job.Run, target *rowio.Source, undo bool, refuse func(table, reason string)) {
	hidden := rowio.First(target.Known.Hidden, func(h *catalog.Hidden) bool { return h.What == catalog.HiddenTriggers })
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		of := target.Table(t.Name)
		if of == nil {
			continue // the schema is not what was planned
		}
		if !undo {
			for _, reason := range t.InWay(of) {
				refuse(t.Name, reason)
			}
			continue
		}
		var seen []string
		for _, now := range t.InWayOfUndo(of) {
			seen = append(seen, now.Name)
			refuse(t.Name, fmt.Sprintf(plan.ForUndo, now.Name, now.Event))
		}
		for _, name := range t.UndoTriggers {
			if hidden != nil && !slices.Contains(seen, name) {
				refuse(t.Name, fmt.Sprintf("its trigger %q, which the plan names, would run for rows that are removed or get their names back, and this account cannot see whether it exists (%s): "+
					"drop it for the time of the undo, and undo with an account that can see triggers", name, hidden.Why))
			}
		}
	}
}
