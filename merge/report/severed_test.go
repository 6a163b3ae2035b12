package report

import (
	"strings"
	"testing"

	"mergesafe/merge/rules"
)

// A plan says how many rows of which source stay behind, or lose what they refer to.
func TestSeveredIsShown(t *testing.T) {
	p := sampleOutcome().Plan
	zero := "0"
	p.Severed = []rules.Severed{{Table: "mail", Column: "auction", To: "auctions", Gone: rules.GoneDrop, Counts: []int64{0, 1234}},
		{Table: "bids", Column: "lot", To: "auctions", Gone: rules.GoneNone, Counts: []int64{0, 0}}, {Table: "items", Column: "lot", To: "auctions", Gone: rules.GoneNone, Becomes: &zero, Counts: []int64{0, 7}}}
	text := planText(t, p, Commands{})
	for _, want := range []string{"  mail.auction  auctions    the row stays behind too  s2 1,234\n", "  bids.lot      auctions    NULL                      none\n", "  items.lot     auctions    0                         s2 7\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
