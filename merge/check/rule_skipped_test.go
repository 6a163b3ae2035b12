package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
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
		b.Schema.Skipped = []catalog.Skipped{{Table: "pack", Reason: "MyISAM"}}
		report := mustCheck(t, declare.Options{Include: test.include, Exclude: test.exclude}, a, b)
		var left []string
		for _, r := range find(report, verdict.CodeKeyCollision, "", "") {
			left = append(left, r.Table)
		}
		if got := strings.Join(left, " "); got != test.left {
			t.Errorf("%v %v: looked at %q, want %q", test.include, test.exclude, got, test.left)
		}
		skipped := make(map[string]string)
		for _, r := range slices.Concat(find(report, verdict.CodeTableSkipped, "", ""), find(report, verdict.CodeTableExcluded, "", "")) {
			if r.Code == verdict.CodeTableExcluded != (r.Gaps[0].Reason == excluded) {
				t.Errorf("%s is %s", r.Table, r.Code)
			}
			if r.Verdict != verdict.NotVerified {
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
	mustCheck(t, declare.Options{
		Exclude: []string{"characters"}, Uniques: []declare.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
		Accounts: []declare.AccountColumn{{Table: "characters", Column: "account"}},
	}, left, right)
	// What refers to a table that is left out cannot be followed.
	a, b := settled(1), settled(2)
	r := find(mustCheck(t, declare.Options{Exclude: []string{"players"}}, a, b), verdict.CodeReferenceDangle, "items", "")[0]
	if r.Verdict != verdict.NotVerified || r.Gaps[0].Reason != "refers to players, which is excluded by the operator" {
		t.Errorf("got %+v, want NOT VERIFIED", r)
	}
}

// A table that one database cannot read is not missing there, and nothing of it
// passes that was compared without that database.
func TestUnreadInOneDatabase(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.Tables = slices.DeleteFunc(b.Schema.Tables, func(t catalog.Table) bool { return t.Name == "players" })
	b.Schema.Skipped = []catalog.Skipped{{Table: "players", Reason: "MyISAM: not part of the snapshot"}}
	report := mustCheck(t, declare.Options{}, a, b)
	if r := find(report, verdict.CodeSchemaTable, "players", "")[0]; r.Verdict != verdict.Pass || r.Message != "in every database; not read in s2" {
		t.Errorf("schema-table: %s, %s", r.Verdict, r.Message)
	}
	const reason = "the table is not read: MyISAM: not part of the snapshot"
	for _, r := range slices.Concat(find(report, verdict.CodeKeyCollision, "players", ""), find(report, verdict.CodeUniqueCollision, "players", "")) {
		if r.Verdict != verdict.NotVerified || r.Gaps[0] != (verdict.Gap{World: "s2", Reason: reason}) {
			t.Errorf("%s %s: %s, %v", r.Code, r.Subject, r.Verdict, r.Gaps)
		}
	}
	if r := find(report, verdict.CodeReferenceDangle, "items", "")[0]; r.Verdict != verdict.NotVerified || r.Gaps[0].Reason != "refers to players: "+reason {
		t.Errorf("reference: %s, %v", r.Verdict, r.Gaps)
	}
}

// What is declared of a table that cannot be read is no mistake, and is not
// checked.
func TestDeclaredOfUnread(t *testing.T) {
	a, b := game("a", 1, 5), game("b", 11, 5)
	for _, db := range []*mergetest.Database{a, b} {
		db.Schema.Skipped = []catalog.Skipped{{Table: "mail", Reason: "MyISAM"}}
	}
	to := func(table, toTable string) declare.DeclaredReference {
		return declare.DeclaredReference{Table: table, Columns: []string{"owner", "name"}, ToTable: toTable, ToColumns: []string{"guid", "name"}}
	}
	report := mustCheck(t, declare.Options{
		Rules:    []declare.Declarations{{References: []declare.DeclaredReference{to("mail", "characters"), to("pets", "mail")}}},
		Uniques:  []declare.DeclaredUnique{{Table: "mail", Columns: []string{"title"}}},
		Accounts: []declare.AccountColumn{{Table: "mail", Column: "account"}},
	}, a, b)
	const want = "was not read, so its declarations are not checked: unique title; reference (owner, name) → characters.(guid, name); account account"
	if r := find(report, verdict.CodeTableSkipped, "mail", "")[0]; r.Verdict != verdict.NotVerified || r.Message != want {
		t.Errorf("%s: %s", r.Verdict, r.Message)
	}
	for _, r := range slices.Concat(find(report, verdict.CodeReferenceDangle, "pets", ""), find(report, verdict.CodeReferenceRebind, "pets", ""), find(report, verdict.CodeReferenceAmbiguous, "pets", "")) {
		if r.Verdict != verdict.NotVerified {
			t.Errorf("%s is %s", r.Code, r.Verdict)
		}
	}
	if r := find(report, verdict.CodeReferenceDangle, "pets", "")[0]; r.Verdict != verdict.NotVerified || r.Gaps[0].Reason != "refers to mail: the table is not read: MyISAM" {
		t.Errorf("got %+v", r)
	}
}
