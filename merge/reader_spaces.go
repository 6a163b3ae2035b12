package merge

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"mergesafe/merge/rekey"
)

// spaceReader reads the keys of spaces and what refers to them, so that offsets can be
// chosen.
type spaceReader struct {
	*reader
	code   string // of the rule for which it reads
	moving *moving
	found  *measured
}

// measured is what was read.
type measured struct {
	keys map[columnName]map[*database]*rekey.Set
	of   map[*keySpace]map[*database]*spaceValues
	rows map[*movedColumn]map[*database][]caseRows // by case

	counters []seenCounter
	matched  map[*keySpace]*matchedRows
}

// spaceValues are the values of a space in one database.
type spaceValues struct {
	keys, values rekey.Range
	rows         int64
	limits       []rekey.Limit
}

// caseRows is what was read of one case of a column.
type caseRows struct {
	CaseCounts
	moved    rekey.Range
	stays    map[rekey.Integer]bool // values that name nobody; nil if they are many
	kept     rekey.Range            // of values that name what is the same in every world
	watched  heavy                  // values that lead nowhere, or seldom somewhere
	odd      []oddValue
	foreign  int64 // rows with a value that is no number
	foreigns []member
}

// oddValue is a value that may mean nobody, though nothing says so.
type oddValue struct {
	value rekey.Integer
	rows  int64
	why   string
}

// heavy counts the values that come most often. Of more than heavyValues different ones
// it forgets the rare ones, and then counts a little less than there are.
type heavy struct{ rows map[rekey.Integer]int64 }

const heavyValues = 1 << 14

func (h *heavy) add(n rekey.Integer) {
	if h.rows == nil {
		h.rows = make(map[rekey.Integer]int64)
	}
	if _, known := h.rows[n]; known || len(h.rows) < heavyValues {
		h.rows[n]++
		return
	}
	for v := range h.rows {
		if h.rows[v]--; h.rows[v] == 0 {
			delete(h.rows, v)
		}
	}
}

// measure reads all of it.
func (r *spaceReader) measure(ctx context.Context) (*measured, error) {
	r.found = newMeasured(r.moving, r.facts.dbs...)
	passes := r.moving.passes(r.facts.tables)
	var one sync.Mutex
	err := sideBySide(ctx, r.facts.dbs, func(ctx context.Context, db *database) error {
		of := &spaceReader{r.reader, r.code, r.moving, newMeasured(r.moving, db)}
		for _, p := range passes {
			if t := db.tables[p.table]; t != nil {
				if err := of.readPass(ctx, p, db, t); err != nil {
					return err
				}
			}
		}
		one.Lock()
		defer one.Unlock()
		r.found.take(of.found)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.noteRanges()
	r.countedBySequences()
	if err := r.readApart(ctx); err != nil {
		return nil, err
	}
	if err := r.readMatches(ctx); err != nil {
		return nil, err
	}
	r.found.counters, err = r.findCounters(ctx)
	return r.found, err
}

func newMeasured(m *moving, dbs ...*database) *measured {
	found := &measured{keys: make(map[columnName]map[*database]*rekey.Set), of: make(map[*keySpace]map[*database]*spaceValues),
		rows: make(map[*movedColumn]map[*database][]caseRows)}
	for _, s := range m.spaces {
		found.of[s] = make(map[*database]*spaceValues)
		for _, db := range dbs {
			found.of[s][db] = new(spaceValues)
		}
		for _, at := range s.keys {
			found.keys[at] = make(map[*database]*rekey.Set)
		}
	}
	return found
}

// take adds the keys of another database, and what refers to them.
func (m *measured) take(other *measured) {
	for at, sets := range other.keys {
		maps.Copy(m.keys[at], sets)
	}
	for column, rows := range other.rows {
		if m.rows[column] == nil {
			m.rows[column] = make(map[*database][]caseRows)
		}
		maps.Copy(m.rows[column], rows)
	}
}

// spacePass is one reading of a table: of keys of spaces, of what refers to such, or of
// both.
type spacePass struct {
	table      string
	keys       []columnName
	references []*movedColumn
}

// passes are what has to be read, so that the keys that a column refers to are known when
// its turn comes. A table is read once, unless it refers to itself, or in a circle.
func (m *moving) passes(tables []string) (all []spacePass) {
	referring := make(map[string][]*movedColumn)
	for _, table := range tables {
		referring[table] = slices.DeleteFunc(m.of(table), func(c *movedColumn) bool { return c.key })
	}
	var unread []spacePass // tables with keys
	for _, s := range m.spaces {
		for _, at := range s.keys {
			i := slices.IndexFunc(unread, func(p spacePass) bool { return p.table == at.table })
			if i < 0 {
				i, unread = len(unread), append(unread, spacePass{table: at.table})
			}
			unread[i].keys = append(unread[i].keys, at)
		}
	}
	ready := func(p spacePass) bool {
		return !slices.ContainsFunc(referring[p.table], func(c *movedColumn) bool {
			return slices.ContainsFunc(c.cases, func(of movedCase) bool {
				return slices.ContainsFunc(of.space.keys, func(at columnName) bool {
					return slices.ContainsFunc(unread, func(p spacePass) bool { return p.table == at.table })
				})
			})
		})
	}
	for len(unread) > 0 {
		i := slices.IndexFunc(unread, ready)
		p := unread[max(i, 0)]
		if i >= 0 {
			p.references = referring[p.table]
			delete(referring, p.table)
		}
		all, unread = append(all, p), slices.Delete(unread, max(i, 0), max(i, 0)+1)
	}
	for _, table := range tables {
		if len(referring[table]) > 0 {
			all = append(all, spacePass{table: table, references: referring[table]})
		}
	}
	return all
}

// readPass reads a table of a database.
func (r *spaceReader) readPass(ctx context.Context, p spacePass, db *database, t *Table) error {
	scan := Scan{Table: t.Name, Unsorted: true}
	if db.rows[t.Name] == 0 {
		p.references = nil
	}
	if len(p.references) > 0 {
		scan.Carry = slices.Clip(t.rowKey(nil)) // to show rows
	} else if key := t.Key(); len(p.keys) > 0 && len(t.Primary) == 0 && len(key) > 0 && key[0] == p.keys[0].column {
		scan.Unsorted, scan.Order = false, []Order{{Column: key[0]}}
	}
	s := r.stream(db, r.code, len(scan.Carry), scan)
	for _, at := range p.keys {
		r.addKeys(s, at)
	}
	reads := r.addReferences(s, p.references, t)
	if len(p.keys)+len(reads) == 0 {
		return nil
	}
	if err := s.drain(ctx); err != nil {
		return err
	}
	for _, at := range p.keys {
		r.found.keys[at][db].Finish()
	}
	for _, read := range reads {
		if r.found.rows[read.column] == nil {
			r.found.rows[read.column] = make(map[*database][]caseRows)
		}
		for i := range read.cases {
			most, bounded := r.most(read.column, i)
			read.cases[i].findOdd(&read.column.cases[i].ref.dangling, func(n rekey.Integer) bool { return bounded && n == most })
		}
		r.found.rows[read.column][db] = read.cases
	}
	return nil
}

// addKeys makes a stream gather the keys in a column.
func (r *spaceReader) addKeys(s *stream, at columnName) {
	set := &rekey.Set{Exact: true}
	r.found.keys[at][s.db] = set
	column := s.carry(at.column)
	s.visit = append(s.visit, func(b *Batch) {
		for row := range b.Len {
			if n, ok := rekey.ParseInteger(b.Carry[column].At(row)); ok {
				set.Add(n)
			}
		}
	})
}

// noteRanges notes where the keys that were read lie, and what refers to them.
func (r *spaceReader) noteRanges() {
	for _, s := range r.moving.spaces {
		for _, at := range s.keys {
			for db, t := range r.facts.having(at.table) {
				r.noteKeys(s, at, db, t)
			}
		}
	}
	for _, table := range r.facts.tables {
		for db := range r.facts.having(table) {
			for _, c := range r.moving.of(table) {
				for i, read := range r.found.rows[c][db] {
					space := c.cases[i].space
					r.found.of[space][db].values.Join(read.moved)
					most, known := r.most(c, i)
					r.limit(space, c.columnName, db, read.moved, most, known)
				}
			}
		}
	}
}

// noteKeys notes where the keys of a space in one column of a database lie.
func (r *spaceReader) noteKeys(s *keySpace, at columnName, db *database, t *Table) {
	values, set := r.found.of[s][db], r.found.keys[at][db]
	own := set.Range()
	if counter := t.AutoIncrement; counter != nil && counter.Column == at.column && counter.Next > 1 {
		own.Add(rekey.Integer{Bits: counter.Next - 1})
	}
	values.rows += set.Len()
	values.keys.Join(set.Range())
	values.values.Join(own)
	for _, g := range db.catalog.Given {
		if g.Table == at.table && g.Column == at.column && db == r.facts.target {
			values.values.Join(g.Range)
		}
	}
	most, known := mostOf(r.facts.resolved, at)
	r.limit(s, at, db, own, most, known) // what other columns of the space have is no matter to this one
}

// most is the largest number that a case of a column takes; known is false if that cannot be
// told.
func (r *spaceReader) most(c *movedColumn, i int) (most rekey.Integer, known bool) {
	if cells := c.cases[i].ref.cells; cells != nil {
		return cells.Most()
	}
	return mostOf(r.facts.resolved, c.columnName)
}

// limit notes what room a column of the target has for the values of a source; most is the
// largest number that it takes, if that is known.
func (r *spaceReader) limit(s *keySpace, at columnName, db *database, values rekey.Range, most rekey.Integer, known bool) {
	if values.Any && db != r.facts.target {
		if s.Max > 0 && (!known || s.Max < most.Bits) {
			most, known = rekey.Integer{Bits: s.Max}, true
		}
		if known {
			of := r.found.of[s][db]
			of.limits = append(of.limits, rekey.Limit{Column: at.String(), Most: most, High: values.High})
		}
	}
}

// addReferences makes a stream look at the columns that refer to spaces.
func (r *spaceReader) addReferences(s *stream, columns []*movedColumn, t *Table) (reads []*referenceRead) {
	for _, c := range columns {
		if t.column(c.column) == nil {
			continue
		}
		read := &referenceRead{column: c, at: s.carry(c.column), cases: make([]caseRows, len(c.cases)), cells: make([]func(int) [][]byte, len(c.cases))}
		for i, a := range c.cases {
			read.cases[i].stays = make(map[rekey.Integer]bool)
			when := -1
			if a.ref.when != nil {
				when = s.carry(a.ref.when.Column)
			}
			read.when = append(read.when, when)
			if a.ref.cells != nil {
				read.cells[i] = cellsOf(a.ref.cells, s)
			}
			read.sets = append(read.sets, r.found.setsOf(a.space, s.db))
		}
		reads = append(reads, read)
	}
	s.visit = append(s.visit, func(b *Batch) {
		for _, read := range reads {
			for row := range b.Len {
				read.row(s, b, row)
			}
		}
	})
	return reads
}

// readApart reads what rows of the target refer to in tables that are not merged: they
// stay, and what leads nowhere there has to lead nowhere afterwards too.
func (r *spaceReader) readApart(ctx context.Context) error {
	target := r.facts.target
	cases := make(map[columnName][]movedCase)
	for more := true; more; {
		more = false
		for _, table := range slices.Sorted(maps.Keys(target.apart)) {
			for _, ref := range apartReferences(r.facts, table) {
				for c, name := range ref.Columns {
					at := columnName{table, name}
					for _, to := range r.spacesOf(ref, c, cases) {
						same := func(other movedCase) bool { return other.space == to && other.ref.same(ref) }
						if !slices.ContainsFunc(cases[at], same) {
							cases[at], more = append(cases[at], movedCase{to, ref}), true
						}
					}
				}
			}
		}
	}
	for at, all := range cases {
		if target.apart[at.table].column(at.column) == nil {
			continue
		}
		s := r.stream(target, r.code, 0, Scan{Table: at.table, Unsorted: true})
		value := s.carry(at.column)
		for _, c := range all {
			leaves := c.ref.leaves(s)
			numbers := func(row int) []rekey.Integer {
				n, ok := rekey.ParseInteger(s.carriedAt(value, row))
				return []rekey.Integer{n}[:map[bool]int{true: 1}[ok]]
			}
			if c.ref.cells != nil {
				numbers = c.ref.inCellsOf(s)
			}
			s.visit = append(s.visit, func(b *Batch) {
				for row := range b.Len {
					if leaves(row) {
						continue
					}
					for _, n := range numbers(row) {
						r.found.of[c.space][target].values.Add(n)
					}
				}
			})
		}
		err := s.drain(ctx)
		if _, unsupported := errors.AsType[*UnsupportedError](err); err != nil && !unsupported { // of what cannot be read nothing is said
			return err
		}
	}
	return nil
}

// apartReferences are those of a table of the target that is not merged.
func apartReferences(f *facts, table string) (all []*reference) {
	refs := f.references(table)
	for i := range refs {
		all = append(all, &refs[i])
	}
	for _, r := range f.target.apart[table].References {
		all = append(all, &reference{Reference: r, table: table})
	}
	return slices.Concat(all, f.declared.severally(table), f.declared.ofSpaces(table))
}

// spacesOf are the spaces that a column of a reference leads to in the end, by way of
// tables that are merged or, in cases, of others.
func (r *spaceReader) spacesOf(ref *reference, column int, cases map[columnName][]movedCase) (all []*keySpace) {
	if ref.space != "" {
		i := slices.IndexFunc(r.moving.spaces, func(s *keySpace) bool { return s.Name == ref.space })
		return r.moving.spaces[i : i+1]
	}
	for _, to := range append([]columnName{{ref.ToTable, ref.ToColumns[column]}}, ref.or...) {
		there := cases[to]
		if m := r.moving.columns[to]; m != nil {
			there = m.cases
		}
		for _, c := range there {
			all = append(all, c.space)
		}
	}
	return all
}

// setsOf returns the keys of a space in a database.
func (m *measured) setsOf(s *keySpace, db *database) (sets []*rekey.Set) {
	for _, at := range s.keys {
		if set := m.keys[at][db]; set != nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// referenceRead is the reading of one column.
type referenceRead struct {
	column *movedColumn
	at     int                      // its place in Carry
	when   []int                    // of each case, the place of the column of its condition; -1: it has none
	cells  []func(row int) [][]byte // of each case, nil if the value is the whole cell
	sets   [][]*rekey.Set
	cases  []caseRows
}

// row takes the values of one row in: that of the first case that is about it or, in cells,
// those of all.
func (r *referenceRead) row(s *stream, b *Batch, row int) {
	for i := range r.cases {
		ref := r.column.cases[i].ref
		switch {
		case r.when[i] >= 0 && !ref.when.Holds(b.Carry[r.when[i]].At(row)):
		case ref.cells == nil:
			r.whole(s, i, b.Carry[r.at].At(row), row)
			return
		default:
			r.inCells(s, i, row)
		}
	}
}

// whole takes a value in that is the whole cell.
func (r *referenceRead) whole(s *stream, i int, v []byte, row int) {
	c, ref := &r.cases[i], r.column.cases[i].ref
	n, ok := rekey.ParseInteger(v)
	switch {
	case v == nil:
		c.None++
	case ref.none.Has(v):
		r.nobody(i, n, ok)
	case !ok || !n.Is(v):
		if c.foreign++; len(c.foreigns) < 3 {
			c.foreigns = append(c.foreigns, s.member(row))
		}
	default:
		r.key(i, n)
	}
}

// inCells takes the keys in, or notes that there is none. What is wrong with cells is for
// [cellRule] to say.
func (r *referenceRead) inCells(s *stream, i, row int) {
	ref := r.column.cases[i].ref
	for k := range i {
		if r.column.cases[k].ref.same(ref) { // one of several spaces
			return
		}
	}
	keys := s.keysIn(ref.cells, r.cells[i](row), row)
	if len(keys) == 0 {
		r.cases[i].None++
	}
	for _, k := range keys {
		if ref.none.HasInteger(k.Value) {
			r.nobody(i, k.Value, true)
		} else {
			r.key(i, k.Value)
		}
	}
}

// nobody notes a value that names nobody, as it is declared.
func (r *referenceRead) nobody(i int, n rekey.Integer, number bool) {
	c := &r.cases[i]
	c.None++
	if number && r.column.cases[i].space.kept.HasInteger(n) {
		c.kept.Add(n)
	} else if number && c.stays != nil {
		if c.stays[n] = true; len(c.stays) > 64 {
			c.stays = nil
		}
	}
}

// key notes where a key leads.
func (r *referenceRead) key(i int, n rekey.Integer) {
	c, ref := &r.cases[i], r.column.cases[i].ref
	c.moved.Add(n)
	if len(r.column.cases[i].space.keys) == 0 {
		c.Resolved++
		if suspicious(n) {
			c.watched.add(n)
		}
		return
	}
	for k, sets := range r.sets {
		same := k == i || r.column.cases[k].ref.identity() == ref.identity() // one of several spaces
		if same && slices.ContainsFunc(sets, func(set *rekey.Set) bool { return set.Has(n) }) {
			c.Resolved++
			if suspicious(n) {
				c.watched.add(n)
			}
			return
		}
	}
	c.Dangling++
	c.watched.add(n)
}

// suspicious reports whether a number may mean nobody wherever it stands.
func suspicious(n rekey.Integer) bool { return n.Negative || n.Bits == 0 }

// findOdd finds the values that may mean nobody, but for those that are declared to
// lead nowhere.
func (c *caseRows) findOdd(declared *rekey.Values, largest func(rekey.Integer) bool) {
	all := c.Resolved + c.Dangling
	for v, rows := range c.watched.rows {
		why := ""
		switch {
		case declared.HasInteger(v):
			continue
		case suspicious(v):
			why = "it is not above 0"
		case largest(v):
			why = "it is the largest value of the column"
		case rows >= 10 && rows > all/100:
			why = "it matches no row, in many rows"
		default:
			continue
		}
		c.odd = append(c.odd, oddValue{v, rows, why})
	}
	slices.SortFunc(c.odd, func(a, b oddValue) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), a.value.Whole().Cmp(b.value.Whole()))
	})
	c.watched.rows = nil
}

// monotone reports whether the values of a case keep their order when they move by an
// offset, those that stay included.
func (c *caseRows) monotone(offset uint64) bool {
	if offset == 0 || !c.moved.Any {
		return true
	}
	if c.stays == nil {
		return false
	}
	moved, ok := c.moved.Shift(offset)
	if ok && c.kept.Any && c.moved.Low.Less(c.kept.High) && c.kept.Low.Less(moved.High) {
		return false
	}
	for n := range maps.Keys(c.stays) {
		if ok && c.moved.Low.Less(n) && n.Less(moved.High) {
			return false
		}
	}
	return ok
}
