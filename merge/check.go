package merge

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
)

// Check reports whether two or more databases can be merged, and if not, why. It
// only reads.
//
// With a report and no error, every rule could be carried out. An error that wraps
// [catalog.ErrWorlds] or [declare.ErrOptions] says that there is nothing to check; then there is no
// report. Any other error is a [*catalog.ReadError] naming source and table: one could not be
// read, or ctx ended. With it comes a report of the results until then, which is
// incomplete and has no verdict, unless not even the catalogues could be read.
//
// quick, if any, is called before the keys are read, by the goroutine that called Check,
// with the results that take only seconds: servers, schemas, numbers of rows, ranges of
// keys. That report is incomplete and has no verdict.
func Check(ctx context.Context, sources []catalog.Source, opts declare.Options, quick ...func(*verdict.Report)) (*verdict.Report, error) {
	return check.Check(ctx, sources, opts, check.With{Quick: quick, Rules: []rule.Rule{propose.ProposalRule}})
}

// CheckDescribed is [Check] for a caller who goes on to use what the operator said of the
// databases, which is resolved once.
func CheckDescribed(ctx context.Context, f *check.Facts) (*verdict.Report, error) {
	return check.Described(ctx, f, f.Opts.Stamp(), check.With{Rules: []rule.Rule{propose.ProposalRule}})
}

// CheckMerged checks one database, into which others were merged, by the rules that judge a
// database by itself: its keys, IDs, unique values, references and keys inside cells, and what
// its server says of it. Its errors are those of [Check].
func CheckMerged(ctx context.Context, merged catalog.Source, opts declare.Options) (*verdict.Report, error) {
	return check.Merged(ctx, merged, opts)
}
