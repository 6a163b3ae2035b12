package plan

import "testing"

// The advice stands at the end of a refusal, and is no part of its reason. A merge that has begun is undone before a
// new plan; no other step changes.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		next, begun Next
		says        string
	}{
		{NextAgain, NextAgain, "it is so"},
		{NextPlan, NextUndoPlan, "it is so: plan again"},
		{NextUndoPlan, NextUndoPlan, "it is so: undo the merge, then plan again"},
		{NextUndo, NextUndo, "it is so: run undo, which drops it"},
		{NextApply, NextApply, "it is so: run apply until it is done"},
		{NextOpen, NextOpen, "it is so: run open again until it is done, or undo"},
		{NextNone, NextNone, "it is so"},
	} {
		all := []Refusal{{Reason: "it is so", Next: c.next}}
		if got := all[0].String(); got != c.says {
			t.Errorf("%q: got %q, want %q", c.next, got, c.says)
		}
		if AfterUndo(all); all[0].Next != c.begun || all[0].Reason != "it is so" {
			t.Errorf("%q, begun: got %+v, want %q", c.next, all[0], c.begun)
		}
	}
}
