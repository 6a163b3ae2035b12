package campaign

import (
	"strings"
	"testing"

	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/verdict"
)

// What to do about an apply that was refused: undo is for a merge that has begun.
func TestExplainRefusedApply(t *testing.T) {
	t.Parallel()
	then := report.Commands{Undo: "fleet undo n w1", Plan: "fleet plan n w1", Again: "fleet apply n w1"}
	for next, want := range map[transfer.Next]string{
		plan.NextAgain:        "again: fleet apply n w1",
		transfer.NextPlan:     "new plan: fleet plan n w1",
		transfer.NextUndoPlan: "new plan: fleet undo n w1 fleet plan n w1",
	} {
		o := &report.Outcome{Command: "apply", Ending: report.Refused, Plan: &transfer.Plan{}, Then: then, Refusals: []transfer.Refusal{{Next: next}}}
		_, advice := explain(o)
		if got := strings.Join(advice, " "); !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q does not end with %q", next, got, want)
		}
	}
}

// A proof that passed has nothing to list, so no colon ends its sentence.
func TestExplainAProof(t *testing.T) {
	t.Parallel()
	for judged, want := range map[verdict.Verdict]string{verdict.Pass: "it is made as w1 is", verdict.NotVerified: ": look"} {
		proof := &transfer.Proof{Verdict: judged}
		if judged == verdict.NotVerified {
			proof.Findings = []transfer.Refusal{{Reason: "look"}}
		}
		o := &report.Outcome{Command: "verify", Ending: report.Done, Plan: &transfer.Plan{New: plan.New{Name: "w1_m2"}, Worlds: []transfer.World{{Name: "w1"}, {Name: "w2"}}}, Proof: proof}
		if problem, _ := explain(o); !strings.HasSuffix(problem, want) {
			t.Errorf("%s: %q does not end with %q", judged, problem, want)
		}
	}
}
