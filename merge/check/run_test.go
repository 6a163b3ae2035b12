package check_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Allow changes what counts, never what was found.
func TestAllow(t *testing.T) {
	dbs := func() []*mergetest.Database {
		a, b := settled(1), settled(2)
		b.Schema.Views = []string{"old"}
		b.Schema.Skipped = []catalog.Skipped{{Table: "log", Reason: "MyISAM"}}
		return []*mergetest.Database{a, b}
	}
	plain := mustCheck(t, rules.Options{}, dbs()...)
	for _, test := range []struct {
		allow []string
		want  verdict.Verdict
	}{
		{nil, verdict.Fail},
		{[]string{"schema-view"}, verdict.NotVerified},
		{[]string{"schema-view", "table-skipped"}, verdict.Pass},
		{[]string{"table-skipped"}, verdict.Fail},
	} {
		got := mustCheck(t, rules.Options{Allow: test.allow}, dbs()...)
		if got.Verdict != test.want {
			t.Errorf("allow %v: %s, want %s", test.allow, got.Verdict, test.want)
		}
		for i, r := range got.Results {
			if r.Allowed != (r.Verdict != verdict.Pass && slices.Contains(test.allow, r.Code)) {
				t.Errorf("allow %v: %s %s is allowed: %t", test.allow, r.Code, r.Verdict, r.Allowed)
			}
			r.Allowed = false
			if diff := cmp.Diff(plain.Results[i], r); diff != "" {
				t.Errorf("allow %v (-without +with):\n%s", test.allow, diff)
			}
		}
	}
}

// The quick tier comes before any row is read, and says nothing that the whole
// check does not say.
func TestQuick(t *testing.T) {
	var quick *verdict.Report
	read := false
	full, err := merge.Check(t.Context(), sources(faulty()...), rules.Options{Progress: func(rules.Progress) { read = true }}, func(r *verdict.Report) {
		if read {
			t.Error("rows were read before")
		}
		quick = r
	})
	if err != nil {
		t.Fatal(err)
	}
	if quick == nil || quick.Verdict != "" || quick.Incomplete == "" || quick.ExitCode() != verdict.ExitIncomplete {
		t.Fatalf("the quick report: %+v", quick)
	}
	whole := make(map[string]verdict.Result)
	for _, r := range full.Results {
		whole[key(r.Code, r.Table, r.Subject)] = r
	}
	for _, r := range quick.Results {
		if diff := cmp.Diff(whole[key(r.Code, r.Table, r.Subject)], r); diff != "" {
			t.Errorf("(-whole +quick):\n%s", diff)
		}
	}
	for _, code := range []string{verdict.CodeServerConflict, verdict.CodeSchemaColumn, verdict.CodeTableSkipped} {
		if len(find(quick, code, "", "")) == 0 {
			t.Errorf("no %s", code)
		}
	}
	if got := quick.Worlds[0].Tables[1]; got.Table != "items" || got.Rows != 13 || got.First != full.Worlds[0].Tables[1].First || got.Last != full.Worlds[0].Tables[1].Last {
		t.Errorf("items of s1: %+v, want as in the whole report: %+v", got, full.Worlds[0].Tables[1])
	}
}
