package check

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// apartColumn is an undeclared column of a table of the first world whose rows stay.
type apartColumn struct {
	rules.ColumnName
	rows  int64    // with a value that names no row now, and would name one that comes
	names []string // the spaces of these
}

// columnsApart reads the tables of the first world whose rows stay beside those that come: a
// number there, also as a text, that nobody declared, and that names no row now, would name
// one of a world if it became a key.
func (r *spaceReader) columnsApart(ctx context.Context, k *Rekeyed) (all []apartColumn, err error) {
	referred := referredTo(r.Facts)
	for _, table := range rules.KeyTables(r.Facts.Resolved) {
		t := r.Facts.Model().Apart[table]
		if t == nil || !r.Facts.Skip[table] || r.Facts.Reset[table] {
			continue
		}
		var columns []string
		for _, c := range t.Columns {
			if t.AutoIncrement != nil && t.AutoIncrement.Column == c.Name || referred[rules.ColumnName{Table: table, Column: c.Name}] {
				continue // a key of these rows: it refers to nothing
			}
			_, counted := r.Facts.Moving.Counted(rules.ColumnName{Table: table, Column: c.Name})
			if (c.Kind == catalog.KindInteger || c.Kind == catalog.KindText) && r.Facts.Unsaid(table, c.Name) && !counted {
				columns = append(columns, c.Name)
			}
		}
		if len(columns) == 0 {
			continue
		}
		type hit struct {
			column string
			space  *rules.KeySpace
		}
		hits := make(map[hit]int64)
		carry, covered := r.Facts.Moving.Uncounted(table, columns)
		s := r.Stream(r.Facts.Model(), verdict.CodeKeySpace, 0, catalog.Scan{Table: table, Carry: carry, Unsorted: true})
		keyed := r.addApartKey(s, t)
		s.Visit = append(s.Visit, func(b *catalog.Batch) {
			for i, column := range columns {
				for row := range b.Len {
					v := b.Carry[i].At(row)
					n, ok := keys.ParseInteger(v)
					ok = ok && n.String() == string(v) && !covered(b, i, row) // a text may have other digits
					for _, space := range r.Facts.Moving.Spaces {
						if ok && becomesKey(r.Facts.Model(), k, r.found, space, n) {
							hits[hit{column, space}]++
						}
					}
				}
			}
		})
		if err := s.Drain(ctx); err != nil {
			return nil, err
		}
		keyed()
		for _, column := range columns {
			c := apartColumn{ColumnName: rules.ColumnName{Table: table, Column: column}}
			for _, space := range r.Facts.Moving.Spaces {
				if n := hits[hit{column, space}]; n > 0 {
					c.rows, c.names = max(c.rows, n), append(c.names, space.Name)
				}
			}
			if c.rows > 0 {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// addApartKey makes a stream gather the numbers in the key of a table of which no rows come: columns may name them. What it
// returns keeps them.
func (r *spaceReader) addApartKey(s *stream.Stream, t *catalog.Table) (read func()) {
	if len(t.Primary) == 0 || t.Column(t.Primary[0]).Kind != catalog.KindInteger {
		return func() {}
	}
	at := rules.ColumnName{Table: t.Name, Column: t.Primary[0]}
	if r.Facts.Moving.Columns[at] != nil {
		return func() {}
	}
	values, column := new(columnValues), s.Carry(at.Column)
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			if n, ok := b.Carry[column].Integer(row); ok {
				values.Add(n)
			}
		}
	})
	return func() {
		values.Finish()
		r.found.in[s.DB].values.of[at] = values
	}
}

// referredTo are the columns of which it is said that others refer to them.
func referredTo(f *Facts) map[rules.ColumnName]bool {
	all := make(map[rules.ColumnName]bool)
	note := func(r catalog.Reference, or ...rules.ColumnName) {
		if len(r.ToColumns) == 1 {
			all[rules.ColumnName{Table: r.ToTable, Column: r.ToColumns[0]}] = true
		}
		for _, at := range or {
			all[at] = true
		}
	}
	for table := range f.Names {
		for _, r := range rules.AllReferences(f.Resolved, table) {
			note(r.Reference)
		}
		for _, r := range f.Declared.Severally(table) {
			note(r.Reference, r.Or...)
		}
		if t := f.Model().Apart[table]; t != nil {
			for _, r := range t.References {
				note(r)
			}
		}
	}
	return all
}

// becomesKey reports whether a number that is no key of the first world becomes one of another.
func becomesKey(first *rules.Database, k *Rekeyed, read *measured, space *rules.KeySpace, n keys.Integer) bool {
	has := func(db *rules.Database, offset uint64) bool {
		old, ok := n.Sub(offset)
		return ok && slices.ContainsFunc(read.in[db].setsOf(space), func(set *keys.Set) bool { return set.Has(old) })
	}
	if has(first, 0) {
		return false
	}
	for db, offset := range k.Of[space] {
		if has(db, offset) {
			return true
		}
	}
	return false
}
