package campaign

import (
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
)

// A proof that passed has nothing to list, so no colon ends its sentence.
func TestExplainAProof(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[merge.Verdict]string{merge.Pass: "and nothing else", merge.NotVerified: ": look"} {
		proof := &transfer.Proof{Verdict: verdict}
		if verdict == merge.NotVerified {
			proof.Findings = []transfer.Refusal{{Reason: "look"}}
		}
		o := &report.Outcome{Command: "verify", Ending: report.Done, Plan: &transfer.Plan{Sources: []transfer.World{{}}}, Proof: proof}
		if problem, _ := explain(o); !strings.HasSuffix(problem, want) {
			t.Errorf("%s: %q does not end with %q", verdict, problem, want)
		}
	}
}
