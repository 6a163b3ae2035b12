package main

import (
	"testing"

	"mergesafe/merge/verdict"
)

// Where a sum is wanted and could not be taken, nothing is known of changed rows.
func TestSinceWithoutSum(t *testing.T) {
	report := func(tables ...verdict.TableSummary) *verdict.Report {
		return &verdict.Report{Verdict: verdict.Pass, Worlds: []verdict.Summary{{Name: "s1", Tables: tables}}}
	}
	summed, unread := verdict.TableSummary{Table: "a", Contents: "01"}, verdict.TableSummary{Table: "b", NoContents: `table "b", column "x": too long`}
	for _, test := range []struct {
		old, new *verdict.Report
		contents bool
		want     verdict.Verdict
	}{
		{report(summed), report(summed), true, verdict.Pass},
		{report(summed, unread), report(summed, unread), true, verdict.NotVerified},
		{report(summed, unread), report(summed, unread), false, verdict.Pass},
		{report(summed), report(verdict.TableSummary{Table: "a", Contents: "02"}), true, verdict.Fail},
	} {
		if !test.contents {
			test.new.Worlds = withoutContents(test.new.Worlds)
		}
		holdAgainst(test.new, test.old, test.contents)
		if first := test.new.Results[0]; test.new.Verdict != test.want || first.Verdict != test.want {
			t.Errorf("%+v: %s, and %+v, want %s", test.old.Worlds, test.new.Verdict, first, test.want)
		}
	}
}
