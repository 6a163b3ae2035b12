package check_test

import (
	"fmt"
	"testing"

	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A look into opaque columns is a guess: it is told with the reason, and changes
// nothing.
func TestOpaque(t *testing.T) {
	const opaque, none, one = "may hold keys that no rule can read", "; a guess: 0 of 1 value read contain what looks like one", "; a guess: 1 of 1 value read contain what looks like one"
	for value, guess := range map[any]string{
		nil:         "",
		"":          "",
		"[1, 2, 3]": none,
		`{"guild": "` + id(2, 300).String() + `"}`: one,
		`{"guild": "` + id(7, 300).String() + `"}`: none, // nobody's
		`{"level": 70}`:                   none,
		`{"owner_id": 70}`:                none,
		"ff00" + id(2, 1).String() + "00": one,
	} {
		a, b := settled(1), settled(2)
		b.Schema.Tables[3].Columns[2].Opaque = "BLOB"
		b.Rows["players"][2]["mail"] = value
		reason := "BLOB"
		if guess == one {
			reason += ", and seems to hold IDs: a guess from a few rows"
		}
		r := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeColumnOpaque, "players", "mail")
		if len(r) != 1 || r[0].Verdict != verdict.NotVerified || len(r[0].Gaps) != 1 || r[0].Gaps[0] != (verdict.Gap{World: "s2", Reason: reason}) || r[0].Message != opaque+guess {
			t.Errorf("%v: got %+v, want %q and %q", value, r, reason, guess)
		}
	}
	// Rows are looked into from the beginning to the end, but not all.
	a, b := settled(1), settled(2)
	b.Schema.Tables[3].Columns[2].Opaque = "BLOB"
	b.BatchRows = 10
	b.Rows["players"] = nil
	for n := range 1000 {
		b.Rows["players"] = append(b.Rows["players"], mergetest.Row{"id": id(2, n), "name": fmt.Sprint(n), "mail": fmt.Sprint("{", n, "}")})
	}
	r := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeColumnOpaque, "players", "mail")[0]
	if want := opaque + "; a guess: 0 of 14 values read contain what looks like one"; r.Message != want {
		t.Errorf("%q, want %q", r.Message, want)
	}
}
