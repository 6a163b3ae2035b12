package check_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// proposalsOf classifies the columns, and checks nothing.
func proposalsOf(t fatal, sources []catalog.Source, opts rules.Options) *verdict.Report {
	t.Helper()
	opts.Propose = true
	f, err := check.DescribeAll(context.Background(), sources, opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Only(context.Background(), f, propose.ProposalTasks(f)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// proposed is what a column of a report is taken for.
func proposed(t *testing.T, r *verdict.Report, at string) verdict.ProposedColumn {
	t.Helper()
	i := slices.IndexFunc(r.Proposed.Columns, func(c verdict.ProposedColumn) bool { return c.Table+"."+c.Column == at })
	if i < 0 {
		t.Fatal(at, "is not classified")
	}
	return r.Proposed.Columns[i]
}

// writtenRules is the file of rules that a report proposes.
func writtenRules(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var file strings.Builder
	if err := propose.WriteRules(r, &file); err != nil {
		t.Fatal(err)
	}
	return file.String()
}
