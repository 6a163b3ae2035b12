package report

import (
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A view says what is combined, by which formulas and with what sums, and what a proof finds of that.
func TestCombinesAreShown(t *testing.T) {
	done, proof := sampleOutcome(), sampleProof()
	c := &merge.Combine{Keys: 4, Combined: 6, Rows: 7, Combining: rules.Combining{When: &rules.When{Column: "season", Is: []string{"3"}},
		Columns: []rules.CombinedColumn{{Column: "gold", Formula: rules.Formula{Op: rules.FormulaSum}}, {Column: "log", Formula: rules.Formula{Op: rules.FormulaAppend, Most: 80}}}},
		Sums: []merge.CombinedSum{{Column: "gold", Worlds: []string{"102", "20", "3"}, After: "125"}}}
	for _, o := range []*Outcome{done, proof} {
		o.Plan.Tables[0].Name, o.Plan.Tables[0].Combine = "wallets", c
	}
	proof.Proof.Combines = []merge.CombineProof{{Table: "wallets", Verdict: verdict.Fail, Keys: 4, Copied: 2, Wrong: 1,
		Columns: []merge.ColumnProof{{Column: "gold", Formula: c.Columns[0].Formula, Wrong: 1}, {Column: "log", Formula: c.Columns[1].Formula}},
		Sums:    []merge.SumProof{{Column: "gold", Verdict: verdict.Fail, Worlds: []string{"102", "20", "3"}, After: "126"}}, Details: []string{"row 1/1: gold is not as planned"}}}
	refused := *done.Plan
	refused.Refusals = []merge.Refusal{{Table: "wallets", Reason: "its rows cannot be combined"}}
	for what, c := range map[string]struct {
		text  string
		wants []string
	}{
		"plan": {planText(t, done.Plan, Commands{}), []string{"Rows with the same key that become one:\n" +
			"  wallets: 4 keys have rows in several worlds: 6 rows become part of others; 3 rows are copied, each with a key of its own; only rows for which season is 3; gold sum; log append 80\n",
			"  wallets.gold  102  20   3  125\n"}},
		"verify": {outcomeText(t, proof), []string{"  wallets: FAIL: each column of 4 keys follows its formula, 2 copied rows are unchanged\n",
			"  wallets.gold is not the sum in the rows of 1 key\n", "  wallets: row 1/1: gold is not as planned\n", "  126  FAIL\n"}},
		"refused": {planText(t, &refused, Commands{}), []string{"  wallets: the results for its rows are unknown while something blocks the merge; gold sum; log append 80\n\nNew values"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s: %q is not in:\n%s", what, want, c.text)
			}
		}
	}
}
