package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/verdict"
)

func early(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var b strings.Builder
	if err := NewCheck(r).WriteEarly(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// known is what is found before the keys are read.
var known = &verdict.Report{
	Incomplete: "the keys have not been read yet",
	Worlds: []verdict.Summary{
		{Name: "s1", Tables: []verdict.TableSummary{{Table: "items", Rows: 1000}, {Table: "players", Rows: 234}}},
		{Name: "s2", Tables: []verdict.TableSummary{{Table: "items", Rows: 1}}},
	},
	Results: []verdict.Result{
		{Code: verdict.CodeColumnOpaque, Table: "mail", Subject: "body\x1b[2J", Verdict: verdict.NotVerified, Message: "may hold IDs"},
		{Code: verdict.CodeServerConflict, Verdict: verdict.Fail, Message: "server 1 in s1, s2"},
		{Code: verdict.CodeTableSkipped, Table: "log", Verdict: verdict.NotVerified, Allowed: true, Message: "was not read"},
		{Code: verdict.CodeSchemaVersion, Verdict: verdict.Pass},
	},
}

const knownText = `No verdict before the keys are read. So far, of 4 checks: 1 failed, 1 not verified
  FAIL  server-conflict: server 1 in s1, s2
  NOT VERIFIED  column-opaque mail body\x1b[2J: may hold IDs
  s1  about 1,234 rows in 2 tables
  s2  about 1 row in 1 table
`

func TestEarly(t *testing.T) {
	if diff := cmp.Diff(knownText, early(t, known)); diff != "" {
		t.Error(diff)
	}
	many := &verdict.Report{}
	for range 20 {
		many.Results = append(many.Results, verdict.Result{Code: "x", Verdict: verdict.Fail})
		many.Worlds = append(many.Worlds, verdict.Summary{Name: "s"})
	}
	got := early(t, many)
	if n := strings.Count(got, "\n"); n != 1+2*(earlyLines+1) || !strings.Contains(got, "and 12 more\n") || !strings.Contains(got, "and 12 more databases\n") {
		t.Errorf("%d lines:\n%s", n, got)
	}
}
