package check_test

import (
	"fmt"
	"testing"

	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
)

// A table that is in no snapshot is read. If its rows changed meanwhile, nothing that
// rests on them passes; if not, all holds.
func TestTableOutsideOfTheSnapshot(t *testing.T) {
	const outside = "MyISAM: not part of the snapshot"
	dbs := func(changes bool) (a, b *mergetest.Database) {
		a, b = settled(1), settled(2)
		for _, db := range []*mergetest.Database{a, b} {
			db.Schema.Tables[3].Outside, db.Schema.Tables[3].Engine = outside, "MyISAM" // players
		}
		n := 0
		b.OnStamp = func(string) string {
			if changes {
				n++
			}
			return fmt.Sprint(n)
		}
		return a, b
	}
	a, b := dbs(false)
	quiet := mustCheck(t, declare.Options{}, a, b)
	if quiet.Verdict != verdict.Pass || len(find(quiet, verdict.CodeTableChanged, "players", "")) != 1 {
		t.Errorf("%s: %v", quiet.Verdict, find(quiet, verdict.CodeTableChanged, "", ""))
	}
	a, b = dbs(true)
	got := mustCheck(t, declare.Options{}, a, b)
	if len(got.Results) != len(quiet.Results) {
		t.Errorf("%d results, and %d where nothing changes", len(got.Results), len(quiet.Results))
	}
	for _, r := range got.Results {
		want := verdict.Pass
		rests := r.Table == "players" || r.Code == verdict.CodeReferenceDangle || r.Code == verdict.CodeReferenceRebind || r.Code == verdict.CodeReferenceAmbiguous
		if rests && r.Subject != "guild → guilds.id" {
			want = verdict.NotVerified
		}
		if r.Verdict != want || want == verdict.NotVerified && len(r.Next) == 0 {
			t.Errorf("%s %s %s: %s, want %s: %v", r.Code, r.Table, r.Subject, r.Verdict, want, r.Gaps)
		}
	}
	if got.Verdict != verdict.NotVerified {
		t.Errorf("all together: %s", got.Verdict)
	}
}
