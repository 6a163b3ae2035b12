package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// Where a database changes while it is read, that is said, and is no error.
func TestNoSnapshot(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.NoSnapshot = true
	b.Rows["players"][0]["name"] = "PLAYER1.0"
	b.OnRow = func() error { b.Rows["players"] = b.Rows["players"][1:]; b.OnRow = nil; return nil }
	report := mustCheck(t, declare.Options{}, a, b)
	if r := find(report, verdict.CodeNoSnapshot, "", ""); len(r) != 1 || r[0].Verdict != verdict.NotVerified || r[0].Gaps[0].World != "s2" {
		t.Errorf("got %+v", r)
	}
	rows := find(report, verdict.CodeUniqueCollision, "players", "name")[0].Samples[0].Rows
	want := []catalog.Field{{Column: "id", Value: id(2, 0).String()}}
	if diff := cmp.Diff(want, rows[1].Fields); diff != "" {
		t.Errorf("a row that was deleted (-want +got):\n%s", diff)
	}
}
