package transfer

import (
	"strings"
	"testing"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// Where no registry tells worlds apart, a world that came before is known by its rows, under
// whatever name; until that merge is undone.
func TestAgain(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 2)
		p := mustPlan(t, all[0], all[1:], keyOptions(nil))
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		renamed := rowio.Database{Name: "other", DSN: all[1].DSN}
		again := func(allow ...string) (reasons []string) {
			o := keyOptions(nil)
			o.Check.Allow = append(o.Check.Allow, allow...)
			p, err := planner.NewPlan(t.Context(), all[0], []rowio.Database{renamed}, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Refusals {
				if r.Code == verdict.CodeWorldMerged {
					reasons = append(reasons, r.Reason)
				}
			}
			return reasons
		}
		if got := again(); len(got) != 1 || !strings.Contains(got[0], p.ID) {
			t.Errorf("the same world again: %q", got)
		}
		if got := again(verdict.CodeWorldMerged); got != nil {
			t.Errorf("allowed: %q", got)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := again(); got != nil {
			t.Errorf("after the undo: %q", got)
		}
	})
}
