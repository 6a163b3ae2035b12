package planner_test

import (
	"strings"
	"testing"

	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Where no registry tells worlds apart, a world that came before is known by its rows, under
// whatever name.
func TestAgain(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2)
	p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
	worldtest.Opened(t, p, into, all)
	renamed := world.Database{Name: "other", DSN: all[1].DSN}
	again := func(first world.Database, allow ...string) (reasons []string) {
		o := worldtest.KeyOptions(nil)
		o.Check.Allow = append(o.Check.Allow, allow...)
		p := worldtest.Planned(t, e.Fresh(t, "again"), []world.Database{first, renamed}, o)
		for _, r := range p.Refusals {
			if r.Code == verdict.CodeWorldMerged {
				reasons = append(reasons, r.Reason)
			}
		}
		return reasons
	}
	if got := again(into); len(got) != 1 || !strings.Contains(got[0], p.ID) {
		t.Errorf("the same world again: %q", got)
	}
	if got := again(into, verdict.CodeWorldMerged); got != nil {
		t.Errorf("allowed: %q", got)
	}
	if got := again(all[0]); got != nil {
		t.Errorf("a world to which it did not come: %q", got)
	}
}
