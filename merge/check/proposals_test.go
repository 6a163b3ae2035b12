package check_test

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// proposalsOf classifies the columns, and checks nothing.
func proposalsOf(ctx context.Context, sources []catalog.Source, opts rules.Options) (*verdict.Report, error) {
	opts.Propose = true
	f, err := check.DescribeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	return check.Only(ctx, f, propose.ProposalTasks(f)...)
}
