package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NameReference is a declared reference to a renamed column: its values are names, and
// a row follows the row of its own database that it names.
type NameReference struct {
	Table, Column string
	To            RenamedColumn

	// Why says why the rows cannot follow; "" if they can.
	Why string

	ref *reference
}

// NameReferences returns the references of the options to the columns that they
// rename, by table and column. The first of the catalogues is the target's.
func NameReferences(opts Options, catalogs []*Catalog) (all []NameReference, err error) {
	d, err := declare(opts, namesIn(catalogs))
	if err != nil {
		return nil, err
	}
	for _, to := range opts.Renames {
		for _, ref := range d.to(columnName{to.Table, to.Column}) {
			all = append(all, NameReference{ref.table, ref.Columns[0], to, ref.cannotFollow(opts, d, catalogs[0]), ref})
		}
	}
	slices.SortStableFunc(all, func(a, b NameReference) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column), strings.Compare(a.ref.identity(), b.ref.identity()))
	})
	return all, nil
}

// namesIn is namesOf of databases of which only the catalogues are known.
func namesIn(catalogs []*Catalog) names {
	var dbs []*database
	for _, c := range catalogs {
		db := &database{tables: make(map[string]*Table), skipped: c.Skipped}
		for i := range c.Tables {
			db.tables[c.Tables[i].Name] = &c.Tables[i]
		}
		dbs = append(dbs, db)
	}
	return namesOf(dbs)
}

// to returns the references of which a value names a row by the column, alone or with
// others.
func (d *declared) to(at columnName) (all []*reference) {
	add := func(refs []*reference) {
		for _, ref := range refs {
			if ref.ToTable == at.table && slices.Contains(ref.ToColumns, at.column) || slices.Contains(ref.or, at) {
				all = append(all, ref)
			}
		}
	}
	for _, r := range d.roles {
		add(r.references)
	}
	add(d.composite)
	return all
}

// cannotFollow says why rows cannot follow the rows that they name when these are
// renamed; "" if they can.
func (ref *reference) cannotFollow(opts Options, d *declared, target *Catalog) string {
	at := columnName{ref.table, ref.Columns[0]}
	switch {
	case len(ref.Columns) > 1:
		return fmt.Sprintf("%s names rows of %s by several columns, and cannot be renamed along", columnList(ref.Columns), ref.ToTable)
	case ref.cells != nil:
		return fmt.Sprintf("the column %s has keys in its cells, and cannot be renamed along", at.column)
	case len(ref.or) > 0:
		return fmt.Sprintf("the column %s names rows of several tables, and cannot be renamed along", at.column)
	case slices.ContainsFunc(opts.Renames, func(r RenamedColumn) bool { return r.Table == at.table && r.Column == at.column }):
		return fmt.Sprintf("the column %s has a [[merge.name]] of its own, and cannot be renamed along with %s.%s", at.column, ref.ToTable, ref.ToColumns[0])
	}
	if others := d.to(at); len(others) > 0 {
		return fmt.Sprintf("%s.%s refers to the column %s, which is renamed along with %s.%s: let it refer to that one",
			others[0].table, columnList(others[0].Columns), at.column, ref.ToTable, ref.ToColumns[0])
	}
	return target.Unchangeable(at.table, at.column)
}

// Carry are the columns of a row that [NameReference.Names] reads, Column first.
func (r *NameReference) Carry() []string {
	columns := []string{r.Column}
	if r.ref.when != nil {
		columns = append(columns, r.ref.when.Column)
	}
	return columns
}

// Names reports whether a row names anything, by its values in the columns of Carry, as
// the database sent them.
func (r *NameReference) Names(carry [][]byte) bool {
	return carry[0] != nil && !r.ref.none.Has(carry[0]) && (r.ref.when == nil || r.ref.when.Holds(carry[1]))
}

// follows reports whether rows that refer to a value of several databases follow the
// row of their own when it is renamed.
func follows(f *resolved, ref reference) bool {
	return renamed(f, ref.ToTable, ref.ToColumns) != nil && ref.cannotFollow(f.opts, f.declared, f.target.catalog) == "" &&
		f.target.catalog.Unchangeable(ref.ToTable, ref.ToColumns[0]) == ""
}
