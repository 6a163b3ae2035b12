package main

import (
	"testing"

	"mergesafe/merge"
)

// Where a sum is wanted and could not be taken, nothing is known of changed rows.
func TestSinceWithoutSum(t *testing.T) {
	report := func(tables ...merge.TableSummary) *merge.Report {
		return &merge.Report{Verdict: merge.Pass, Sources: []merge.Summary{{Name: "s1", Tables: tables}}}
	}
	summed, unread := merge.TableSummary{Table: "a", Contents: "01"}, merge.TableSummary{Table: "b", NoContents: `table "b", column "x": too long`}
	for _, test := range []struct {
		old, new *merge.Report
		contents bool
		want     merge.Verdict
	}{
		{report(summed), report(summed), true, merge.Pass},
		{report(summed, unread), report(summed, unread), true, merge.NotVerified},
		{report(summed, unread), report(summed, unread), false, merge.Pass},
		{report(summed), report(merge.TableSummary{Table: "a", Contents: "02"}), true, merge.Fail},
	} {
		if !test.contents {
			test.new.Sources = withoutContents(test.new.Sources)
		}
		holdAgainst(test.new, test.old, test.contents)
		if first := test.new.Results[0]; test.new.Verdict != test.want || first.Verdict != test.want {
			t.Errorf("%+v: %s, and %+v, want %s", test.old.Sources, test.new.Verdict, first, test.want)
		}
	}
}
