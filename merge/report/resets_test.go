package report

import (
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// Which tables are empty in the new database, and what a proof finds of that, is in every form of a report.
func TestResetsAreShown(t *testing.T) {
	resets := []string{"online", "visits"}
	done, proof := sampleOutcome(), sampleProof()
	done.Plan.Resets, proof.Plan.Resets = resets, resets
	proof.Proof.Resets = []merge.ResetProof{{Table: "online", Verdict: verdict.Pass}, {Table: "visits", Verdict: verdict.Fail, Rows: 3}}
	var text, doc strings.Builder
	if err := proof.WriteText(&text, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := proof.WriteJSON(&doc); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		text  string
		wants []string
	}{
		"plan":                 {planText(t, done.Plan, Commands{}), []string{"Empty in the new database: 2 tables: online, visits.\n"}},
		"verify":               {text.String(), []string{"  online                    0               0  PASS\n", "  visits                    3               0  FAIL\n"}},
		"json":                 {doc.String(), []string{`"table": "visits"`, `"rows": 3`}},
		"page":                 {writeOutcome(t, proof), []string{"<b>2</b> empty tables", `<td><bdi>visits</bdi><td><span class="mark fail">FAIL</span><td class="n">3` + "\n"}},
		"page without a proof": {writeOutcome(t, done), []string{`<td><bdi>online</bdi>` + "\n"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s: %q is not in:\n%s", what, want, c.text)
			}
		}
	}
}
