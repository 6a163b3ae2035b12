package campaign

import (
	"strings"
	"testing"

	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// A proof that passed has nothing to list, so no colon ends its sentence.
func TestExplainAProof(t *testing.T) {
	t.Parallel()
	for judged, want := range map[verdict.Verdict]string{verdict.Pass: "and nothing else", verdict.NotVerified: ": look"} {
		proof := &transfer.Proof{Verdict: judged}
		if judged == verdict.NotVerified {
			proof.Findings = []transfer.Refusal{{Reason: "look"}}
		}
		o := &report.Outcome{Command: "verify", Ending: report.Done, Plan: &transfer.Plan{Sources: []transfer.World{{}}}, Proof: proof}
		if problem, _ := explain(o); !strings.HasSuffix(problem, want) {
			t.Errorf("%s: %q does not end with %q", judged, problem, want)
		}
	}
}
