package check_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
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
	quiet := mustCheck(t, rules.Options{}, a, b)
	if quiet.Verdict != verdict.Pass || len(find(quiet, verdict.CodeTableChanged, "players", "")) != 1 {
		t.Errorf("%s: %v", quiet.Verdict, find(quiet, verdict.CodeTableChanged, "", ""))
	}
	a, b = dbs(true)
	got := mustCheck(t, rules.Options{}, a, b)
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

// A row of a table outside the snapshot may be deleted while it is read: only its key is shown.
func TestDeletedRowOutside(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.Tables[3].Outside = "MyISAM: not part of the snapshot" // players
	b.Rows["players"][0]["name"] = "PLAYER1.0"
	b.OnRow = func() error { b.Rows["players"] = b.Rows["players"][1:]; b.OnRow = nil; return nil }
	rows := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeUniqueCollision, "players", "name")[0].Samples[0].Rows
	want := []catalog.Field{{Column: "id", Value: id(2, 0).String()}}
	if diff := cmp.Diff(want, rows[1].Fields); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
