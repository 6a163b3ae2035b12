package propose

import (
	"strings"
	"testing"

	"mergesafe/merge/verdict"
)

// The header names the list undecided only if it has columns.
func TestUndecidedInHeader(t *testing.T) {
	for _, undecided := range []bool{false, true} {
		r := &verdict.Report{Proposed: &verdict.Proposed{}}
		if undecided {
			r.Proposed.Columns = []verdict.ProposedColumn{{Table: "mail", Column: "owner", Class: verdict.ClassUndecided}}
		}
		var file strings.Builder
		if err := WriteRules(r, &file); err != nil {
			t.Fatal(err)
		}
		if text := file.String(); strings.Contains(text, "Read the list undecided") != undecided || strings.Contains(text, "No column is undecided") == undecided {
			t.Errorf("%t: %s", undecided, text)
		}
	}
}

// A file of rules that cannot be read is not written: a name that may be a DSN is refused there, as it may have a password in it.
func TestNameLikeADSN(t *testing.T) {
	r := &verdict.Report{Proposed: &verdict.Proposed{Columns: []verdict.ProposedColumn{{Table: ":now", Column: "@v", Class: verdict.ClassPlain}}}}
	var file strings.Builder
	if err := WriteRules(r, &file); err == nil || !strings.Contains(err.Error(), `":now.@v" looks like a DSN with a password`) || file.Len() > 0 {
		t.Errorf("%v: %s", err, &file)
	}
}

// All columns of accounts are one question, whatever their names; every one is in the list undecided, and stays open. Other columns
// that name no key are asked for by themselves.
func TestAccountsAreOneQuestion(t *testing.T) {
	asked := func(table, column, reason string) verdict.ProposedColumn {
		return verdict.ProposedColumn{Table: table, Column: column, Class: verdict.ClassUndecided, Reason: reason, Evidence: reason}
	}
	r := &verdict.Report{Proposed: &verdict.Proposed{Columns: []verdict.ProposedColumn{
		asked("heroes", "account", accountsAsked), asked("mail", "sender_acc", accountsAsked), asked("mail", "party", "a thing"), asked("mail", "raid", "a thing"),
	}}}
	var file strings.Builder
	if err := WriteRules(r, &file); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# 4 columns, 3 questions. ",
		"  # " + accountsAsked + "\n  # shared = [\"heroes.account\", \"mail.sender_acc\"]; or plain, or [[check.reference]]\n  \"heroes.account\", \"mail.sender_acc\",\n",
		"  \"mail.party\",\n", "  \"mail.raid\",\n",
	} {
		if !strings.Contains(file.String(), want) {
			t.Errorf("no %q in\n%s", want, &file)
		}
	}
}
