package campaign

import (
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/plan"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
)

// What to do about an apply that was refused: undo is for a merge that has begun.
func TestExplainRefusedApply(t *testing.T) {
	t.Parallel()
	then := report.Commands{Undo: "fleet undo n w1", Plan: "fleet plan n w1", Again: "fleet apply n w1"}
	for next, want := range map[merge.Next]string{
		plan.NextAgain:     "again: fleet apply n w1",
		merge.NextPlan:     "new plan: fleet plan n w1",
		merge.NextUndoPlan: "new plan: fleet undo n w1 fleet plan n w1",
	} {
		o := &report.Outcome{Command: "apply", Ending: report.Refused, Plan: &merge.Plan{}, Then: then, Refusals: []merge.Refusal{{Next: next}}}
		_, advice := explain(o)
		if got := strings.Join(advice, " "); !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q does not end with %q", next, got, want)
		}
	}
}

// A proof that passed has nothing to list, so no colon ends its sentence.
func TestExplainAProof(t *testing.T) {
	t.Parallel()
	for judged, want := range map[verdict.Verdict]string{verdict.Pass: "its schema is that of w1", verdict.NotVerified: ": look"} {
		proof := &merge.Proof{Verdict: judged}
		if judged == verdict.NotVerified {
			proof.Findings = []merge.Refusal{{Reason: "look"}}
		}
		o := &report.Outcome{Command: "verify", Ending: report.Done, Plan: &merge.Plan{New: plan.New{Name: "w1_m2"}, Worlds: []merge.World{{Name: "w1"}, {Name: "w2"}}}, Proof: proof}
		if problem, _ := explain(o); !strings.HasSuffix(problem, want) {
			t.Errorf("%s: %q does not end with %q", judged, problem, want)
		}
	}
}
