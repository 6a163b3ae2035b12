package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/rekey"
)

// reader reads rows to answer the questions of rules. It knows how columns
// compare and what IDs look like, and leaves to the rules what the answers
// mean.
type reader struct {
	facts    *facts
	progress *progress
	shared   *sharedReader // reads for all pairs of a matrix; nil for a check

	// sampled are a few rows of a table, to look into.
	sampled map[sampledTable][]member

	keys *candidateKeys // of a check; see undeclaredKeys

	first int // how many rows of a large table are looked at first
}

func newReader(f *facts, p *progress) *reader {
	return &reader{facts: f, progress: p, sampled: make(map[sampledTable][]member), first: firstRows}
}

// question is what a pass over some columns of a table is to find out.
type question struct {
	code     string // of the rule that asks
	table    string
	columns  []string
	skipNull bool
	ids      bool // judge the IDs in the rows along the way

	// across counts only the values of one column that several sources have, in
	// more than most rows together; 0 is any number of rows. A value that is 0
	// or empty does not count.
	across bool
	most   int64

	// none are values that do not count, as any of the columns has them.
	none rekey.Values

	// nobody are values of single columns that do not count either.
	nobody map[string]rekey.Values

	// when, if not nil, counts the rows of collisions for which it does not hold.
	when *When
}

// reading is the answer to a question.
type reading struct {
	parts   []part // the sources that took part
	gaps    []Gap  // why the others did not
	repeats        // its rows belong to parts, one by one
	samples []Sample
	ids     []idColumn
	crowds  crowds // if the question is about values across sources

	combined bool // see combinesAll
}

// part is what was read of one source.
type part struct {
	db    *database
	read  int64 // rows
	nulls int64 // of these, the ones with a NULL in the columns
	ends  keyRange
}

// rowsRead counts the rows that were read of all sources.
func (r *reading) rowsRead() (n int64) {
	for _, p := range r.parts {
		n += p.read
	}
	return n
}

// crowds counts values that are in several sources.
type crowds struct {
	most   int64 // rows that one may have; 0: any number
	shared int64 // values that are in several sources
	over   int64 // rows that are too many
}

// wanted counts a value, and reports whether it has too many rows since it is
// in several sources.
func (c *crowds) wanted(rows []int64) bool {
	sources, all := 0, int64(0)
	for _, n := range rows {
		all += n
		if n > 0 {
			sources++
		}
	}
	if sources < 2 {
		return false
	}
	c.shared++
	if c.most == 0 || all <= c.most {
		return false
	}
	c.over += all - c.most
	return true
}

// keyReading is what was read of the key of a table.
type keyReading struct {
	table string
	key   []string // nil: there is none, and only the IDs were read
	*reading
}

// key reads the key of a table in every source that has it, and judges the IDs
// in its rows. It reads for the rule with code or, if there is no key, for that
// with idCode.
func (r *reader) key(ctx context.Context, table, code, idCode string) (*keyReading, error) {
	_, model := r.facts.model(table)
	key := model.key()
	q := question{code: code, table: table, columns: key, ids: true, when: r.facts.combined[table].when()}
	var found *reading
	var err error
	if key == nil {
		found, err = r.idsAlone(ctx, table, idCode)
	} else if found = keysApart(r, q); found == nil {
		found, err = r.read(ctx, q)
	}
	return &keyReading{table, key, found}, err
}

// read streams the columns of a table from all sources that have it, merges
// them, and counts the values that are there more than once.
func (r *reader) read(ctx context.Context, q question) (*reading, error) {
	p, err := r.passFor(ctx, q)
	if err != nil {
		return nil, err
	}
	a := &reading{gaps: slices.Clip(p.gaps), repeats: p.found.repeats, crowds: *p.crowds}
	for _, s := range p.streams {
		a.parts = append(a.parts, part{s.db, s.read, s.nulls, s.keyRange()})
	}
	if a.samples, err = r.samples(ctx, p.found.kept, q.table, q.columns); err != nil {
		return nil, err
	}
	a.ids, err = r.byColumn(ctx, q.table, p.ids)
	return a, err
}

func (r *reader) passFor(ctx context.Context, q question) (*pass, error) {
	if r.shared != nil {
		return r.shared.pass(ctx, r.facts, q)
	}
	p, _, err := r.pass(ctx, q, nil)
	return p, err
}

// pass is one reading of a table in several sources.
type pass struct {
	streams []*stream
	gaps    []Gap
	ids     []*idScan
	found   *collisions
	crowds  *crowds
}

// exclusions are sources that cannot take part in a pass, and why.
type exclusions map[*database]string

// pass does what read does, and also returns the sources that could not take
// part although they should. views, if not nil, may add views for the streams.
func (r *reader) pass(ctx context.Context, q question, views func(*pass) []view) (*pass, exclusions, error) {
	var p *pass
	without, err := r.retry(func(excluded exclusions) error {
		p = new(pass)
		p.streams, p.gaps = r.keyStreams(q.code, q.table, q.columns, excluded)
		apart := r.facts.rekeyed.tellsApart(q.table, q.columns)
		for _, s := range p.streams {
			s.scan.SkipNull = q.skipNull
			if apart {
				s.unable = nil // no row is equal to one of another world, so the other columns may be as they were
			}
		}
		if q.ids {
			p.ids = r.judgeIDs(q.table, p.streams)
			if r.facts.opts.Samples > 0 && len(r.facts.opaque(q.table)) > 0 {
				for _, s := range p.streams {
					s.visit = append(s.visit, r.sampler(s))
				}
			}
		}
		p.found, p.crowds = q.counting(r.facts.opts.Samples)
		if q.across {
			column := make([]int, len(p.streams))
			for i, s := range p.streams {
				column[i] = s.carry(q.columns[0])
			}
			p.found.ignore = func(at position) bool { return rekey.IsZero(at.stream.carriedAt(column[at.stream.index], at.row)) }
		}
		if !q.none.Empty() || len(q.nobody) > 0 {
			p.found.ignore = ofNone(q, p.streams)
		}
		if q.when != nil {
			p.found.outside = outside(q.when, p.streams)
		}
		if views != nil {
			p.found.views = views(p)
		}
		return p.found.count(ctx, p.streams)
	})
	return p, without, err
}

// ofNone returns what tells of a row that it has a value which does not count.
func ofNone(q question, streams []*stream) func(at position) bool {
	columns := make([][]int, len(streams))
	for i, s := range streams {
		for _, name := range q.columns {
			columns[i] = append(columns[i], s.carry(name))
		}
	}
	return func(at position) bool {
		for i, c := range columns[at.stream.index] {
			v, nobody := at.stream.carriedAt(c, at.row), q.nobody[q.columns[i]]
			if q.none.Has(v) || nobody.Has(v) {
				return true
			}
		}
		return false
	}
}

// counting returns what counts the runs that the question is about.
func (q question) counting(samples int) (*collisions, *crowds) {
	found, crowds := &collisions{samples: samples}, &crowds{most: q.most}
	if q.across {
		found.wanted = crowds.wanted
	}
	return found, crowds
}

// retry repeats a pass without the sources that turn out, on the way, to be
// unable to sort and compare their rows, so that what is counted of the others
// is exact. It returns these sources.
func (r *reader) retry(pass func(exclusions) error) (exclusions, error) {
	excluded := make(exclusions)
	for {
		err := pass(excluded)
		read, isRead := errors.AsType[*ReadError](err)
		unsupported, isUnsupported := errors.AsType[*UnsupportedError](err)
		if !isRead || !isUnsupported {
			return excluded, err
		}
		i := slices.IndexFunc(r.facts.dbs, func(db *database) bool { return db.name == read.Source })
		if i < 0 || excluded[r.facts.dbs[i]] != "" {
			return excluded, err
		}
		excluded[r.facts.dbs[i]] = unsupported.Error()
	}
}

// stream prepares to read a scan of a source for the rule with a code. names is
// how many columns of Carry name a row.
func (r *reader) stream(db *database, code string, names int, scan Scan) *stream {
	s := &stream{db: db, scan: scan, names: names}
	for i := range s.scan.Order {
		if o := &s.scan.Order[i]; o.Shift == nil {
			var unable error
			if o.Shift, unable = r.facts.rekeyed.shift(db, scan.Table, o.Column); s.unable == nil {
				s.unable = unable
			}
		}
	}
	s.progress = r.progress.of(s, code)
	return s
}

// keyStreams prepares to read the columns in every database that has them, in
// the order of the model, and says which have not, or do not read the table. A
// database without the table has no rows; schema-table reports it.
func (r *reader) keyStreams(code, table string, columns []string, excluded exclusions) (streams []*stream, gaps []Gap) {
	owner, model := r.facts.model(table)
	for db, t := range r.facts.having(table) {
		reason := excluded[db]
		if reason == "" {
			reason = incomparable(t, columns, owner, model, columns)
		}
		if reason != "" {
			gaps = append(gaps, Gap{db.name, reason})
			continue
		}
		carry := t.rowKey(columns)
		s := r.stream(db, code, len(carry), Scan{Table: table, Order: order(columns, model), Carry: slices.Clip(carry)})
		s.strict = t.unique(columns, model)
		streams = append(streams, s)
	}
	for _, db := range r.facts.dbs {
		if reason := db.unread(table); reason != "" {
			gaps = append(gaps, Gap{db.name, reason})
		}
	}
	return streams, gaps
}

// incomparable says why values of some columns of one table cannot be compared
// with those of the model, or returns "".
func incomparable(t *Table, columns []string, owner *database, model *Table, modelColumns []string) string {
	for i, name := range columns {
		col, want := t.column(name), model.column(modelColumns[i])
		switch {
		case col == nil:
			return "has no column " + name
		case want == nil:
			return owner.name + " has no column " + modelColumns[i]
		case !col.comparable(want):
			return fmt.Sprintf("column %s is %s, and %s in %s: the values cannot be compared", name, col.Type, want.Type, owner.name)
		}
	}
	return ""
}
