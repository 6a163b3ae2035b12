package propose

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// space is a column of keys, each of one row, that other columns may name.
type space struct {
	check.Candidate
	counts  bool // the database numbers it
	size    int64
	root    *space // another whose rows these belong to, one to one; nil: none
	same    bool   // in all databases: they are of the game's own data
	alike   bool   // the table looks the same in all databases, and nobody has said that it is
	differs bool   // alike, but only its keys are the same
	runs    bool   // keys were deleted in runs, so that low numbers may all be keys, or none
	sets    map[*rules.Database]*check.KeySet
}

func (s *space) String() string { return rules.Place(s.Table, s.Column) }

// others are the keys of the databases but one.
func (s *space) others(db *rules.Database) (all []*check.KeySet) {
	for other, set := range s.sets {
		if other != db {
			all = append(all, set)
		}
	}
	return all
}

// highest is the largest key of all databases.
func (s *space) highest() (n uint64) {
	for _, set := range s.sets {
		n = max(n, set.Integers.Highest())
	}
	return n
}

// examined is a column and what was read of it.
type examined struct {
	table  string
	column *catalog.Column
	place  keyPlace
	parts  []examinedPart // by database; none: it was not read
	unread string         // why not
}

// keyPlace is what part a column has in telling rows apart.
type keyPlace int

const (
	inNoKey    keyPlace = iota
	inKey               // one of several columns of a key
	singleKey           // a key alone
	countedKey          // and the database numbers it
)

// examinedPart is what was read of a column in one database.
type examinedPart struct {
	db     *rules.Database
	values columnSummary
	inside bool // fits are of numbers within texts
	fits   map[*space]fit
	firsts []keys.Integer // the values with the most rows
	lowest []keys.Integer // those with the lowest hashes: a sample of the distinct ones
	all    []keys.Integer // all, of a table that may be one of counters
}

// columnSummary is what is kept of the values of a column.
type columnSummary struct {
	rows, others, distinct int64
	nobody                 int64          // rows that name nobody, whatever the column names
	zero, minus            bool           // 0, or -1, is among them
	top                    []keys.Integer // the two largest
	sampled                bool           // there may be others beside them
	lowest, highest        keys.Integer
	inside                 int64 // numbers within texts
}

func (e *examined) String() string { return rules.Place(e.table, e.column.Name) }

// pooled is the fit of all databases together.
func (e *examined) pooled(s *space) (f fit) {
	f.exact = true
	for _, p := range e.parts {
		f = f.add(p.fits[s])
	}
	return f
}

// answer is what the gaps say of all databases. Each is judged by itself first: a
// column that was left out when a database was shifted names keys in one and nothing
// in the other.
func (e *examined) answer(s *space) (a answer, split bool) {
	var count [3]int
	for _, p := range e.parts {
		if f := p.fits[s]; f.rows > 0 {
			count[f.answer()]++
		}
	}
	switch pooled := e.pooled(s).answer(); {
	case pooled == fits, count[fits] > 0:
		return fits, count[denied] > 0
	case pooled == silent && count[silent] > 0:
		return silent, false
	case count[silent] > 0 && count[denied] > 0:
		return silent, true
	default:
		return denied, false
	}
}

// rows counts the rows with a value that may name something.
func (e *examined) rows() (n int64) {
	for _, p := range e.parts {
		n += p.values.rows - p.values.nobody
		if p.inside {
			n += p.values.inside
		}
	}
	return n
}

// examination is what is read for proposals, table by table.
type examination struct {
	spaces  []*space
	columns []*examined
	byName  []rules.DeclaredReference // to keys that are no numbers
	reasons []string                  // of these
	repeats map[string]repeat         // by column: texts that may repeat a name
}

// repeat is the unique name that a column may repeat.
type repeat struct{ to, figures string }

// proposeKeys reads the keys that columns may name.
func proposeKeys(ctx context.Context, f *check.Facts, r *check.Reader, x *examination) error {
	open := check.OpenReader{Reader: r, Code: ""}
	for _, table := range rules.KeyTables(f.Resolved) {
		_, model := rules.KeyModel(f.Resolved, table)
		for i := range model.Columns {
			col := &model.Columns[i]
			at := placeInKey(model, col.Name)
			counted := model.AutoIncrement != nil && model.AutoIncrement.Column == col.Name
			if at < singleKey && !counted || check.KeyClassOf(col) != check.IntegerClass {
				continue
			}
			s := &space{Candidate: check.Candidate{Table: table, Column: col.Name, Class: check.IntegerClass}, counts: counted}
			if err := open.ReadKeys(ctx, s.Candidate); err != nil {
				return err
			}
			s.sets = open.UndeclaredKeys().Sets[s.Candidate]
			for _, set := range s.sets {
				if set.Gap == "" {
					s.size += set.Integers.Len()
					s.runs = s.runs || set.Integers.InRuns()
				}
			}
			s.same, s.alike = f.Same[table], f.Alike[table] && !f.Same[table]
			if !s.same && !counted && sameInAll(s.sets) { // what the database counts up, each world counts by itself
				read := slices.Contains(f.Tables, table)
				if read {
					var err error
					if s.same, err = sameRows(ctx, f, r, table); err != nil {
						return err
					}
				}
				s.alike, s.differs = !s.same, read && !s.same
			}
			if s.size > 0 {
				x.spaces = append(x.spaces, s)
			}
		}
	}
	return nil
}

// placeInKey returns what part a column has in the keys of a table.
func placeInKey(t *catalog.Table, column string) keyPlace {
	at := inNoKey
	keys := [][]string{t.Primary}
	for _, u := range t.Uniques {
		if u.Unclear == "" {
			keys = append(keys, u.Columns)
		}
	}
	for _, key := range keys {
		switch {
		case slices.Equal(key, []string{column}) && t.AutoIncrement != nil && t.AutoIncrement.Column == column:
			return countedKey
		case slices.Equal(key, []string{column}):
			return singleKey
		case slices.Contains(key, column):
			at = inKey
		}
	}
	return at
}

// sameInAll reports whether several databases have the same keys, though there are gaps
// between these: no world counts like another.
func sameInAll(sets map[*rules.Database]*check.KeySet) bool {
	var first *check.KeySet
	for _, set := range sets {
		if set.Gap != "" || set.Integers.Sparse || set.Integers.Len() == 0 || set.Integers.AnyNegative() {
			return false
		}
		if first == nil {
			first = set
			continue
		}
		if !first.Integers.Equal(set.Integers) {
			return false
		}
	}
	return len(sets) > 1 && first.Integers.Gaps() > 0
}

// sameRows reports whether all rows of a table are the same in all databases.
func sameRows(ctx context.Context, f *check.Facts, r *check.Reader, table string) (bool, error) {
	first := ""
	for db := range f.Having(table) {
		sum, _, unread, err := r.Contents(ctx, db, table, nil)
		if err != nil || unread != "" || first != "" && sum != first {
			return false, err
		}
		first = sum
	}
	return true, nil
}

// numeric reports whether a column may hold whole numbers.
func numeric(c *catalog.Column) bool {
	return c.Kind == catalog.KindInteger || c.Kind == catalog.KindDecimal || c.Kind == catalog.KindText && !c.IsID || c.Kind == catalog.KindAny
}

// examine reads columns of a table, and compares what they hold with all keys: all of them, or only
// one.
func examine(ctx context.Context, f *check.Facts, r *check.Reader, x *examination, table, only string) error {
	_, model := f.ModelOf(table)
	columns := make(map[string]*examined)
	var read []string
	for i := range model.Columns {
		col := &model.Columns[i]
		if only != "" && col.Name != only {
			continue
		}
		e := &examined{table: table, column: col, place: placeInKey(model, col.Name)}
		columns[col.Name] = e
		x.columns = append(x.columns, e)
		if numeric(col) && col.Generated == "" && col.Opaque == "" {
			read = append(read, col.Name)
		}
	}
	nobodyIn := make(map[string]func(keys.Integer) bool)
	for _, name := range read {
		nobodyIn[name] = x.nobodyIn(f, columns[name].column)
	}
	for db := range f.Having(table) {
		found, unread, err := values(ctx, check.OpenReader{Reader: r, Code: ""}, db, table, read)
		if err != nil {
			return err
		}
		for name, why := range unread {
			columns[name].unread = why
		}
		for _, c := range found {
			columns[c.column].parts = append(columns[c.column].parts, compareWithKeys(db, c, x.spaces, columns[c.column], nobodyIn[c.column]))
		}
	}
	return nil
}

// compareWithKeys sums up what a column of a database holds.
func compareWithKeys(db *rules.Database, c *columnValues, among []*space, e *examined, nobodyHere func(keys.Integer) bool) examinedPart {
	p := examinedPart{db: db, fits: make(map[*space]fit), values: columnSummary{
		rows: c.rows, others: c.others, lowest: c.lowest, highest: c.highest,
	}}
	counts := c.valueCounts
	if c.inside != nil {
		p.values.inside = c.inside.rows
		if c.others > c.rows {
			for _, v := range c.values() { // cells that are nothing but a number
				for range v.rows {
					c.inside.add(v.value)
				}
			}
			counts, p.inside = c.inside, true
		}
	}
	values := counts.values()
	p.values.distinct = int64(len(values))
	for _, v := range values {
		if nobodyHere(v.value) {
			p.values.nobody += v.rows
		}
		if nobody(v.value) {
			p.values.minus = p.values.minus || v.value.Negative
			p.values.zero = p.values.zero || !v.value.Negative
		}
	}
	number := func(v valueRows) keys.Integer { return v.value }
	p.values.top = slice.Map(values[max(0, len(values)-2):], number)
	if p.values.sampled = !counts.exact(); p.values.sampled && !p.inside {
		p.values.top = append(p.values.top, c.highest)
	}
	if c.rows+c.others <= check.MaxCounterRows {
		p.all = slice.Map(c.valueCounts.values(), number)
	}
	slices.SortStableFunc(values, func(a, b valueRows) int { return int(b.rows - a.rows) })
	p.firsts = slice.Map(values[:min(len(values), 8)], number)
	slices.SortFunc(values, func(a, b valueRows) int { return cmp.Compare(hashOfInteger(a.value), hashOfInteger(b.value)) })
	p.lowest = slice.Map(values[:min(len(values), 64)], number)
	test := newTestable(counts, nobodyHere)
	test.inside = p.inside
	for _, s := range among {
		if s.Table == e.table && s.Column == e.column.Name {
			continue
		}
		p.fits[s] = test.fit(s.sets[db], s.others(db))
	}
	return p
}

// bitsOf is how wide the integers of a column are, as its type tells; 64 if it does not.
func bitsOf(c *catalog.Column) int {
	kind := strings.ToLower(c.Type)
	for _, t := range []struct {
		name string
		bits int
	}{{"tinyint", 8}, {"smallint", 16}, {"mediumint", 24}, {"bigint", 64}, {"int", 32}, {"bit", 8}, {"bool", 8}} {
		if strings.HasPrefix(kind, t.name) && kind != "integer" {
			return t.bits
		}
	}
	return 64
}
