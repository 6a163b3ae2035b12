package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// Reader reads rows to answer the questions of rules. It knows how columns
// compare and what IDs look like, and leaves to the rules what the answers
// mean.
type Reader struct {
	Facts    *Facts
	Progress *stream.Progress

	// sampled are a few rows of a table, to look into.
	sampled map[sampledTable][]stream.Member

	Kept Memory // for the whole check

	First  int // how many rows of a large table are looked at first
	Others int // bytes that values of all worlds may take that are no numbers and are kept until the keys are known
}

// Memory is what tasks read once and others use again, by keys of types of their own.
type Memory map[any]any

// firstRows are enough to see of most columns that are open that they are.
const (
	firstRows = 1024
	maxOthers = 64 << 20
)

func NewReader(f *Facts, p *stream.Progress) *Reader {
	return &Reader{Facts: f, Progress: p, sampled: make(map[sampledTable][]stream.Member), Kept: make(Memory), First: firstRows, Others: maxOthers}
}

// Question is what a pass over some columns of a table is to find out.
type Question struct {
	Code     string // of the rule that asks
	Table    string
	Columns  []string
	SkipNull bool
	ids      bool // judge the IDs in the rows along the way
	names    bool // keep the values of the only column for who asks which columns repeat them

	// Across counts only the values of one column that several worlds have, in
	// more than most rows together; 0 is any number of rows. A value that is 0
	// or empty does not count.
	Across bool
	Most   int64

	// None are values that do not count, as any of the columns has them.
	None keys.Values

	// Nobody are further values that do not count, by the column that has them.
	Nobody map[string]keys.Values

	// when, if not nil, counts the rows of collisions for which it does not hold.
	when *rules.When
}

// Reading is the answer to a question.
type Reading struct {
	Parts          []part        // the sources that took part
	Gaps           []verdict.Gap // why the others did not
	stream.Repeats               // its rows belong to parts, one by one
	Samples        []verdict.Sample
	IDs            []idColumn
	Crowds         crowds // if the question is about values across sources

	Combined bool  // see combinesAll
	OneKey   int64 // the rows that it leaves out
}

// part is what was read of one world.
type part struct {
	DB    *rules.Database
	Read  int64 // rows
	Nulls int64 // of these, the ones with a NULL in the columns
	Ends  stream.KeyRange
}

// RowsRead counts the rows that were read of all worlds.
func (r *Reading) RowsRead() (n int64) {
	for _, p := range r.Parts {
		n += p.Read
	}
	return n
}

// crowds counts values that are in several worlds.
type crowds struct {
	most   int64 // rows that one may have; 0: any number
	Shared int64 // values that are in several worlds
	Over   int64 // rows that are too many
}

// wanted counts a value, and reports whether it has too many rows since it is
// in several worlds.
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
	c.Shared++
	if c.most == 0 || all <= c.most {
		return false
	}
	c.Over += all - c.most
	return true
}

// keyReading is what was read of the key of a table.
type keyReading struct {
	Table string
	Key   []string // nil: there is none, and only the IDs were read
	*Reading
}

// key reads the key of a table in every source that has it, and judges the IDs
// in its rows.
func (r *Reader) key(ctx context.Context, table string) (*keyReading, error) {
	_, model := r.Facts.ModelOf(table)
	key := model.Key()
	q := Question{Code: verdict.CodeKeyCollision, Table: table, Columns: key, ids: true, when: r.Facts.Combined[table].Condition()}
	var found *Reading
	var err error
	if key == nil {
		found, err = r.idsAlone(ctx, table)
	} else if found, err = keysApart(ctx, r, q); found == nil && err == nil {
		found, err = r.Read(ctx, q)
	}
	return &keyReading{table, key, found}, err
}

// Read streams the columns of a table from all worlds that have it, merges
// them, and counts the values that are there more than once.
func (r *Reader) Read(ctx context.Context, q Question) (*Reading, error) {
	p, err := r.pass(ctx, q)
	if err != nil {
		return nil, err
	}
	a := &Reading{Gaps: slices.Clip(p.gaps), Repeats: p.found.Repeats, Crowds: *p.crowds}
	for _, s := range p.streams {
		a.Parts = append(a.Parts, part{s.DB, s.Read, s.Nulls, keyRange(s)})
	}
	if a.Samples, err = r.Samples(ctx, p.found.Kept, q.Table, q.Columns); err != nil {
		return nil, err
	}
	if p.renamed != nil {
		p.renamed("")
	}
	for db, filter := range p.names {
		r.Kept[filteredNames{db, q.Table, q.Columns[0]}] = filter
	}
	a.IDs, err = r.byColumn(ctx, q.Table, p.ids)
	return a, err
}

// pass is one reading of a table in several worlds.
type pass struct {
	streams []*stream.Stream
	gaps    []verdict.Gap
	ids     []*idScan
	found   *stream.Collisions
	crowds  *crowds
	names   map[*rules.Database]*nameFilter
	renamed func(gap string) // ends the names that are to be changed; nil: they are not asked for
}

// unreadable says of an error of a reading why a column cannot be read; "" if it is another error, or none.
func unreadable(err error) (why string, other error) {
	if unsupported, is := errors.AsType[*catalog.UnsupportedError](err); is {
		return unsupported.Error(), nil
	}
	return "", err
}

// exclusions are sources that cannot take part in a pass, and why.
type exclusions map[*rules.Database]string

// pass reads for Read.
func (r *Reader) pass(ctx context.Context, q Question) (*pass, error) {
	var p *pass
	err := r.Retry(func(excluded exclusions) (err error) {
		p, err = r.passWithout(ctx, q, excluded, true)
		if _, unsupported := errors.AsType[*catalog.UnsupportedError](err); unsupported && q.ids { // perhaps a column that is only kept
			p, err = r.passWithout(ctx, q, excluded, false)
		}
		return err
	})
	return p, err
}

// passWithout reads for Read in all sources that are not excluded. keep says to keep values for other rules too.
func (r *Reader) passWithout(ctx context.Context, q Question, excluded exclusions, keep bool) (*pass, error) {
	p := new(pass)
	p.streams, p.gaps = r.keyStreams(q.Code, q.Table, q.Columns, excluded)
	apart := r.Facts.Rekeyed.tellsApart(q.Table, q.Columns)
	for _, s := range p.streams {
		s.Scan.SkipNull = q.SkipNull
		if apart {
			s.Unable = nil // no row is equal to one of another world, so the other columns may be as they were
		}
	}
	if q.ids {
		p.ids = r.judgeIDs(q.Table, p.streams)
		if !r.Facts.Opts.Unshown && len(r.Facts.Opaque(q.Table)) > 0 {
			for _, s := range p.streams {
				s.Visit = append(s.Visit, r.sampler(s))
			}
		}
	}
	p.found, p.crowds = q.counting()
	if q.names {
		r.keepNames(q, p)
	}
	if q.Across {
		value := valueOf(q.Columns[0], p.streams)
		p.found.Ignore = func(at stream.Position) bool { return keys.IsZero(value(at)) }
	}
	if !q.None.Empty() || len(q.Nobody) > 0 {
		p.found.Ignore = ofNone(q, p.streams)
	}
	if q.when != nil {
		value := valueOf(q.when.Column, p.streams)
		p.found.Outside = func(at stream.Position) bool { return !q.when.Holds(value(at)) }
	}
	if !q.Across {
		var err error
		if p.found.Names, err = r.toldApart(ctx, q, p.streams); err != nil {
			return nil, err
		}
	}
	var kept []*valueKeeper
	if q.ids && keep {
		kept = r.keepValues(p.streams)
	}
	err := p.found.Count(ctx, p.streams)
	for _, k := range kept {
		if err != nil {
			k.forget(q.Table)
		} else {
			k.finish(q.Table)
		}
	}
	return p, err
}

// keepNames has a pass keep the values of its only column, for who asks later which columns repeat them and which names change.
func (r *Reader) keepNames(q Question, p *pass) {
	open, column := OpenReader{Reader: r}, q.Columns[0]
	if c := open.renamedUnread(q.Table, column); c != nil && len(p.gaps) == 0 {
		p.found.Each, p.renamed = open.commonNames(*c, p.streams)
	}
	p.names = make(map[*rules.Database]*nameFilter)
	for _, s := range p.streams {
		if holdsNames(s.DB.Tables[q.Table].Column(column)) {
			p.names[s.DB] = open.filterNames(s, column)
		}
	}
}

// ofNone returns what tells of a row that it has a value which does not count.
func ofNone(q Question, streams []*stream.Stream) func(at stream.Position) bool {
	columns := slice.Map(streams, func(s *stream.Stream) []int { return slice.Map(q.Columns, s.Carry) })
	return func(at stream.Position) bool {
		for i, c := range columns[at.Stream.Index] {
			v, nobody := at.Stream.CarriedAt(c, at.Row), q.Nobody[q.Columns[i]]
			if q.None.Has(v) || nobody.Has(v) {
				return true
			}
		}
		return false
	}
}

// counting returns what counts the runs that the question is about.
func (q Question) counting() (*stream.Collisions, *crowds) {
	found, crowds := &stream.Collisions{Samples: rules.Samples}, &crowds{most: q.Most}
	if q.Across {
		found.Wanted = crowds.wanted
	}
	return found, crowds
}

// Retry repeats a pass without the sources that turn out, on the way, to be
// unable to sort and compare their rows, so that what is counted of the others
// is exact.
func (r *Reader) Retry(pass func(exclusions) error) error {
	excluded := make(exclusions)
	for {
		err := pass(excluded)
		read, isRead := errors.AsType[*catalog.ReadError](err)
		unsupported, isUnsupported := errors.AsType[*catalog.UnsupportedError](err)
		if !isRead || !isUnsupported {
			return err
		}
		i := slices.IndexFunc(r.Facts.DBs, func(db *rules.Database) bool { return db.Name == read.World })
		if i < 0 || excluded[r.Facts.DBs[i]] != "" {
			return err
		}
		excluded[r.Facts.DBs[i]] = unsupported.Error()
	}
}

// Stream prepares to read a scan of a world for the rule with a code. names is
// how many columns of Carry name a row.
func (r *Reader) Stream(db *rules.Database, code string, names int, scan catalog.Scan) *stream.Stream {
	s := &stream.Stream{DB: db, Scan: scan, Names: names}
	for i := range s.Scan.Order {
		if o := &s.Scan.Order[i]; o.Shift == nil {
			var unable error
			if o.Shift, unable = r.Facts.Rekeyed.Shift(db, scan.Table, o.Column); s.Unable == nil {
				s.Unable = unable
			}
		}
	}
	s.Progress = r.Progress.Of(s, code)
	return s
}

// keyStreams prepares to read the columns in every database that has them, in
// the order of the model, and says which have not, or do not read the table. A
// database without the table has no rows; schema-table reports it.
func (r *Reader) keyStreams(code, table string, columns []string, excluded exclusions) (streams []*stream.Stream, gaps []verdict.Gap) {
	owner, model := r.Facts.ModelOf(table)
	for db, t := range r.Facts.Having(table) {
		reason := excluded[db]
		if reason == "" {
			reason = incomparable(t, columns, owner, model, columns)
		}
		if reason != "" {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: reason})
			continue
		}
		carry := t.RowKey(columns)
		s := r.Stream(db, code, len(carry), catalog.Scan{Table: table, Order: catalog.OrderBy(columns, model), Carry: slices.Clip(carry)})
		s.Strict = t.Unique(columns, model)
		streams = append(streams, s)
	}
	for _, db := range r.Facts.DBs {
		if reason := db.Unread(table); reason != "" {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: reason})
		}
	}
	return streams, gaps
}

// incomparable says why values of some columns of one table cannot be compared
// with those of the model, or returns "".
func incomparable(t *catalog.Table, columns []string, owner *rules.Database, model *catalog.Table, modelColumns []string) string {
	for i, name := range columns {
		col, want := t.Column(name), model.Column(modelColumns[i])
		switch {
		case col == nil:
			return "has no column " + name
		case want == nil:
			return owner.Name + " has no column " + modelColumns[i]
		case !col.Comparable(want):
			return fmt.Sprintf("column %s is %s, and %s in %s: the values cannot be compared", name, col.Declared(), want.Declared(), owner.Name)
		}
	}
	return ""
}

// valueOf makes streams carry a column, and returns what gives its value in a row.
func valueOf(column string, streams []*stream.Stream) func(at stream.Position) []byte {
	places := slice.Map(streams, func(s *stream.Stream) int { return s.Carry(column) })
	return func(at stream.Position) []byte { return at.Stream.CarriedAt(places[at.Stream.Index], at.Row) }
}
