package plan

import (
	"fmt"

	"mergesafe/merge/catalog"
)

// A merge inserts rows, and updates own rows of the target that it renames or combines. An
// undo deletes rows, and updates these own rows; into a table without a key it puts
// rows back. Other triggers do not run.

const (
	forCopies   = "the trigger %q (%s) would run for every row that is copied: drop it for the time of the merge"
	forRenames  = "the trigger %q (%s) would run for every own row of the target that is renamed: drop it for the time of the merge"
	forCombined = "the trigger %q (%s) would run for every own row of the target that is combined with one that comes: drop it for the time of the merge"
	ForCounters = "the trigger %q (%s) would run when the counter in its row is raised, and when that is undone: drop it for the time of the merge"
	ForUndo     = "the trigger %q (%s) would run for rows that are removed or get their names back: drop it for the time of the undo"
)

// InWay returns the triggers of a table of the target that would run when the
// merge is carried out, and why each must not.
func (t *Table) InWay(of *catalog.Table) (reasons []string) {
	for _, r := range of.Triggers {
		switch {
		case r.On(catalog.OnInsert):
			reasons = append(reasons, fmt.Sprintf(forCopies, r.Name, r.Event))
		case r.On(catalog.OnUpdate) && t.Combine != nil:
			reasons = append(reasons, fmt.Sprintf(forCombined, r.Name, r.Event))
		case r.On(catalog.OnUpdate) && t.RenamesOwn():
			reasons = append(reasons, fmt.Sprintf(forRenames, r.Name, r.Event))
		}
	}
	return reasons
}

// InWayOfUndo returns the triggers of a table of the target that would run when
// the merge is undone.
func (t *Table) InWayOfUndo(of *catalog.Table) (triggers []catalog.Trigger) {
	for _, r := range of.Triggers {
		if r.On(catalog.OnDelete) || r.On(catalog.OnUpdate) && t.WritesOver() || r.On(catalog.OnInsert) && len(t.Key) == 0 {
			triggers = append(triggers, r)
		}
	}
	return triggers
}

// RenamesOwn reports whether own rows of the target are renamed.
func (t *Table) RenamesOwn() bool { return t.Target.Sum != t.Target.After }
