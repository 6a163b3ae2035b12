package merge

import (
	"context"
	"slices"

	"mergesafe/merge/rekey"
)

// apartColumn is an undeclared column of a table of the target whose rows stay.
type apartColumn struct {
	columnName
	rows  int64    // with a value that names no row now, and would name one that comes
	names []string // the spaces of these
}

// columnsApart reads the tables of the target whose rows stay beside those that come: a
// number there, also as a text, that nobody declared, and that names no row now, would name
// one of a source if it became a key.
func (r *spaceReader) columnsApart(ctx context.Context, k *rekeyed) (all []apartColumn, err error) {
	referred := referredTo(r.facts)
	for _, table := range keyTables(r.facts.resolved) {
		t := r.facts.target.apart[table]
		if t == nil || !r.facts.skip[table] || r.facts.reset[table] {
			continue
		}
		var columns []string
		for _, c := range t.Columns {
			if t.AutoIncrement != nil && t.AutoIncrement.Column == c.Name || referred[columnName{table, c.Name}] {
				continue // a key of these rows: it refers to nothing
			}
			_, counted := r.moving.counted(columnName{table, c.Name})
			if (c.Kind == KindInteger || c.Kind == KindText) && r.facts.declared.role(table, c.Name).kind == roleOpen && !foreignKey(r.facts.resolved, table, c.Name) && !counted {
				columns = append(columns, c.Name)
			}
		}
		if len(columns) == 0 {
			continue
		}
		hits := make(map[string]map[*keySpace]int64)
		carry, covered := r.moving.uncounted(table, columns)
		s := r.stream(r.facts.target, r.code, 0, Scan{Table: table, Carry: carry, Unsorted: true})
		s.visit = append(s.visit, func(b *Batch) {
			for i, column := range columns {
				for row := range b.Len {
					v := b.Carry[i].At(row)
					n, ok := rekey.ParseInteger(v)
					ok = ok && n.String() == string(v) && !covered(b, i, row) // a text may have other digits
					for _, space := range r.moving.spaces {
						if !ok || !k.becomesKey(r.found, space, n) {
							continue
						}
						if hits[column] == nil {
							hits[column] = make(map[*keySpace]int64)
						}
						hits[column][space]++
					}
				}
			}
		})
		if err := s.drain(ctx); err != nil {
			return nil, err
		}
		for _, column := range columns {
			c := apartColumn{columnName: columnName{table, column}}
			for _, space := range r.moving.spaces {
				if n := hits[column][space]; n > 0 {
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

// referredTo are the columns of which it is said that others refer to them.
func referredTo(f *facts) map[columnName]bool {
	all := make(map[columnName]bool)
	note := func(r Reference, or ...columnName) {
		if len(r.ToColumns) == 1 {
			all[columnName{r.ToTable, r.ToColumns[0]}] = true
		}
		for _, at := range or {
			all[at] = true
		}
	}
	for table := range f.names {
		for _, r := range allReferences(f.resolved, table) {
			note(r.Reference)
		}
		for _, r := range f.declared.severally(table) {
			note(r.Reference, r.or...)
		}
		if t := f.target.apart[table]; t != nil {
			for _, r := range t.References {
				note(r)
			}
		}
	}
	return all
}

// becomesKey reports whether a number that is no key of the target becomes one of a
// source.
func (k *rekeyed) becomesKey(read *measured, space *keySpace, n rekey.Integer) bool {
	has := func(db *database, offset uint64) bool {
		old, ok := n.Sub(offset)
		return ok && slices.ContainsFunc(read.setsOf(space, db), func(set *rekey.Set) bool { return set.Has(old) })
	}
	if has(k.target, 0) {
		return false
	}
	for db, offset := range k.of[space] {
		if has(db, offset) {
			return true
		}
	}
	return false
}
