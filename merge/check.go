package merge

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Check reports whether two or more databases can be merged, and if not, why. It
// only reads.
//
// With a report and no error, every rule could be carried out. An error that wraps
// [catalog.ErrWorlds] or [rules.ErrOptions] says that there is nothing to check; then there is no
// report. Any other error has a [*catalog.ReadError] naming source and table: one could not be
// read, or ctx ended. With it comes a report of the results until then, which is
// incomplete and has no verdict, unless not even the catalogues could be read.
//
// quick, if any, is called before the keys are read, by the goroutine that called Check,
// with the results that take only seconds: servers, schemas, estimates of numbers of rows, ranges
// of keys. That report is incomplete and has no verdict.
func Check(ctx context.Context, sources []catalog.Source, opts rules.Options, quick ...func(*verdict.Report)) (*verdict.Report, error) {
	report, err := check.Check(ctx, sources, opts, check.With{Quick: quick, Rules: []check.Rule{propose.ProposalRule}})
	return report, dropped("the check", err)
}
