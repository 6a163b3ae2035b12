package check_test

import (
	"testing"

	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// One account on several servers is found, and what is over the limit counted.
func TestAccounts(t *testing.T) {
	account := func(max int) rules.Options {
		return rules.Options{Accounts: []rules.AccountColumn{{Table: "characters", Column: "account", Max: max}}}
	}
	dbs := func() []*mergetest.Database {
		a, b, c := game("a", 1, 6), game("b", 101, 6), game("c", 201, 6)
		for i, row := range a.Rows["characters"][:3] {
			row["account"] = "bob"
			b.Rows["characters"][i]["account"] = "BOB" // one account to the first world
		}
		c.Rows["characters"][0]["account"] = "bob"
		for n := range 4 { // many on one server were there before
			c.Rows["characters"][1+n]["account"] = "many"
			a.Rows["characters"][3]["account"], b.Rows["characters"][3]["account"] = "", "" // nobody's
			a.Rows["characters"][4]["account"], b.Rows["characters"][4]["account"] = nil, nil
		}
		return []*mergetest.Database{a, b, c}
	}
	for max, want := range map[int]struct {
		count, rows int64
		message     string
	}{
		0: {0, 0, "1 account is in more than one database"},
		3: {1, 7, "1 account is in more than one database; 1 has more than 3 characters together, 4 too many in total"},
		6: {1, 7, "1 account is in more than one database; 1 has more than 6 characters together, 1 too many in total"},
		7: {0, 0, "1 account is in more than one database, none with more than 7 characters together"},
	} {
		r := find(mustCheck(t, account(max), dbs()...), verdict.CodeAccountOverflow, "characters", "account")[0]
		if r.Count != want.count || r.Rows != want.rows || r.Message != want.message {
			t.Errorf("max %d: %d accounts in %d rows: %s", max, r.Count, r.Rows, r.Message)
		}
		if want.count > 0 && (len(r.Samples) != 1 || len(r.Samples[0].Rows) != 5 || r.Samples[0].Omitted != 2) {
			t.Errorf("max %d: samples %+v", max, r.Samples)
		}
	}
}

// An account number that two databases have is a question, until it is declared that
// it means one account.
func TestAccountConflict(t *testing.T) {
	opts := rules.Options{Accounts: []rules.AccountColumn{{Table: "characters", Column: "account"}}}
	a, b := game("a", 1, 6), game("b", 101, 6)
	judged := func(want verdict.Verdict, message string) {
		t.Helper()
		r := find(mustCheck(t, opts, a, b), verdict.CodeAccountConflict, "characters", "account")[0]
		if r.Verdict != want || r.Message != message {
			t.Errorf("%s, %q; want %s, %q", r.Verdict, r.Message, want, message)
		}
	}
	judged(verdict.Pass, "no account is in more than one database")
	a.Rows["characters"][0]["account"], b.Rows["characters"][3]["account"] = "bob", "BOB"
	judged(verdict.NotVerified, "1 account is in more than one database")
	opts.Rules = []rules.Declarations{{Shared: []string{"characters.account"}}}
	judged(verdict.Pass, "the same value is the same account in every database, as declared")
}
