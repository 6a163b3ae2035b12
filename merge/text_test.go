package merge_test

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/report"
)

// textOf is the text of a report of 80 columns.
func textOf(r *merge.Report) string {
	var b strings.Builder
	if err := report.NewCheck(r).WriteText(&b, report.TextOptions{Width: 80}); err != nil {
		panic(err)
	}
	return b.String()
}

// A list without an entry is [] in JSON, never null.
func TestEmptyListsInJSON(t *testing.T) {
	empty := func(name string) *mergetest.Database {
		return &mergetest.Database{Label: name, Schema: merge.Catalog{Engine: "memory"}}
	}
	opts := merge.Options{Only: []merge.Selection{{Code: merge.CodeKeyCollision}}}
	var reports []any
	quick := func(r *merge.Report) { reports = append(reports, r) }
	full, err := merge.Check(t.Context(), sources(empty("a"), empty("b")), opts, quick)
	if err != nil {
		t.Fatal(err)
	}
	reports = append(reports, full, check(t, merge.Options{}, empty("a"), empty("b")))
	m, err := merge.Matrix(t.Context(), sources(empty("a"), empty("b")), merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(reports, m) {
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
	report := check(t, merge.Options{Accounts: []merge.AccountColumn{{Table: "players", Column: "mail", Max: 2}}}, a, b)
	found := 0
	for _, r := range report.Results {
		if r.Verdict == merge.NotVerified && r.Read == 0 && r.Code != merge.CodeTableSkipped {
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
	b.Schema.Skipped = []merge.Skipped{{Table: "players", Reason: "MyISAM"}}
	r := find(check(t, merge.Options{}, a, b), merge.CodeReferenceDangle, "items", "")[0]
	if r.Read != 10 || r.Message != "every reference matches a row, as far as it could be compared" {
		t.Errorf("%d read: %s", r.Read, r.Message)
	}
}

// cannotSort is a source that can compare nothing.
func cannotSort(scan merge.Scan, _ iter.Seq2[*merge.Batch, error]) iter.Seq2[*merge.Batch, error] {
	return func(yield func(*merge.Batch, error) bool) {
		yield(nil, &merge.UnsupportedError{Table: scan.Table, Column: "any", Reason: "no sorting form"})
	}
}
