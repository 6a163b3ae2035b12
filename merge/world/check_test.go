package world

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// mergeCheck is what merge.Check does, which imports this package.
func mergeCheck(ctx context.Context, worlds []catalog.Source, options rules.Options, quick ...func(*verdict.Report)) (*verdict.Report, error) {
	return check.Check(ctx, worlds, options, check.With{Quick: quick, Rules: []check.Rule{propose.ProposalRule}})
}
