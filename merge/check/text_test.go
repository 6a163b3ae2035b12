package check_test

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/report"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// textOf is the text of a report of 80 columns.
func textOf(r *verdict.Report) string {
	var b strings.Builder
	if err := report.NewCheck(r).WriteText(&b, report.TextOptions{Width: 80}); err != nil {
		panic(err)
	}
	return b.String()
}

// A list without an entry is [] in JSON, never null.
func TestEmptyListsInJSON(t *testing.T) {
	empty := func(name string) *mergetest.Database {
		return &mergetest.Database{Label: name, Schema: catalog.Catalog{Engine: "memory"}}
	}
	var reports []*verdict.Report
	quick := func(r *verdict.Report) { reports = append(reports, r) }
	full := checked(t, sources(empty("a"), empty("b")), rules.Options{}, quick)
	for _, r := range append(reports, full) {
		if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), ":null") {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// NOT VERIFIED does not say that nothing was found where nothing was read.
func TestNothingRead(t *testing.T) {
	a, b := settled(1), settled(2)
	for _, db := range []*mergetest.Database{a, b} {
		db.Intercept = cannotSort
	}
	report := mustCheck(t, rules.Options{Accounts: []rules.AccountColumn{{Table: "players", Column: "mail", Max: 2}}}, a, b)
	found := 0
	for _, r := range report.Results {
		if r.Verdict == verdict.NotVerified && r.Read == 0 && r.Code != verdict.CodeTableSkipped {
			found++
			if r.Message != "nothing could be compared" {
				t.Errorf("%s %s %s: %s", r.Code, r.Table, r.Subject, r.Message)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d results of which nothing was read", found)
	}

	a, b = settled(1), settled(2)
	b.Schema.Tables = b.Schema.Tables[:3]
	b.Schema.Skipped = []catalog.Skipped{{Table: "players", Reason: "MyISAM"}}
	r := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeReferenceDangle, "items", "")[0]
	if r.Read != 10 || r.Message != "every reference matches a row, as far as it could be compared" {
		t.Errorf("%d read: %s", r.Read, r.Message)
	}
}

// cannotSort is a source that can compare nothing.
func cannotSort(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
	return failAfter(seq, 0, &catalog.UnsupportedError{Table: scan.Table, Column: "any", Reason: "no sorting form"})
}
