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

// The defaults of [Options].
const (
	DefaultSamples = 3

	// DefaultSlack is more than what a healthy game server needs: the clock
	// disagreement at which it refuses to start, and the reservation by which
	// its IDs may run ahead.
	DefaultSlack = 10 * time.Minute
)

// Options are what may be chosen about a check. The zero value means the
// defaults.
type Options struct {
	// Target names the source that the others would be merged into. Its
	// schema and its collations count. The default is the first.
	Target string

	// Samples is how many conflicts a result shows: 0 is [DefaultSamples], a
	// negative number none. Counts are exact whatever it is.
	Samples int

	// Slack is how much later than the clock an ID may be before it counts as
	// from the future: 0 is [DefaultSlack].
	Slack time.Duration

	// Now is the time to compare IDs with. The default is the clock of the
	// database that holds them.
	Now time.Time

	// Progress, if not nil, is called after every batch that was read, by the
	// goroutine that called [Check]. It never changes the result.
	Progress func(Progress)

	// Clock stamps the start and the end of the report. The default is
	// [time.Now].
	Clock func() time.Time
}

// Progress tells how far a check has come.
type Progress struct {
	Code   string // of the rule that reads
	Source string
	Table  string
	Rows   int64 // read so far by this rule from this table of this source
}

// Check looks at two or more databases that are to be merged and reports what
// stands against it. It only reads.
//
// It returns a report or an error, never both. An error wraps [ErrSources] if
// the sources cannot be checked together, and is a [*ReadError] naming source
// and table if one could not be read or ctx ended.
func Check(ctx context.Context, sources []Source, opts Options) (*Report, error) {
	opts = opts.withDefaults()
	c := &checker{opts: opts}
	started := c.clock()
	if err := c.open(ctx, sources); err != nil {
		return nil, err
	}
	for _, rule := range []func(context.Context) error{
		c.checkServers,
		c.checkSchema,
		c.checkKeys,
		c.checkUniques,
		c.checkReferences,
		c.checkUnseen,
	} {
		if err := rule(ctx); err != nil {
			return nil, err
		}
	}
	return c.report(started), nil
}

func (o Options) withDefaults() Options {
	if o.Samples == 0 {
		o.Samples = DefaultSamples
	}
	if o.Slack == 0 {
		o.Slack = DefaultSlack
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// checker is one run of Check.
type checker struct {
	opts    Options
	dbs     []*database // as given
	target  *database
	tables  []string // of all databases, sorted
	results []Result
}

// database is a source together with what it said of itself.
type database struct {
	Source
	name    string
	catalog *Catalog
	tables  map[string]*Table
	servers []Server // by number
	listed  map[gameid.ServerID]Server
	tallies tallies          // of all its keys
	rows    map[string]int64 // by table, where they were counted
}

func (c *checker) open(ctx context.Context, sources []Source) error {
	if len(sources) < 2 {
		return fmt.Errorf("merge: %w: got %d, want at least 2", ErrSources, len(sources))
	}
	byName := make(map[string]*database)
	for _, s := range sources {
		db := &database{
			Source: s, name: s.Name(),
			tables: make(map[string]*Table),
			rows:   make(map[string]int64),
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
		for name := range db.tables {
			c.tables = append(c.tables, name)
		}
	}
	for _, db := range c.dbs {
		// Two engines do not agree on which texts are equal, so the target's
		// opinion about another engine's rows cannot be had.
		if db.catalog.Engine != c.target.catalog.Engine {
			return fmt.Errorf("merge: %w: %q is %s and %q is %s: copy one into a database of the other kind and check that",
				ErrSources, c.target.name, c.target.catalog.Engine, db.name, db.catalog.Engine)
		}
	}
	slices.Sort(c.tables)
	c.tables = slices.Compact(c.tables)
	return nil
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

// add concludes a result and keeps it. What to do follows from the code, after
// what the rule itself had to say.
func (c *checker) add(r Result) {
	switch {
	case r.Count > 0:
		r.Verdict = Fail
	case len(r.Gaps) > 0:
		r.Verdict = NotVerified
	default:
		r.Verdict = Pass
	}
	if r.Count > 0 {
		r.Next = append(r.Next, documented(r.Code).Action)
	}
	if len(r.Gaps) > 0 {
		r.Next = append(r.Next, documented(r.Code).Unverified)
	}
	c.results = append(c.results, r)
}

func (c *checker) report(started time.Time) *Report {
	ranks := ranks()
	slices.SortStableFunc(c.results, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(ranks[a.Code], ranks[b.Code]),
			strings.Compare(a.Table, b.Table),
			strings.Compare(a.Subject, b.Subject),
		)
	})
	r := &Report{
		Version: ReportVersion,
		Verdict: worst(c.results),
		Started: started,
		Target:  c.target.name,
		Results: c.results,
	}
	for _, db := range c.dbs {
		r.Sources = append(r.Sources, db.summary())
	}
	r.Finished = c.clock()
	return r
}

// clock is what stamps the report, in the precision that people and JSON see.
func (c *checker) clock() time.Time { return c.opts.Clock().UTC().Truncate(time.Millisecond) }

// worst is the verdict of all results together. Nothing looked at is nothing
// verified.
func worst(results []Result) Verdict {
	verdict := NotVerified
	for i, r := range results {
		switch {
		case r.Verdict == Fail:
			return Fail
		case r.Verdict == Pass && i == 0:
			verdict = Pass
		case r.Verdict != Pass:
			verdict = NotVerified
		}
	}
	return verdict
}
