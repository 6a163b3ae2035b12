package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
)

// Progress tells how far a check has come.
type Progress struct {
	Code   string // of the rule that reads
	Source string
	Table  string
	Rows   int64 // read so far by this rule from this table of this source
	Total  int64 // that it reads at most: how many the table has

	// SourceRows of SourceTotal are done of what all rules have to go through
	// in this source. The total is exact, from counted rows, and rises only if
	// a finding makes further reading necessary.
	SourceRows, SourceTotal int64
}

// Check looks at two or more databases that are to be merged and reports what
// stands against it. It only reads.
//
// With a report and no error, every rule could be carried out. An error that
// wraps [ErrSources] or [ErrOptions] tells that there is nothing to check; then
// there is no report. Any other error is a [*ReadError] naming source and table:
// one could not be read, or ctx ended. With it comes what was established until
// then, as a report that is incomplete and has no verdict, unless not even the
// catalogues could be read.
func Check(ctx context.Context, sources []Source, opts Options) (*Report, error) {
	c := &checker{opts: opts.withDefaults()}
	c.started = c.clock()
	if err := c.open(ctx, sources); err != nil {
		return nil, err
	}
	err := c.quick(ctx)
	if err == nil {
		if c.opts.Quick != nil {
			c.opts.Quick(c.report("the keys are not yet read"))
		}
		err = c.exact(ctx)
	}
	if err != nil {
		return c.report(reasonOf(ctx, err)), err
	}
	return c.report(""), nil
}

// reasonOf says why a check did not come to its end.
func reasonOf(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return strings.TrimPrefix(err.Error(), "merge: ")
}

// quick is what needs no reading of rows.
func (c *checker) quick(ctx context.Context) error {
	c.checkServers()
	c.checkSchema()
	c.checkUnseen()
	return c.countRows(ctx)
}

func (c *checker) planAll() {
	c.planKeys()
	c.planUniques()
	c.planReferences()
	c.planAccounts()
	c.planOpaque()
}

// exact reads the rows, one task after the other.
func (c *checker) exact(ctx context.Context) error {
	c.planAll()
	c.planProposals()
	for len(c.tasks) > 0 { // one may add others
		t := c.tasks[0]
		c.tasks = c.tasks[1:]
		if err := t.run(ctx); err != nil {
			return err
		}
		c.finish(t)
	}
	return nil
}

// checker is one run of Check.
type checker struct {
	opts      Options
	started   time.Time
	dbs       []*database // as given
	target    *database
	tables    []string // of all databases, sorted
	results   []Result
	proposals []Proposal
	tasks     []task  // still to be done
	matrix    *matrix // that c is a pair of, which reads for all of them; or nil

	// alike are the tables that seem to be the same in every source.
	alike map[string]bool

	// disjoint are the keys, by table and columns, of which no value is there
	// twice.
	disjoint map[string]bool
}

// database is a source together with what it said of itself.
type database struct {
	Source
	name     string
	catalog  *Catalog
	tables   map[string]*Table
	servers  []Server // by number
	listed   map[gameid.ServerID]Server
	skipped  []Skipped
	excluded []string         // tables, by the operator
	tallies  tallies          // of all its keys
	rows     map[string]int64 // by table, as counted
	ranges   map[string]keyRange
	sampled  map[string][]member // by table, to look into
	work     work
}

func (c *checker) open(ctx context.Context, sources []Source) error {
	if err := c.opts.validate(); err != nil {
		return err
	}
	c.disjoint, c.alike = make(map[string]bool), make(map[string]bool)
	if len(sources) < 2 {
		return fmt.Errorf("merge: %w: got %d, want at least 2", ErrSources, len(sources))
	}
	byName := make(map[string]*database)
	for _, s := range sources {
		db := &database{
			Source: s, name: s.Name(),
			tables: make(map[string]*Table),
			rows:   make(map[string]int64),
			ranges: make(map[string]keyRange), sampled: make(map[string][]member),
		}
		if byName[db.name] != nil {
			return fmt.Errorf("merge: %w: two are named %q; a report could not tell them apart", ErrSources, db.name)
		}
		byName[db.name] = db
		c.dbs = append(c.dbs, db)
	}
	c.target = c.dbs[0]
	if c.opts.Target != "" {
		if c.target = byName[c.opts.Target]; c.target == nil {
			return fmt.Errorf("merge: %w: the target %q is none of them", ErrSources, c.opts.Target)
		}
	}
	for _, db := range c.dbs {
		if err := db.describe(ctx); err != nil {
			return err
		}
		db.skipped = db.catalog.Skipped
		db.tallies = newTallies(db)
	}
	for _, db := range c.dbs {
		// Two engines do not agree on which texts are equal, so the target's
		// opinion about another engine's rows cannot be had.
		if db.catalog.Engine != c.target.catalog.Engine {
			return fmt.Errorf("merge: %w: %q is %s and %q is %s: copy one into a database of the other kind and check that",
				ErrSources, c.target.name, c.target.catalog.Engine, db.name, db.catalog.Engine)
		}
	}
	if err := c.resolve(); err != nil {
		return err
	}
	if err := c.exclude(); err != nil {
		return err
	}
	c.listTables()
	return nil
}

// listTables notes which tables there are.
func (c *checker) listTables() {
	for _, db := range c.dbs {
		for name := range db.tables {
			c.tables = append(c.tables, name)
		}
	}
	slices.Sort(c.tables)
	c.tables = slices.Compact(c.tables)
}

// describe reads the catalogue and the registry.
func (db *database) describe(ctx context.Context) error {
	fail := func(doing string, err error) error {
		return &ReadError{Source: db.name, Doing: doing, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return fail("the catalogue", err)
	}
	var err error
	if db.catalog, err = db.Catalog(ctx); err != nil {
		return fail("the catalogue", err)
	}
	for i := range db.catalog.Tables {
		t := &db.catalog.Tables[i]
		if db.tables[t.Name] != nil {
			return fail("the catalogue", fmt.Errorf("it lists table %q twice", t.Name))
		}
		db.tables[t.Name] = t
	}
	if !db.catalog.HasRegistry {
		return nil
	}
	if db.servers, err = db.Servers(ctx); err != nil {
		return fail("the registry", err)
	}
	db.servers = slices.Clone(db.servers)
	slices.SortFunc(db.servers, func(a, b Server) int { return cmp.Compare(a.Server, b.Server) })
	db.listed = make(map[gameid.ServerID]Server)
	for _, s := range db.servers {
		if err := s.Server.Validate(); err != nil {
			return fail("the registry", err)
		}
		if _, twice := db.listed[s.Server]; twice {
			return fail("the registry", fmt.Errorf("it lists server %s twice", s.Server))
		}
		if s.Reserved < 0 || s.Reserved > gameid.MaxMillis {
			return fail("the registry", fmt.Errorf("the mark of server %s is %d ms, want 0 to %d", s.Server, s.Reserved, gameid.MaxMillis))
		}
		db.listed[s.Server] = s
	}
	return nil
}

// model returns the definition of a table that the others are held against:
// the target's, or the first there is.
func (c *checker) model(table string) (*database, *Table) {
	if t := c.target.tables[table]; t != nil {
		return c.target, t
	}
	for _, db := range c.dbs {
		if t := db.tables[table]; t != nil {
			return db, t
		}
	}
	return nil, nil
}

// add concludes a result and keeps it, if it is wanted. What to do follows from
// the code, after what the rule itself had to say.
func (c *checker) add(r Result) { c.addWith("", r) }

// addWith is add where something else is to be done about a FAIL; "" is what
// the code says.
func (c *checker) addWith(action string, r Result) {
	if !c.wants(r.Code, r.Table, r.Subject) {
		return
	}
	switch {
	case r.Count > 0:
		r.Verdict = Fail
	case len(r.Gaps) > 0:
		r.Verdict = NotVerified
	default:
		r.Verdict = Pass
	}
	switch {
	case r.Verdict != Pass && slices.Contains(c.opts.Allow, r.Code):
		r.CountsAs = Pass
	case r.Verdict == NotVerified && slices.Contains(c.opts.FailOn, r.Code):
		r.CountsAs = Fail
	}
	if r.Count > 0 {
		if action == "" {
			action = documented(r.Code).Action
		}
		r.Next = append(r.Next, action)
	}
	if len(r.Gaps) > 0 {
		r.Next = append(r.Next, documented(r.Code).Unverified)
	}
	c.results = append(c.results, r)
}

// report concludes what was found. incomplete says why that is not all; "" if
// it is.
func (c *checker) report(incomplete string) *Report {
	results := slices.Clone(c.results)
	if incomplete == "" {
		results = append(results, c.unanswered()...)
	}
	ranks := ranks()
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(ranks[a.Code], ranks[b.Code]),
			strings.Compare(a.Table, b.Table),
			strings.Compare(a.Subject, b.Subject),
		)
	})
	r := &Report{
		Version:    ReportVersion,
		Incomplete: incomplete,
		Started:    c.started,
		Target:     c.target.name,
		Only:       c.opts.Only,
		Results:    results,
		Proposals:  slices.Clone(c.proposals),
	}
	if incomplete == "" {
		r.Verdict = worst(results)
	}
	for _, db := range c.dbs {
		r.Sources = append(r.Sources, db.summary())
	}
	r.Finished = c.clock()
	return r
}

// unanswered are the selections to which there is no result: what they name is
// no longer there.
func (c *checker) unanswered() (results []Result) {
	for _, s := range c.opts.Only {
		if slices.ContainsFunc(c.results, func(r Result) bool { return s.matches(r.Code, r.Table, r.Subject) }) {
			continue
		}
		results = append(results, Result{
			Code: s.Code, Table: s.Table, Subject: s.Subject, Verdict: NotVerified,
			Message: "there is no such check now",
			Gaps:    []Gap{{Reason: "nothing in these databases answers to it: the schema or the sources are not those of the earlier report"}},
			Next:    []string{"run the whole check again"},
		})
	}
	return results
}

// clock is what stamps the report, in the precision that people and JSON see.
func (c *checker) clock() time.Time { return c.opts.Clock().UTC().Truncate(time.Millisecond) }

// worst is the verdict of all results together. Nothing looked at is nothing
// verified.
func worst(results []Result) Verdict {
	verdict := NotVerified
	for i, r := range results {
		switch v := r.counts(); {
		case v == Fail:
			return Fail
		case v == Pass && i == 0:
			verdict = Pass
		case v != Pass:
			verdict = NotVerified
		}
	}
	return verdict
}
