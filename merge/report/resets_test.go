package report

import (
	"strings"
	"testing"

	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// Which tables are emptied, of how many rows, where these are kept, and what a proof finds
// of that is in every form of a report.
func TestResetsAreShown(t *testing.T) {
	resets := []transfer.Reset{{Table: "online", Rows: 12345, Kept: "mergesafe_was_5b1f0c3d_1"}, {Table: "visits", Rows: 7, Kept: "mergesafe_was_5b1f0c3d_2", Moved: true}}
	done, proof, undone := sampleOutcome(), sampleProof(), sampleUndo()
	done.Plan.Resets, proof.Plan.Resets, undone.Plan.Resets = resets, resets, resets
	proof.Proof.Resets = []transfer.ResetProof{
		{Table: "online", Verdict: verdict.Pass, Kept: resets[0].Kept, Keeps: 12345, Want: 12345},
		{Table: "visits", Verdict: verdict.Fail, Rows: 3, Kept: resets[1].Kept, Keeps: 7, Want: 7, Reason: "it is not empty"}}
	text := func(o *Outcome) string {
		var b strings.Builder
		if err := o.WriteText(&b, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	pass := *proof
	pass.Ending, pass.Proof = Done, &transfer.Proof{Verdict: verdict.Pass}
	var doc strings.Builder
	if err := proof.WriteJSON(&doc); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		text  string
		wants []string
	}{
		"plan": {planText(t, done.Plan, Commands{}), []string{
			"Will empty 2 tables of s1. The rows are kept there until the merge is undone. If it is never to be undone, the tables that keep them may be dropped:\n",
			"  online          12,345  mergesafe_was_5b1f0c3d_1\n", "  visits               7  mergesafe_was_5b1f0c3d_2  the rows are moved, in one transaction\n"}},
		"apply":  {text(done), []string{"with 3 renames; 2 tables were emptied, of 12,352 rows, in 2m0s"}},
		"verify": {text(proof), []string{"  online                      0               0          12,345  PASS\n", "  visits                      3               0               7  FAIL\n    it is not empty\n"}},
		"pass":   {text(&pass), []string{"and nothing else; 2 tables are empty, and their old rows are kept"}},
		"undo":   {text(undone), []string{"12,352 rows are back in the tables that were emptied"}},
		"json":   {doc.String(), []string{`"table": "visits"`, `"reason": "it is not empty"`, `"keeps": 12345`}},
		"page": {writeOutcome(t, proof), []string{"<b>2</b> tables emptied", `<td><bdi>visits</bdi><td><span class="mark fail">FAIL</span><td class="n">7<td><bdi>mergesafe_was_5b1f0c3d_2</bdi><td><bdi>it is not empty</bdi>`,
			"An undo puts these rows of <bdi>s1</bdi> back."}},
		"page without a proof": {writeOutcome(t, done), []string{`<td><bdi>online</bdi><td class="n">12,345<td><bdi>mergesafe_was_5b1f0c3d_1</bdi>` + "\n"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s: %q is not in:\n%s", what, want, c.text)
			}
		}
	}
}
