package check_test

import (
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// What is declared of a table whose rows stay behind is no mistake, and what refers to it cannot be followed.
func TestDeclaredOfSkipped(t *testing.T) {
	skip := func(table string) []rules.TablePolicy {
		return []rules.TablePolicy{{Tables: []string{table}, Policy: rules.PolicySkip}}
	}
	mustCheck(t, rules.Options{
		Tables: skip("characters"), Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
		Accounts: []rules.AccountColumn{{Table: "characters", Column: "account"}},
	}, game("a", 1, 5), game("b", 1, 5))
	report := mustCheck(t, rules.Options{Tables: skip("players")}, settled(1), settled(2))
	r := find(report, verdict.CodeReferenceDangle, "items", "")[0]
	if r.Verdict != verdict.NotVerified || !strings.HasPrefix(r.Gaps[0].Reason, "refers to players, whose rows stay behind") {
		t.Errorf("got %+v, want NOT VERIFIED", r)
	}
	if r := find(report, verdict.CodeRowsLeft, "players", "")[0]; r.Verdict != verdict.Pass || r.Read == 0 {
		t.Errorf("got %+v, want the rows that stay behind", r)
	}
}

// A table that one database cannot read is not missing there, and nothing of it
// passes that was compared without that database.
func TestUnreadInOneDatabase(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.Tables = slices.DeleteFunc(b.Schema.Tables, func(t catalog.Table) bool { return t.Name == "players" })
	b.Schema.Skipped = []catalog.Skipped{{Table: "players", Reason: "MyISAM: not part of the snapshot"}}
	report := mustCheck(t, rules.Options{}, a, b)
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
	to := func(table, toTable string) rules.DeclaredReference {
		return rules.DeclaredReference{Table: table, Columns: []string{"owner", "name"}, ToTable: toTable, ToColumns: []string{"guid", "name"}}
	}
	report := mustCheck(t, rules.Options{
		Rules:    []rules.Declarations{{References: []rules.DeclaredReference{to("mail", "characters"), to("pets", "mail")}}},
		Uniques:  []rules.DeclaredUnique{{Table: "mail", Columns: []string{"title"}}},
		Accounts: []rules.AccountColumn{{Table: "mail", Column: "account"}},
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
