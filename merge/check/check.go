package check

import (
	"context"
	"errors"
	"slices"
	"time"

	"mergesafe/merge/catalog"

	"mergesafe/merge/leave"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// With is what the caller adds to a check.
type With struct {
	Quick  []func(*verdict.Report)
	Rules  []Rule        // that read the same rows, and never change the verdict
	Reader func(*Reader) // sets the reader up; nil: it stays as it is
}

// Check is [merge.Check].
func Check(ctx context.Context, sources []catalog.Source, opts rules.Options, with With) (*verdict.Report, error) {
	started := opts.WithDefaults().Stamp()
	f, err := DescribeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	return Described(ctx, f, started, with)
}

// Described checks databases of which the options are resolved. started is for the report.
func Described(ctx context.Context, f *Facts, started time.Time, with With) (*verdict.Report, error) {
	leaving, err := leave.Prepare(f.Resolved)
	if err != nil {
		return nil, err
	}
	if err := rules.Withhold(f.Resolved); err != nil {
		return nil, err
	}
	return carryOut(ctx, f, started, Rules(with.Rules...), with, leaving)
}

// Merged checks one database, into which others were merged: it carries out the rules that
// judge a database by itself.
func Merged(ctx context.Context, source catalog.Source, opts rules.Options) (*verdict.Report, error) {
	started := opts.WithDefaults().Stamp()
	f, err := describe(ctx, []catalog.Source{source}, opts)
	if err != nil {
		return nil, err
	}
	rules := slices.DeleteFunc(Rules(), func(r Rule) bool { return !r.Single })
	return carryOut(ctx, f, started, rules, With{}, nil)
}

// carryOut reads what the rules need, and reports what they find.
func carryOut(ctx context.Context, f *Facts, started time.Time, rules []Rule,
	with With, leaving *leave.Leaving) (*verdict.Report, error) {
	r := newRun(f, started)
	r.rules, r.leaving = rules, leaving
	if with.Reader != nil {
		with.Reader(r.reader)
	}
	r.judgeCatalogs()
	if err := r.establish(ctx, with); err != nil {
		return r.report(reasonOf(ctx, err)), err
	}
	return r.report(""), nil
}

// establish reads all that the rules need, in between two looks at the tables that
// are in no snapshot.
func (r *run) establish(ctx context.Context, with With) error {
	before, err := takeStamps(ctx, r.facts)
	if err != nil {
		return err
	}
	if err := r.findEnds(ctx); err != nil {
		return err
	}
	for _, report := range with.Quick {
		report(r.report("the keys have not been read yet"))
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
	if read, ok := errors.AsType[*catalog.ReadError](err); ok {
		return read.Reason()
	}
	return err.Error()
}
