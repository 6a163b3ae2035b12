package transfer

import (
	"errors"
	"testing"
)

// A target that was restored from a copy that is older than the merge knows
// nothing of it. The undo says so, and lets the sources start again.
func TestUndoInRestoredTarget(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		older := clone(t, e, all[0])
		p := mustPlan(t, all[0], all[1:], PlanOptions{})
		if _, err := Apply(t.Context(), p, all[0], all[1:], Options{}); err != nil {
			t.Fatal(err)
		}
		startable(t, all[1], 2, false)
		before := dump(t, older)
		if _, err := Undo(t.Context(), p, older, all[1:], UndoOptions{}); !errors.Is(err, ErrNoMerge) {
			t.Errorf("got %v, want %v", err, ErrNoMerge)
		}
		startable(t, all[1], 2, true)
		if before != dump(t, older) {
			t.Error("the undo of a merge that it does not know changed the target")
		}
	})
}
