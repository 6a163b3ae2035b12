package check

import (
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// columnValues are the values of a column in one database, each once. Of very many numbers only the ends are known, of very
// many others nothing.
type columnValues struct {
	keys.Set       // of numbers
	rows     int64 // that have one

	others     map[string]int   // than numbers, that may name a row, and the place of each in what follows; nil: they are numbers, or too many
	times      []int64          // rows that have it
	forms      []catalog.Vector // by which it is compared,
	collations []string         // under each of these
	size       int              // bytes that all take
	unknown    bool             // there are too many others
}

// numbers reports whether all of them are numbers.
func (v *columnValues) numbers() bool { return v != nil && v.others == nil && !v.unknown }

// otherSize is how many bytes such a value takes besides its own.
const otherSize = 128

// valueKeeper keeps values of one database while its tables are read.
type valueKeeper struct {
	facts     *Facts
	of        map[rules.ColumnName]*columnValues
	room      int                       // bytes for those that are no numbers
	unweighed map[rules.ColumnName]bool // texts without a sorting form
}

func newValueKeeper(f *Facts, room int) *valueKeeper {
	return &valueKeeper{f, make(map[rules.ColumnName]*columnValues), room, make(map[rules.ColumnName]bool)}
}

// forget forgets the values of a table.
func (k *valueKeeper) forget(table string) {
	for at, v := range k.of {
		if at.Table == table {
			delete(k.of, at)
			k.room += v.size
		}
	}
}

// finish is called after the last row of a table.
func (k *valueKeeper) finish(table string) {
	for at, v := range k.of {
		if at.Table == table {
			v.Finish()
		}
	}
}

// ValuesOf returns what is known of the values in a column of a database that no space has; nil if they were not kept.
func (f *Facts) ValuesOf(db *rules.Database, table, column string) *columnValues {
	kept := f.Values[db]
	if f.Rekeyed != nil {
		kept = f.Rekeyed.Read.in[db].values
	}
	if kept == nil {
		return nil
	}
	return kept.of[rules.ColumnName{Table: table, Column: column}]
}

// keepValues makes the streams of the key of a table gather values, where no keys of spaces were read before with them.
func (r *Reader) keepValues(streams []*stream.Stream) (kept []*valueKeeper) {
	if r.Facts.Moving != nil {
		return nil
	}
	for _, s := range streams {
		if !s.Strict || len(s.DB.Tables[s.Scan.Table].Primary) == 0 {
			continue
		}
		if r.Facts.Values[s.DB] == nil {
			r.Facts.Values[s.DB] = newValueKeeper(r.Facts, r.Others/len(r.Facts.DBs))
		}
		k := r.Facts.Values[s.DB]
		k.add(s)
		kept = append(kept, k)
	}
	return kept
}

// add makes a stream gather the values of the columns that the other rules ask for: those that may name rows and
// are not declared, and numbers of keys, which may be named; and those that are to be unique.
func (k *valueKeeper) add(s *stream.Stream) {
	table := s.Scan.Table
	_, model := k.facts.ModelOf(table)
	several, named := len(k.facts.DBs) > 1, namedNumbers(k.facts)
	for _, c := range s.DB.Tables[table].Columns {
		at := rules.ColumnName{Table: table, Column: c.Name}
		var moved *rules.MovedColumn
		if k.facts.Moving != nil {
			moved = k.facts.Moving.Columns[at]
		}
		inKey, role := several && slices.Contains(model.Key(), c.Name), k.facts.Declared.Role(table, c.Name)
		open := several && judgesOpen(k.facts, table, c.Name) && (moved == nil || role.Kind == rules.RoleReference)
		unique := c.Kind == catalog.KindInteger && moved == nil && slices.ContainsFunc(k.facts.Uniques(table),
			func(u rules.Unique) bool { return slices.Equal(u.Columns, []string{c.Name}) })
		if moved != nil && moved.Key || !open && !inKey && !unique || inKey && slices.ContainsFunc(role.References, func(ref *rules.Ref) bool { return ref.When != nil }) {
			continue
		}
		values := &columnValues{Set: keys.Set{Small: !inKey && !unique}}
		if c.Kind != catalog.KindInteger {
			any := map[keyClass]bool{IntegerClass: true, bytesClass: true}
			if open && readsAs(&c, any) != nil && (s.Scan.Unsorted || !c.IsID) { // IDs are known by their servers
				k.addOthers(s, &c, values)
			}
			continue
		}
		if !inKey && !unique && !named {
			continue
		}
		var nobody keys.Values
		if moved != nil {
			if _, none, plain := moved.PlainShift(); plain {
				nobody = none
			} else if inKey {
				continue
			}
		}
		k.of[at] = values
		column, covered := s.Carry(c.Name), coveredBy(k.facts, s, c.Name)
		if !slices.Contains(s.Scan.Numbers, c.Name) {
			s.Scan.Numbers = append(s.Scan.Numbers, c.Name)
		}
		s.Visit = append(s.Visit, func(b *catalog.Batch) {
			for row := range b.Len {
				if n, ok := b.Carry[column].Integer(row); ok && !nobody.HasInteger(n) && !covered(row) {
					values.rows++
					values.Add(n)
				}
			}
		})
	}
}

// addOthers makes a stream gather the values of a column that are no numbers, as far as they may name a row.
func (k *valueKeeper) addOthers(s *stream.Stream, c *catalog.Column, values *columnValues) {
	at := rules.ColumnName{Table: s.Scan.Table, Column: c.Name}
	wholes, collations := namedTexts(k.facts)
	if len(collations) > 0 && !s.Scan.Unsorted {
		return // their sorting forms would be part of the order
	}
	k.of[at] = values
	values.others = make(map[string]int)
	var orders []int
	if c.Kind == catalog.KindText && !c.IsID && !k.unweighed[at] {
		values.collations = collations
		orders = slice.Map(collations, func(collation string) int { return weigh(s, c.Name, collation) })
	}
	values.forms = make([]catalog.Vector, len(orders))
	column, covered := s.Carry(c.Name), coveredBy(k.facts, s, c.Name)
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			v := b.Carry[column].At(row)
			if v == nil || covered(row) {
				continue
			}
			values.rows++
			if n, known := values.others[string(v)]; known {
				values.times[n]++
				continue
			}
			if values.unknown || !wholes && !hasNumbers(v) {
				continue
			}
			size := otherSize + len(v)
			for _, i := range orders {
				size += len(b.Order[i].At(row))
			}
			if size > k.room {
				k.room += values.size
				values.others, values.times, values.forms, values.size, values.unknown = nil, nil, nil, 0, true
				continue
			}
			k.room, values.size = k.room-size, values.size+size
			values.others[string(v)] = len(values.times)
			values.times = append(values.times, 1)
			for n, i := range orders {
				f := &values.forms[n]
				f.Data = append(f.Data, b.Order[i].At(row)...)
				f.Ends = append(f.Ends, len(f.Data))
			}
		}
	})
}

// namedNumbers reports whether numbers may name something.
func namedNumbers(f *Facts) bool {
	return slices.ContainsFunc(rules.KeyTables(f.Resolved), func(table string) bool {
		_, model := rules.KeyModel(f.Resolved, table)
		return slices.ContainsFunc(model.Key(), func(name string) bool { return KeyClassOf(model.Column(name)) == IntegerClass })
	})
}

// namedTexts reports whether texts may name something as a whole, and by which collations they are compared with keys then.
func namedTexts(f *Facts) (wholes bool, collations []string) {
	note := func(c *catalog.Column) {
		if wholes = true; c.Collation != "" && !slices.Contains(collations, c.Collation) {
			collations = append(collations, c.Collation)
		}
	}
	for _, table := range rules.KeyTables(f.Resolved) {
		_, model := rules.KeyModel(f.Resolved, table)
		for _, name := range model.Key() {
			if class := KeyClassOf(model.Column(name)); class == textClass || class == bytesClass {
				note(model.Column(name))
			}
		}
		wholes = wholes || len(uniqueTexts(f, table, model)) > 0
	}
	for _, to := range f.Opts.Renames {
		if c := renamedCandidate(f, to); c != nil {
			_, model := f.ModelOf(to.Table)
			note(model.Column(to.Column))
		}
	}
	return wholes, collations
}

// hasNumbers reports whether a part of a text may be a number.
func hasNumbers(text []byte) bool {
	for t := range Tokens(text) {
		if t.Form != tokenWord && t.Form != tokenAddress {
			return true
		}
	}
	return false
}

// coveredBy returns what reports whether a declared reference says what the value of a column is in a row.
func coveredBy(f *Facts, s *stream.Stream, column string) (covered func(row int) bool) {
	var covers []func(row int) bool
	for _, ref := range f.Declared.Role(s.Scan.Table, column).References {
		when := ref.When
		if when == nil || s.DB.Tables[s.Scan.Table].Column(when.Column) == nil {
			continue
		}
		at := s.Carry(when.Column)
		covers = append(covers, func(row int) bool { return when.Holds(s.Batch.Carry[at].At(row)) })
	}
	return func(row int) bool {
		return slices.ContainsFunc(covers, func(covers func(int) bool) bool { return covers(row) })
	}
}

// judgeValues judges the columns of a table of which the values are known, without their rows. Of those in closed no
// value changes its meaning in any database, and some do of those in open. The others have to be read.
func (r OpenReader) judgeValues(table string, candidates []Candidate) (closed map[string][]*OpenColumn, open map[string]bool) {
	closed, open = make(map[string][]*OpenColumn), make(map[string]bool)
	unsure := make(map[string]bool)
	any := func(int) bool { return true }
	for db := range r.Facts.Having(table) {
		if staysBehind(r.Facts, db, table) {
			continue
		}
		for _, s := range r.newOpenPass(db, table, candidates, nil, nil).columns {
			v := r.Facts.ValuesOf(db, table, s.column)
			if v == nil || v.unknown || v.Sparse && s.meetsAny(v.Range()) || v.others != nil && !s.takeOthers(v) {
				unsure[s.column] = true
				continue
			}
			if s.read = v.rows; !v.Sparse && v.others == nil {
				for n := range v.All() {
					s.rows[fate{sure: s.fateOf(n)}]++
				}
			}
			if rows, _ := s.Changed(r.Facts, candidates, any, false); rows > 0 {
				open[s.column] = true
			}
			repeats := (&openReading{columns: []*OpenColumn{s.OpenColumn}}).repeating()
			unsure[s.column] = unsure[s.column] || len(s.maybe)+len(repeats) > 0
			closed[s.column] = append(closed[s.column], s.OpenColumn)
		}
	}
	for column, parts := range closed {
		hex := slices.ContainsFunc(parts, func(p *OpenColumn) bool { return p.hex })
		changed := func(p *OpenColumn) bool { rows, _ := p.Changed(r.Facts, candidates, any, hex); return rows > 0 }
		if !unsure[column] && slices.ContainsFunc(parts, changed) {
			open[column] = true
		}
		if open[column] || unsure[column] {
			delete(closed, column)
		}
	}
	return closed, open
}

// takeOthers looks values up that are no numbers, as if their rows were read. It returns false if a sorting form is missing.
func (s *openScan) takeOthers(v *columnValues) bool {
	p, b := s.pass, &catalog.Batch{Order: make([]catalog.Vector, len(s.pass.stream.Scan.Order))}
	p.stream.Batch, p.unshown = b, true
	for _, f := range s.forms {
		i := slices.Index(v.collations, p.stream.Scan.Order[f.order].Collation)
		if i < 0 {
			return false
		}
		b.Order[f.order] = v.forms[i]
	}
	for value, n := range v.others {
		s.row, s.times = n, v.times[n]
		s.reads(s, []byte(value))
	}
	return true
}

// meetsAny reports whether a key of any candidate lies among numbers, or will.
func (s *openScan) meetsAny(numbers keys.Range) bool {
	p := s.pass
	for k := range p.candidates {
		for j, set := range p.sets[k] {
			if p.candidates[k].Class != IntegerClass || set == nil || set.Gap != "" {
				continue
			}
			own := set.Integers.Range()
			if moved, ok := own.Shift(p.offsets[k][j]); !ok || own.Meets(numbers) || moved.Meets(numbers) {
				return true
			}
		}
	}
	return false
}
