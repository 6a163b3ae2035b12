package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// spaceReader reads the keys of spaces and what refers to them, so that offsets can be
// chosen.
type spaceReader struct {
	*Reader
	found *measured

	complete map[*keys.Set]bool // the sets of found of which all keys were read
}

func add(h *heavy, n keys.Integer) {
	if h.Rows == nil {
		h.Rows = make(map[keys.Integer]int64)
	}
	if _, known := h.Rows[n]; known || len(h.Rows) < HeavyValues {
		h.Rows[n]++
		return
	}
	for v := range h.Rows {
		if h.Rows[v]--; h.Rows[v] == 0 {
			delete(h.Rows, v)
		}
	}
}

// measure reads all of it.
func (r *spaceReader) measure(ctx context.Context) (*measured, error) {
	if err := r.readPasses(ctx, r.Facts.DBs); err != nil {
		return nil, err
	}
	r.noteRanges()
	if len(r.Facts.DBs) == 1 { // a merged one, in which nothing moves
		return r.found, nil
	}
	r.countedBySequences()
	if err := r.readApart(ctx); err != nil {
		return nil, err
	}
	return r.found, r.readMatches(ctx)
}

// measureComing measures again when some rows stay behind. New keys lie above those of all rows, and pairs are
// matched among all; what refers to what is counted of the rows that come.
func (r *spaceReader) measureComing(ctx context.Context, all *measured) (*measured, error) {
	leaves := func(db *rules.Database) bool {
		for _, s := range r.Facts.Stays[db] {
			if s.Rows() > 0 {
				return true
			}
		}
		return false
	}
	again := slices.DeleteFunc(slices.Clone(r.Facts.DBs), func(db *rules.Database) bool { return !leaves(db) })
	if err := r.readPasses(ctx, again); err != nil {
		return nil, err
	}
	r.found.matched = all.matched
	for db, was := range all.in {
		if !leaves(db) { // all rows come, as they were measured
			r.found.in[db] = was
			continue
		}
		now := r.found.in[db]
		now.samples, now.sums = was.samples, was.sums
		for s, values := range was.of {
			*now.of[s] = *values
			now.of[s].Rows = 0
			for _, set := range now.setsOf(s) {
				now.of[s].Rows += set.Len()
			}
		}
		for column, cases := range was.rows {
			for i := range now.rows[column] {
				now.rows[column][i].Moved.Join(cases[i].Moved)
			}
		}
	}
	return r.found, nil
}

// readPasses reads the tables one after the other, of several databases at a time.
func (r *spaceReader) readPasses(ctx context.Context, dbs []*rules.Database) error {
	r.found = &measured{in: make(map[*rules.Database]*measuredIn)}
	for _, db := range r.Facts.DBs {
		found := &measuredIn{keys: make(map[rules.ColumnName]*keys.Set), of: make(map[*rules.KeySpace]*spaceValues), rows: make(map[*rules.MovedColumn][]caseRows),
			samples: make(map[string]*rowSample), sums: make(map[string]*rowSum), values: newValueKeeper(r.Facts, r.Others/len(r.Facts.DBs)), cells: make(map[rules.ColumnName]*cellPass)}
		for _, s := range r.Facts.Moving.Spaces {
			found.of[s] = new(spaceValues)
		}
		r.found.in[db] = found
	}
	passes := passes(r.Facts.Moving, r.Facts.Tables)
	return stream.SideBySide(ctx, dbs, func(ctx context.Context, db *rules.Database) error {
		of := &spaceReader{Reader: r.Reader, found: r.found, complete: make(map[*keys.Set]bool)}
		return of.readTables(ctx, passes, db)
	})
}

// readTables reads the tables of a database, each once. A table that refers to itself, or in a circle, is read again if
// too many of its values may be keys that were read later.
func (r *spaceReader) readTables(ctx context.Context, passes []spacePass, db *rules.Database) (err error) {
	all := make([][]*referenceRead, len(passes))
	for i, p := range passes {
		if t := db.Tables[p.table]; t != nil {
			if all[i], err = r.readPass(ctx, p, db, t); err != nil {
				return err
			}
		}
	}
	for i, p := range passes {
		if column := r.settle(all[i], db); column != "" {
			r.Progress.Again(db, verdict.CodeKeySpace, p.table, fmt.Sprintf("too many values of %s may be keys that are read later", column))
			if all[i], err = r.readColumns(ctx, spacePass{table: p.table, references: p.references}, db, db.Tables[p.table], false); err != nil {
				return err
			}
		}
		for _, read := range all[i] {
			for k := range read.cases {
				most, bounded := mostOfCase(r.Facts.Resolved, read.column, k)
				findOdd(&read.cases[k], &read.column.Cases[k].Ref.Dangling, func(n keys.Integer) bool { return bounded && n == most })
			}
			r.found.in[db].rows[read.column] = read.cases
		}
	}
	return nil
}

// settle says where the values lead that are no keys of the tables that were read before theirs. If they were too many, it
// returns their column.
func (r *spaceReader) settle(all []*referenceRead, db *rules.Database) (tooMany string) {
	for _, read := range all {
		if slices.ContainsFunc(read.later, func(l later) bool { return l.tooMany }) {
			return read.column.Column
		}
	}
	for _, read := range all {
		known := read.to // when the rows were read: those without a match are kept
		r.takeSets(read, db)
		for i := range read.cases {
			c, values := &read.cases[i], read.later[i].rows
			for _, n := range slices.SortedFunc(maps.Keys(values), func(a, b keys.Integer) int { return a.Whole().Cmp(b.Whole()) }) {
				if c.Unsure = c.Unsure || known[i] == nil && (read.to[i] == nil || !read.to[i].Has(n)); read.leads(i, n) {
					c.resolved(n, values[n])
				} else {
					read.dangles(i, n, values[n])
				}
			}
		}
	}
	return ""
}

// spacePass is one reading of a table: of keys of spaces, of what refers to such, or of
// both.
type spacePass struct {
	table      string
	keys       []rules.ColumnName
	references []*rules.MovedColumn
}

// passes are what has to be read: a table that others refer to comes before these, as far as they do not refer in a
// circle.
func passes(m *rules.Moving, tables []string) (all []spacePass) {
	var rest []spacePass
	of := func(table string) *spacePass {
		i := slices.IndexFunc(rest, func(p spacePass) bool { return p.table == table })
		if i < 0 {
			i, rest = len(rest), append(rest, spacePass{table: table})
		}
		return &rest[i]
	}
	for _, s := range m.Spaces {
		for _, at := range s.Columns {
			of(at.Table).keys = append(of(at.Table).keys, at)
		}
	}
	for _, table := range tables {
		of(table).references = slices.DeleteFunc(m.Of(table), func(c *rules.MovedColumn) bool { return c.Key })
	}
	ready := func(p spacePass) bool {
		unread := func(at rules.ColumnName) bool {
			return at.Table != p.table && slices.ContainsFunc(rest, func(other spacePass) bool { return other.table == at.Table })
		}
		return !slices.ContainsFunc(p.references, func(c *rules.MovedColumn) bool {
			return slices.ContainsFunc(c.Cases, func(a rules.MovedCase) bool {
				if to := targetOf(a.Ref); slices.Contains(a.Space.Columns, to) {
					return unread(to)
				}
				return slices.ContainsFunc(a.Space.Columns, unread)
			})
		})
	}
	for len(rest) > 0 {
		i := max(slices.IndexFunc(rest, ready), 0)
		all, rest = append(all, rest[i]), slices.Delete(rest, i, i+1)
	}
	return all
}

// readPass reads a table of a database, and what else is asked of its rows.
func (r *spaceReader) readPass(ctx context.Context, p spacePass, db *rules.Database, t *catalog.Table) ([]*referenceRead, error) {
	for {
		reads, err := r.readColumns(ctx, p, db, t, true)
		unsupported, is := errors.AsType[*catalog.UnsupportedError](err)
		if !is {
			return reads, err
		}
		r.found.in[db].forget(t.Name)
		at, c := rules.ColumnName{Table: t.Name, Column: unsupported.Column}, t.Column(unsupported.Column)
		unweighed := r.found.in[db].values.unweighed
		if c == nil || c.Kind != catalog.KindText || unweighed[at] { // it may be another column than the pass is about
			return r.readColumns(ctx, p, db, t, false)
		}
		unweighed[at] = true
	}
}

// forget leaves out what else was asked of the rows of a table.
func (m *measuredIn) forget(table string) {
	delete(m.samples, table)
	delete(m.sums, table)
	m.values.forget(table)
	maps.DeleteFunc(m.cells, func(at rules.ColumnName, _ *cellPass) bool { return at.Table == table })
}

func (r *spaceReader) readColumns(ctx context.Context, p spacePass, db *rules.Database, t *catalog.Table, also bool) ([]*referenceRead, error) {
	scan := catalog.Scan{Table: t.Name, Unsorted: true}
	p.references = slices.DeleteFunc(slices.Clone(p.references), func(c *rules.MovedColumn) bool { return t.Column(c.Column) == nil })
	if len(p.references) > 0 {
		columns := slice.Map(p.references, func(c *rules.MovedColumn) string { return c.Column })
		scan.Carry = slices.Clip(t.RowKey(columns)) // to show rows
	} else if key := t.Key(); len(p.keys) > 0 && len(t.Primary) == 0 && len(key) > 0 && key[0] == p.keys[0].Column {
		scan.Unsorted, scan.Order = false, []catalog.Order{{Column: key[0]}}
	}
	s := r.Stream(db, verdict.CodeKeySpace, len(scan.Carry), scan)
	for _, at := range p.keys {
		r.addKeys(s, at)
	}
	if also {
		r.addCells(s)
		r.found.in[db].values.add(s)
	}
	if also && len(r.Facts.DBs) > 1 {
		if r.Facts.Same[t.Name] {
			r.found.in[db].sums[t.Name] = sumOf(s)
		}
		if len(p.keys) > 0 && mayBeCopied(r.Facts, t.Name) {
			r.addSample(s, p.keys[0].Column)
		}
	}
	reads := r.addReferences(s, p.references)
	if len(s.Scan.Carry) == 0 { // nothing is asked
		return nil, nil
	}
	if err := s.Drain(ctx); err != nil {
		return nil, err
	}
	for _, at := range p.keys {
		set := r.found.in[db].keys[at]
		set.Finish()
		r.complete[set] = true
	}
	r.found.in[db].values.finish(t.Name)
	return reads, nil
}

// addKeys makes a stream gather the keys in a column.
func (r *spaceReader) addKeys(s *stream.Stream, at rules.ColumnName) {
	set := &keys.Set{Exact: true}
	r.found.in[s.DB].keys[at] = set
	column := s.Carry(at.Column)
	s.Scan.Numbers = append(s.Scan.Numbers, at.Column)
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		keyed := &b.Carry[column]
		for row := range b.Len {
			if n, ok := keyed.Integer(row); ok {
				set.Add(n)
			}
		}
	})
}

// noteRanges notes where the keys that were read lie, and what refers to them.
func (r *spaceReader) noteRanges() {
	for _, s := range r.Facts.Moving.Spaces {
		for _, at := range s.Columns {
			for db, t := range r.Facts.Having(at.Table) {
				r.noteKeys(s, at, db, t)
			}
		}
	}
	for _, table := range r.Facts.Tables {
		for db := range r.Facts.Having(table) {
			for _, c := range r.Facts.Moving.Of(table) {
				for i, read := range r.found.in[db].rows[c] {
					space := c.Cases[i].Space
					r.found.in[db].of[space].Values.Join(read.Moved)
					most, known := mostOfCase(r.Facts.Resolved, c, i)
					r.limit(space, c.ColumnName, db, read.Moved, most, known)
				}
			}
		}
	}
}

// noteKeys notes where the keys of a space in one column of a database lie.
func (r *spaceReader) noteKeys(s *rules.KeySpace, at rules.ColumnName, db *rules.Database, t *catalog.Table) {
	values, set := r.found.in[db].of[s], r.found.in[db].keys[at]
	own := set.Range()
	if counter := t.AutoIncrement; counter != nil && counter.Column == at.Column && counter.Next > 1 {
		own.Add(keys.Integer{Bits: counter.Next - 1})
	}
	values.Rows += set.Len()
	values.Keys.Join(set.Range())
	values.Values.Join(own)
	for _, g := range db.Catalog.Given {
		if g.Table == at.Table && g.Column == at.Column && db == r.Facts.Model() {
			values.Values.Join(g.Range)
		}
	}
	most, known := mostOf(r.Facts.Resolved, at)
	r.limit(s, at, db, own, most, known) // what other columns of the space have is no matter to this one
}

// mostOfCase is the largest number that a case of a column takes; known is false if that cannot be
// told.
func mostOfCase(f *rules.Resolved, c *rules.MovedColumn, i int) (most keys.Integer, known bool) {
	if cells := c.Cases[i].Ref.Cells; cells != nil {
		return cells.Most()
	}
	return mostOf(f, c.ColumnName)
}

// limit notes what room a column of the first world has for the values of a world; most is the
// largest number that it takes, if that is known.
func (r *spaceReader) limit(s *rules.KeySpace, at rules.ColumnName, db *rules.Database, values keys.Range, most keys.Integer, known bool) {
	if values.Any && db != r.Facts.Model() {
		if s.Max > 0 && (!known || s.Max < most.Bits) {
			most, known = keys.Integer{Bits: s.Max}, true
		}
		if known {
			of := r.found.in[db].of[s]
			of.Limits = append(of.Limits, keys.Limit{Column: at.String(), Most: most, High: values.High})
		}
	}
}

// addReferences makes a stream look at the columns that refer to spaces.
func (r *spaceReader) addReferences(s *stream.Stream, columns []*rules.MovedColumn) (reads []*referenceRead) {
	for _, c := range columns {
		got := &referenceRead{column: c, at: s.Carry(c.Column), cases: make([]caseRows, len(c.Cases)), cells: make([]func(int) [][]byte, len(c.Cases)), later: make([]later, len(c.Cases))}
		for i, a := range c.Cases {
			got.cases[i].Stays = make(map[keys.Integer]bool)
			when := -1
			if a.Ref.When != nil {
				when = s.Carry(a.Ref.When.Column)
			}
			got.when = append(got.when, when)
			if a.Ref.Cells != nil {
				got.cells[i] = cellsOf(a.Ref.Cells, s)
			} else {
				s.Scan.Numbers = append(s.Scan.Numbers, c.Column)
			}
			got.stay = append(got.stay, r.Facts.Cleared(s.DB, a.Ref))
			left := (*keys.Set)(nil)
			if s := r.Facts.Stays[s.DB][a.Ref.ToTable]; s != nil {
				left = s.Keys
			}
			got.left = append(got.left, left)
		}
		r.takeSets(got, s.DB)
		reads = append(reads, got)
	}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for _, read := range reads {
			for row := range b.Len {
				read.row(s, b, row)
			}
		}
	})
	return reads
}

// takeSets gives the reading of a column the keys that are complete.
func (r *spaceReader) takeSets(read *referenceRead, db *rules.Database) {
	read.sets, read.to, read.incomplete = nil, nil, false
	for _, a := range read.column.Cases {
		var sets []*keys.Set
		for _, at := range a.Space.Columns {
			if set := r.found.in[db].keys[at]; r.complete[set] {
				sets = append(sets, set)
			} else if db.Tables[at.Table] != nil {
				read.incomplete = true
			}
		}
		var to *keys.Set
		if at := targetOf(a.Ref); slices.Contains(a.Space.Columns, at) && r.complete[r.found.in[db].keys[at]] {
			to = r.found.in[db].keys[at]
		}
		read.sets, read.to = append(read.sets, sets), append(read.to, to)
	}
}

// targetOf is the one column that a reference leads to; none if there are several.
func targetOf(ref *rules.Ref) (at rules.ColumnName) {
	if ref.Space == "" && len(ref.Or) == 0 {
		at = ref.Targets(0)[0]
	}
	return at
}

// readApart reads what rows of the first world refer to in tables that are not merged: they
// stay, and what leads nowhere there has to lead nowhere afterwards too.
func (r *spaceReader) readApart(ctx context.Context) error {
	first := r.Facts.Model()
	cases := make(map[rules.ColumnName][]rules.MovedCase)
	for more := true; more; {
		more = false
		for _, table := range slices.Sorted(maps.Keys(first.Apart)) {
			for _, ref := range apartReferences(r.Facts, table) {
				for c, name := range ref.Columns {
					at := rules.ColumnName{Table: table, Column: name}
					for _, to := range r.spacesOf(ref, c, cases) {
						same := func(other rules.MovedCase) bool { return other.Space == to && other.Ref.Same(ref) }
						if !slices.ContainsFunc(cases[at], same) {
							cases[at], more = append(cases[at], rules.MovedCase{Space: to, Ref: ref}), true
						}
					}
				}
			}
		}
	}
	for at, all := range cases {
		if first.Apart[at.Table].Column(at.Column) == nil {
			continue
		}
		s := r.Stream(first, verdict.CodeKeySpace, 0, catalog.Scan{Table: at.Table, Unsorted: true})
		value := s.Carry(at.Column)
		for _, c := range all {
			leaves := Leaves(c.Ref, s)
			numbers := func(row int) []keys.Integer {
				n, ok := keys.ParseInteger(s.CarriedAt(value, row))
				return []keys.Integer{n}[:map[bool]int{true: 1}[ok]]
			}
			if c.Ref.Cells != nil {
				numbers = inCellsOf(c.Ref, s)
			}
			s.Visit = append(s.Visit, func(b *catalog.Batch) {
				for row := range b.Len {
					if leaves(row) {
						continue
					}
					for _, n := range numbers(row) {
						r.found.in[first].of[c.Space].Values.Add(n)
					}
				}
			})
		}
		if _, err := unreadable(s.Drain(ctx)); err != nil { // of what cannot be read nothing is said
			return err
		}
	}
	return nil
}

// apartReferences are those of a table of the first world that is not merged.
func apartReferences(f *Facts, table string) (all []*rules.Ref) {
	refs := f.References(table)
	for i := range refs {
		all = append(all, &refs[i])
	}
	for _, r := range f.Model().Apart[table].References {
		all = append(all, &rules.Ref{Reference: r, Table: table})
	}
	return slices.Concat(all, f.Declared.Severally(table), f.Declared.OfSpaces(table))
}

// spacesOf are the spaces that a column of a reference leads to in the end, by way of
// tables that are merged or, in cases, of others.
func (r *spaceReader) spacesOf(ref *rules.Ref, column int, cases map[rules.ColumnName][]rules.MovedCase) (all []*rules.KeySpace) {
	if ref.Space != "" {
		i := slices.IndexFunc(r.Facts.Moving.Spaces, func(s *rules.KeySpace) bool { return s.Name == ref.Space })
		return r.Facts.Moving.Spaces[i : i+1]
	}
	for _, to := range ref.Targets(column) {
		there := cases[to]
		if m := r.Facts.Moving.Columns[to]; m != nil {
			there = m.Cases
		}
		all = append(all, slice.Map(there, func(c rules.MovedCase) *rules.KeySpace { return c.Space })...)
	}
	return all
}

// setsOf returns the keys of a space.
func (m *measuredIn) setsOf(s *rules.KeySpace) (sets []*keys.Set) {
	for _, at := range s.Columns {
		if set := m.keys[at]; set != nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// referenceRead is the reading of one column.
type referenceRead struct {
	column     *rules.MovedColumn
	at         int                      // its place in Carry
	when       []int                    // of each case, the place of the column of its condition; -1: it has none
	cells      []func(row int) [][]byte // of each case, nil if the value is the whole cell
	sets       [][]*keys.Set            // of each case, the keys of its space that are complete
	to         []*keys.Set              // of each case, those of the column that it names; nil if they are not, or if there are several
	incomplete bool                     // keys of a space are read later
	stay       []*keys.Set              // of each case, keys of rows that stay behind, if their reference is cleared
	left       []*keys.Set              // of each case, keys of rows that stay behind, whatever becomes of their reference
	cases      []caseRows
	later      []later // of each case
}

// later are values that are no key yet, with their rows.
type later struct {
	rows    map[keys.Integer]int64
	tooMany bool
}

// row takes the values of one row in: that of the first case that is about it or, in cells,
// those of all.
func (r *referenceRead) row(s *stream.Stream, b *catalog.Batch, row int) {
	for i := range r.cases {
		ref := r.column.Cases[i].Ref
		switch {
		case r.when[i] >= 0 && !ref.When.Holds(b.Carry[r.when[i]].At(row)):
		case ref.Cells == nil:
			r.whole(s, i, &b.Carry[r.at], row)
			return
		default:
			r.inCells(s, i, row)
		}
	}
}

// whole takes a value in that is the whole cell.
func (r *referenceRead) whole(s *stream.Stream, i int, v *catalog.Vector, row int) {
	c, ref, number := &r.cases[i], r.column.Cases[i].Ref, v.Numbers != nil
	n, ok := v.Integer(row)
	switch {
	case v.IsNull(row):
		c.None++
	case number && ref.None.HasInteger(n) || !number && ref.None.Has(v.At(row)):
		r.nobody(i, n, ok)
	case ok && r.stay[i] != nil && r.stay[i].Has(n):
		c.None++
	case !ok || !number && !n.Is(v.At(row)):
		if c.Foreign++; len(c.Foreigns) < 3 {
			c.Foreigns = append(c.Foreigns, s.Member(row))
		}
	default:
		r.key(s, i, n, row)
	}
}

// inCells takes the keys in, or notes that there is none. What is wrong with cells is for
// [ReferenceRule] to say.
func (r *referenceRead) inCells(s *stream.Stream, i, row int) {
	ref := r.column.Cases[i].Ref
	if slices.ContainsFunc(r.column.Cases[:i], func(c rules.MovedCase) bool { return c.Ref.Same(ref) }) {
		return // one of several spaces
	}
	keys, c := s.KeysIn(ref.Cells, r.cells[i](row), row), &r.cases[i]
	if len(keys) == 0 {
		c.None++
	}
	before := c.Stray
	for _, k := range keys {
		switch {
		case ref.None.HasInteger(k.Value):
			r.nobody(i, k.Value, true)
		case r.stay[i] != nil && r.stay[i].Has(k.Value):
			c.None++
		default:
			r.key(s, i, k.Value, row)
		}
	}
	if c.Stray.Rows > before.Rows { // a row counts once
		c.Stray.Rows, c.Stray.Kept = before.Rows+1, c.Stray.Kept[:min(len(c.Stray.Kept), len(before.Kept)+1)]
	}
}

// nobody notes a value that names nobody, as it is declared.
func (r *referenceRead) nobody(i int, n keys.Integer, number bool) {
	c := &r.cases[i]
	c.None++
	if number && r.column.Cases[i].Space.Kept.HasInteger(n) {
		c.Kept.Add(n)
	} else if number && c.Stays != nil {
		if c.Stays[n] = true; len(c.Stays) > 64 {
			c.Stays = nil
		}
	}
}

// key notes where a key of a row leads.
func (r *referenceRead) key(s *stream.Stream, i int, n keys.Integer, row int) {
	c := &r.cases[i]
	c.Moved.Add(n)
	switch to := r.to[i]; {
	case len(r.column.Cases[i].Space.Columns) == 0, to != nil && to.Has(n):
		c.resolved(n, 1)
		return
	case to != nil:
		c.Stray.Add(s, row)
	}
	switch l := &r.later[i]; {
	case r.leads(i, n):
		c.Unsure = c.Unsure || r.to[i] == nil
		c.resolved(n, 1)
	case !r.incomplete:
		c.Unsure = c.Unsure || r.to[i] == nil
		r.dangles(i, n, 1)
	case l.rows == nil:
		l.rows = map[keys.Integer]int64{n: 1}
	case l.rows[n] > 0 || len(l.rows) < HeavyValues:
		l.rows[n]++
	default:
		l.tooMany = true
	}
}

// leads reports whether a number is one of the keys of the space of a case.
func (r *referenceRead) leads(i int, n keys.Integer) bool {
	ref := r.column.Cases[i].Ref
	for k, sets := range r.sets {
		same := k == i || r.column.Cases[k].Ref.Identity() == ref.Identity() // one of several spaces
		if same && slices.ContainsFunc(sets, func(set *keys.Set) bool { return set.Has(n) }) {
			return true
		}
	}
	return false
}

func (c *caseRows) resolved(n keys.Integer, rows int64) {
	if c.Resolved += rows; suspicious(n) {
		c.watch(n, rows)
	}
}

func (r *referenceRead) dangles(i int, n keys.Integer, rows int64) {
	c := &r.cases[i]
	if c.Dangling += rows; r.left[i] == nil || !r.left[i].Has(n) { // else it names a row, and gone says what becomes of this one
		c.watch(n, rows)
	}
}

func (c *caseRows) watch(n keys.Integer, rows int64) {
	for range rows {
		add(&c.Watched, n)
	}
}

// suspicious reports whether a number may mean nobody wherever it stands.
func suspicious(n keys.Integer) bool { return n.Negative || n.Bits == 0 }

// findOdd finds the values that may mean nobody, but for those that are declared to
// lead nowhere.
func findOdd(c *caseRows, declared *keys.Values, largest func(keys.Integer) bool) {
	all := c.Resolved + c.Dangling
	for v, rows := range c.Watched.Rows {
		why := ""
		switch {
		case declared.HasInteger(v):
			continue
		case suspicious(v):
			why = "it is not above 0"
		case largest(v):
			why = "it is the largest value of the column"
		case rows >= 10 && rows > all/100:
			why = "it matches no row and occurs in many rows"
		default:
			continue
		}
		c.Odd = append(c.Odd, oddValue{Value: v, Rows: rows, Why: why})
	}
	slices.SortFunc(c.Odd, func(a, b oddValue) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), a.Value.Whole().Cmp(b.Value.Whole()))
	})
	c.Watched.Rows = nil
}

// monotone reports whether the values of a case keep their order when they move by an
// offset, those that stay included.
func monotone(c *caseRows, offset uint64) bool {
	if offset == 0 || !c.Moved.Any {
		return true
	}
	if c.Stays == nil {
		return false
	}
	moved, ok := c.Moved.Shift(offset)
	if ok && c.Kept.Any && c.Moved.Low.Less(c.Kept.High) && c.Kept.Low.Less(moved.High) {
		return false
	}
	for n := range maps.Keys(c.Stays) {
		if ok && c.Moved.Low.Less(n) && n.Less(moved.High) {
			return false
		}
	}
	return ok
}
