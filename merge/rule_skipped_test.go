package merge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
)

// A table that the operator leaves out is not read, and not passed either.
func TestExclude(t *testing.T) {
	const excluded, unreadable = "excluded by the operator", "MyISAM"
	for _, test := range []struct {
		include, exclude []string
		left             string
		skipped          map[string]string
	}{
		{nil, []string{"characters"}, "guild pets", map[string]string{"characters": excluded, "pack": unreadable}},
		{nil, []string{"p*", "g*"}, "characters", map[string]string{"guild": excluded, "pets": excluded, "pack": excluded}},
		{[]string{"p*"}, nil, "pets", map[string]string{"characters": excluded, "guild": excluded, "pack": unreadable}},
		{[]string{"*"}, []string{"[cg]*"}, "pets", map[string]string{"characters": excluded, "guild": excluded, "pack": unreadable}},
	} {
		a, b := game("a", 1, 5), game("b", 1, 5)
		b.Schema.Skipped = []merge.Skipped{{Table: "pack", Reason: "MyISAM"}}
		report := check(t, merge.Options{Include: test.include, Exclude: test.exclude}, a, b)
		var left []string
		for _, r := range find(report, merge.CodeKeyCollision, "", "") {
			left = append(left, r.Table)
		}
		if got := strings.Join(left, " "); got != test.left {
			t.Errorf("%v %v: looked at %q, want %q", test.include, test.exclude, got, test.left)
		}
		skipped := make(map[string]string)
		for _, r := range find(report, merge.CodeTableSkipped, "", "") {
			if r.Verdict != merge.NotVerified {
				t.Errorf("%s is %s", r.Table, r.Verdict)
			}
			skipped[r.Table] = r.Gaps[0].Reason
		}
		if diff := cmp.Diff(test.skipped, skipped); diff != "" {
			t.Errorf("%v %v (-want +got):\n%s", test.include, test.exclude, diff)
		}
	}
	// What is declared of a table that is left out means nothing.
	left, right := game("a", 1, 5), game("b", 1, 5)
	check(t, merge.Options{
		Exclude: []string{"characters"}, Uniques: []merge.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
		Accounts: []merge.AccountColumn{{Table: "characters", Column: "account"}},
	}, left, right)
	// What refers to a table that is left out cannot be followed.
	a, b := settled(1), settled(2)
	r := find(check(t, merge.Options{Exclude: []string{"players"}}, a, b), merge.CodeReferenceDangle, "items", "")[0]
	if r.Verdict != merge.NotVerified || r.Gaps[0].Reason != "refers to players, which is excluded by the operator" {
		t.Errorf("got %+v, want NOT VERIFIED", r)
	}
}
