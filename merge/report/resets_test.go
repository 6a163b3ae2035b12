package report

import (
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// A view says which tables are empty in the new database, and what a proof finds of that.
func TestResetsAreShown(t *testing.T) {
	resets := []string{"online", "visits"}
	done, proof := sampleOutcome(), sampleProof()
	done.Plan.Resets, proof.Plan.Resets = resets, resets
	proof.Proof.Resets = []merge.ResetProof{{Table: "online", Verdict: verdict.Pass}, {Table: "visits", Verdict: verdict.Fail, Rows: 3}}
	for what, c := range map[string]struct{ text, want string }{
		"plan":   {planText(t, done.Plan, Commands{}), "Empty in the new database:\n  online\n  visits\n"},
		"verify": {outcomeText(t, proof), "  table   rows  verdict\n  online     0  PASS\n  visits     3  FAIL\n"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: %q is not in:\n%s", what, c.want, c.text)
		}
	}
}
