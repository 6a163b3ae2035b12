package planner

import (
	"strings"
	"testing"

	"mergesafe/merge/change"
	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
)

// What blocks a plan names the line of a rule file that settles it, for servermerge and fleet alike.
func TestJudgeNamesTheLine(t *testing.T) {
	p := &Planner{Planning: &change.Planning{Plan: new(plan.Plan)}}
	const line = `instead of what is declared: [[check.reference]] to = "heroes.id", at = ["mail.sender"], when = { column = "kind", is = [0] }`
	p.judge(&verdict.Result{Code: verdict.CodeReferenceTwoKinds, Table: "mail", Verdict: verdict.NotVerified, Message: "where kind is 1 it names something else",
		Gaps: []verdict.Gap{{Reason: "these rows would get new values"}}, Next: []string{line, "look at it"}})
	if all := p.Plan.Refusals; len(all) != 1 || !strings.HasSuffix(all[0].Reason, "; "+line) {
		t.Errorf("%+v", all)
	}
}
