package merge

import (
	"context"
	"errors"
)

// Progress is how far a check has come.
type Progress struct {
	Code   string // of the rule that reads
	Source string
	Table  string
	Rows   int64 // read so far by this rule from this table of this source
	Total  int64 // that it reads at most: the rows of the table

	// SourceRows of SourceTotal are done of the rows that all rules have to read in
	// this source. The total is exact, from counted rows, and rises only if a finding
	// makes further reading necessary.
	SourceRows, SourceTotal int64
}

// Check reports whether two or more databases can be merged, and if not, why. It
// only reads.
//
// With a report and no error, every rule could be carried out. An error that wraps
// [ErrSources] or [ErrOptions] says that there is nothing to check; then there is no
// report. Any other error is a [*ReadError] naming source and table: one could not be
// read, or ctx ended. With it comes a report of the results until then, which is
// incomplete and has no verdict, unless not even the catalogues could be read.
//
// quick, if any, is called before the keys are read, by the goroutine that called Check,
// with the results that take only seconds: servers, schemas, numbers of rows, ranges of
// keys. That report is incomplete and has no verdict.
func Check(ctx context.Context, sources []Source, opts Options, quick ...func(*Report)) (*Report, error) {
	return check(ctx, sources, opts, with{quick: quick, rules: []rule{proposalRule()}})
}

// with is what the caller adds to a check.
type with struct {
	quick  []func(*Report)
	rules  []rule        // that read the same rows, and never change the verdict
	reader func(*reader) // sets the reader up; nil: it stays as it is
}

func check(ctx context.Context, sources []Source, opts Options, with with) (*Report, error) {
	opts = opts.withDefaults()
	started := opts.stamp()
	f, err := describeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	if err := withhold(f.resolved); err != nil {
		return nil, err
	}
	p := newProgress(f.resolved)
	r := newRun(f, newReader(f, p), newSummaries(f), started, rules(with.rules...))
	if with.reader != nil {
		with.reader(r.reader)
	}
	r.judgeCatalogs()
	if err = r.establish(ctx, with.quick); err != nil {
		return r.report(reasonOf(ctx, err)), err
	}
	return r.report(""), nil
}

// establish reads all that the rules need, in between two looks at the tables that
// are in no snapshot.
func (r *run) establish(ctx context.Context, quick []func(*Report)) error {
	before, err := takeStamps(ctx, r.facts)
	if err != nil {
		return err
	}
	if err := r.countRows(ctx); err != nil {
		return err
	}
	for _, report := range quick {
		report(r.report("the keys are not read yet"))
	}
	if err := r.readAll(ctx); err != nil {
		return err
	}
	after, err := takeStamps(ctx, r.facts)
	if err == nil {
		r.settle(before, after)
	}
	return err
}

// reasonOf says why a check did not come to its end.
func reasonOf(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	if read, ok := errors.AsType[*ReadError](err); ok {
		return read.reason()
	}
	return err.Error()
}
