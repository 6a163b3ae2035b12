package check_test

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// proposalsOf classifies the columns, and checks nothing.
func proposalsOf(ctx context.Context, sources []catalog.Source, opts rules.Options) (*verdict.Report, error) {
	opts = opts.WithDefaults()
	opts.Propose = true
	f, err := check.DescribeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	r := check.NewRun(f, check.NewReader(f, stream.NewProgress(f.Resolved)), check.NewSummaries(f), opts.Stamp(), check.Rules())
	if err := r.FindEnds(ctx); err != nil {
		return nil, err
	}
	r.Tasks = append(check.KeyTasks(f, r.Rules), propose.ProposalTasks(f)...)
	for len(r.Tasks) > 0 {
		t := r.Tasks[0]
		r.Tasks = r.Tasks[1:]
		if err := r.Do(ctx, t); err != nil {
			return nil, err
		}
	}
	return r.Report(""), nil
}
