package transfer

import (
	"fmt"
	"slices"

	"mergesafe/merge"
)

// A merge inserts rows, and updates own rows of the target that it renames or combines. An
// undo deletes rows, and updates these own rows; into a table without a key it puts
// rows back. Other triggers do not run.

const (
	forCopies   = "the trigger %q (%s) would run for every row that is copied: drop it for the time of the merge"
	forRenames  = "the trigger %q (%s) would run for every own row of the target that is renamed: drop it for the time of the merge"
	forCombined = "the trigger %q (%s) would run for every own row of the target that is combined with one that comes: drop it for the time of the merge"
	forCounters = "the trigger %q (%s) would run when the counter in its row is raised, and when that is undone: drop it for the time of the merge"
	forUndo     = "the trigger %q (%s) would run for rows that are removed or get their names back: drop it for the time of the undo"
)

// inWay returns the triggers of a table of the target that would run when the
// merge is carried out, and why each must not.
func (t *Table) inWay(of *merge.Table) (reasons []string) {
	for _, r := range of.Triggers {
		switch {
		case r.On(merge.OnInsert):
			reasons = append(reasons, fmt.Sprintf(forCopies, r.Name, r.Event))
		case r.On(merge.OnUpdate) && t.Combine != nil:
			reasons = append(reasons, fmt.Sprintf(forCombined, r.Name, r.Event))
		case r.On(merge.OnUpdate) && t.renamesOwn():
			reasons = append(reasons, fmt.Sprintf(forRenames, r.Name, r.Event))
		}
	}
	return reasons
}

// inWayOfUndo returns the triggers of a table of the target that would run when
// the merge is undone.
func (t *Table) inWayOfUndo(of *merge.Table) (triggers []merge.Trigger) {
	for _, r := range of.Triggers {
		if r.On(merge.OnDelete) || r.On(merge.OnUpdate) && t.writesOver() || r.On(merge.OnInsert) && len(t.Key) == 0 {
			triggers = append(triggers, r)
		}
	}
	return triggers
}

// renamesOwn reports whether own rows of the target are renamed.
func (t *Table) renamesOwn() bool { return t.Target.Sum != t.Target.After }

// judgeTriggers refuses triggers that would run, and notes those that an undo
// would run.
func (p *planner) judgeTriggers() {
	for i := range p.plan.Tables {
		t := &p.plan.Tables[i]
		of := p.dbs[0].table(t.Name)
		for _, reason := range t.inWay(of) {
			p.refuse(Refusal{Table: t.Name, Reason: reason})
		}
		for _, r := range t.inWayOfUndo(of) {
			t.UndoTriggers = append(t.UndoTriggers, r.Name)
		}
	}
}

// triggersNow calls refuse for each trigger that would run now. An account that is
// shown none has to believe the plan about those that an undo would run.
func (r *run) triggersNow(target *source, undo bool, refuse func(table, reason string)) {
	hidden := first(target.catalog.Hidden, func(h *merge.Hidden) bool { return h.What == merge.HiddenTriggers })
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		of := target.table(t.Name)
		if of == nil {
			continue // the schema is not what was planned
		}
		if !undo {
			for _, reason := range t.inWay(of) {
				refuse(t.Name, reason)
			}
			continue
		}
		var seen []string
		for _, now := range t.inWayOfUndo(of) {
			seen = append(seen, now.Name)
			refuse(t.Name, fmt.Sprintf(forUndo, now.Name, now.Event))
		}
		for _, name := range t.UndoTriggers {
			if hidden != nil && !slices.Contains(seen, name) {
				refuse(t.Name, fmt.Sprintf("its trigger %q, which the plan names, would run for rows that are removed or get their names back, and this account cannot see whether it exists (%s): "+
					"drop it for the time of the undo, and undo with an account that can see triggers", name, hidden.Why))
			}
		}
	}
}
