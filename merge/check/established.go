package check

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Allowed reports whether the operator allows what a result says, and so a merge may be carried
// out nevertheless; said is true also if the operator says so of what cannot be allowed.
func (f *Facts) Allowed(r *verdict.Result) (allowed, said bool) {
	said = slices.ContainsFunc(f.allowances, func(a verdict.Allowance) bool { return a.Allows(r) })
	return said && !(r.Verdict == verdict.Fail && verdict.Unallowable(r.Code)), said
}

// Facts are what the rules judge by, besides the rows that were read for them: what was
// declared, and what earlier passes established. Rules only read them.
type Facts struct {
	*rules.Resolved
	allowances []verdict.Allowance // of opts

	Twins []twin // databases that are one, or may be

	// What passes found out that other rules build on:

	// Failed are the codes with a conflict, of those that are wanted.
	Failed map[string]bool

	// Alike are the tables that seem to be the same in every source.
	Alike map[string]bool

	// Servers are those of the IDs in a column of a database, of the columns of which
	// all IDs were read.
	Servers map[rules.ColumnsID]map[*rules.Database]map[gameid.ServerID]bool

	// IDs are those of such columns that refer to another one, or are referred to.
	IDs map[rules.ColumnsID]map[*rules.Database]*hashes

	// Values are those that were kept of columns while the keys were read.
	Values map[*rules.Database]*valueKeeper

	// Disjoint tells of keys whether none of their values is there twice.
	Disjoint map[rules.ColumnsID]bool

	// Complete tells of columns whether they are a reference of which every row leads
	// somewhere, in every database.
	Complete map[rules.ColumnsID]bool

	// Rekeyed is what becomes of the keys of sources; nil if they stay, or if they would
	// move and cannot.
	Rekeyed *Rekeyed

	// Stays are the rows that stay behind, by database and table; nil as long as they are not known.
	Stays map[*rules.Database]map[string]*rules.Stays
}

// twin are two databases that are one, under two names; or that may be, and Unclear says why that is not known.
type twin struct {
	A, B    *rules.Database
	Unclear string
}

// twins compares each two databases that can be compared.
func twins(ctx context.Context, dbs []*rules.Database) (all []twin, err error) {
	for i, a := range dbs {
		placed, ok := a.Opened.(catalog.Placed)
		if !ok {
			continue
		}
		for _, b := range dbs[i+1:] {
			same, unclear, err := placed.SameDatabase(ctx, b.Opened)
			if err != nil {
				return nil, &catalog.ReadError{World: b.Name, Doing: "where the database is", Err: err}
			}
			if same || unclear != "" {
				all = append(all, twin{a, b, unclear})
			}
		}
	}
	return all, nil
}

// Cleared are the keys of rows that stay behind, if a reference that names one is cleared; nil if none is.
func (f *Facts) Cleared(db *rules.Database, ref *rules.Ref) *keys.Set {
	if s := f.Stays[db][ref.ToTable]; s != nil && ref.Declared.Gone == rules.GoneNone && len(ref.Or) == 0 {
		return s.Keys
	}
	return nil
}

// newFacts returns facts of which nothing is established yet.
func newFacts(resolved *rules.Resolved) *Facts {
	return &Facts{Resolved: resolved, Failed: make(map[string]bool), Alike: make(map[string]bool),
		Servers:  make(map[rules.ColumnsID]map[*rules.Database]map[gameid.ServerID]bool),
		IDs:      make(map[rules.ColumnsID]map[*rules.Database]*hashes),
		Values:   make(map[*rules.Database]*valueKeeper),
		Disjoint: make(map[rules.ColumnsID]bool), Complete: make(map[rules.ColumnsID]bool)}
}

// DescribeAll resolves the declarations against several databases, and returns facts of which
// nothing is established yet.
func DescribeAll(ctx context.Context, sources []catalog.Source, opts rules.Options) (*Facts, error) {
	if len(sources) < 2 {
		return nil, fmt.Errorf("merge: %w: got %d, want at least 2", catalog.ErrWorlds, len(sources))
	}
	return describe(ctx, sources, opts)
}

func describe(ctx context.Context, sources []catalog.Source, opts rules.Options) (*Facts, error) {
	opts = opts.WithDefaults()
	allowances, err := verdict.Allowances(opts)
	if err != nil {
		return nil, err
	}
	resolved, err := rules.ResolveAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	for _, a := range allowances {
		if err := a.Resolve(resolved.Names); err != nil {
			return nil, err
		}
	}
	f := newFacts(resolved)
	f.allowances = allowances
	f.Twins, err = twins(ctx, resolved.DBs)
	return f, err
}
