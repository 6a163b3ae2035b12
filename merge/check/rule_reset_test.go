package check_test

import (
	"slices"
	"testing"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Of a table that is reset no rows come, those of the first world are counted too, and the
// report says which tables these are.
func TestResetTables(t *testing.T) {
	reset := rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"p*"}, Policy: rules.PolicySkip}, {Tables: []string{"pets"}, Policy: rules.PolicyReset}}}
	report := mustCheck(t, reset, game("a", 1, 5), game("b", 1, 5))
	if !slices.Equal(report.Reset, []string{"pets"}) {
		t.Errorf("emptied: %q", report.Reset)
	}
	r := find(report, verdict.CodeRowsLeft, "pets", "")[0]
	rows := int64(len(game("a", 1, 5).Rows["pets"]))
	if r.Verdict != verdict.Pass || r.Read != 2*rows {
		t.Errorf("%+v, want PASS and %d rows", r, 2*rows)
	}
	if left := find(report, verdict.CodeKeyCollision, "pets", ""); len(left) > 0 {
		t.Errorf("its keys were compared: %+v", left)
	}
}
