package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
)

// NameReference is a declared reference to a renamed column: its values are names, and
// a row follows the row of its own database that it names.
type NameReference struct {
	Table, Column string
	To            RenamedColumn

	// Why says why the rows cannot follow; "" if they can.
	Why string

	ref *Ref
}

// NameReferences returns the references to the columns that are renamed, and to those that follow them, by table and
// column.
func (f *Resolved) NameReferences() (all []NameReference) {
	for _, to := range f.Opts.Renames {
		all = f.following(all, to, ColumnName{to.Table, to.Column})
	}
	slices.SortStableFunc(all, func(a, b NameReference) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column), strings.Compare(a.ref.Identity(), b.ref.Identity()))
	})
	return all
}

// following appends the references to a column, and to those that follow it, unless they are there.
func (f *Resolved) following(all []NameReference, to RenamedColumn, at ColumnName) []NameReference {
	for _, ref := range f.naming(at) {
		if slices.ContainsFunc(all, func(n NameReference) bool {
			return n.To.Table == to.Table && n.To.Column == to.Column && n.Table == ref.Table && n.ref.Same(ref)
		}) {
			continue
		}
		n := NameReference{ref.Table, ref.Columns[0], to, cannotFollow(f, ref), ref}
		if all = append(all, n); n.Why == "" {
			all = f.following(all, to, ColumnName{n.Table, n.Column})
		}
	}
	return all
}

// naming returns the references to a column: what [Declared.to] does, and foreign keys.
func (f *Resolved) naming(at ColumnName) []*Ref {
	all := f.Declared.to(at)
	for _, table := range f.Tables {
		for _, t := range f.Having(table) {
			for _, r := range t.References {
				ref := &Ref{Reference: r, Table: table}
				if r.ToTable == at.Table && slices.Contains(r.ToColumns, at.Column) && !slices.ContainsFunc(all, ref.leads) {
					all = append(all, ref)
				}
			}
		}
	}
	return all
}

// leads reports whether another reference leads from the same columns to the same.
func (r *Ref) leads(other *Ref) bool {
	return other.Table == r.Table && slices.Equal(other.Columns, r.Columns) && other.ToTable == r.ToTable && slices.Equal(other.ToColumns, r.ToColumns)
}

// isName reports whether a column gets new names, by itself or along with another. below are columns that refer to it.
func (f *Resolved) isName(at ColumnName, below ...ColumnName) bool {
	return Renamed(f, at.Table, []string{at.Column}) != nil || !slices.Contains(below, at) &&
		slices.ContainsFunc(AllReferences(f, at.Table), func(r Ref) bool {
			return len(r.Columns) == 1 && r.Columns[0] == at.Column && f.isName(ColumnName{r.ToTable, r.ToColumns[0]}, append(below, at)...)
		})
}

// to returns the references of which a value names a row by the column, alone or with
// others.
func (d *Declared) to(at ColumnName) (all []*Ref) {
	add := func(refs []*Ref) {
		for _, ref := range refs {
			if ref.ToTable == at.Table && slices.Contains(ref.ToColumns, at.Column) || slices.Contains(ref.Or, at) {
				all = append(all, ref)
			}
		}
	}
	for _, r := range d.Roles {
		add(r.References)
	}
	add(d.Composite)
	return all
}

// cannotFollow says why rows cannot follow the rows that they name when these are
// renamed; "" if they can.
func cannotFollow(f *Resolved, ref *Ref) string {
	at := ColumnName{ref.Table, ref.Columns[0]}
	switch {
	case len(ref.Columns) > 1:
		return fmt.Sprintf("%s refers to rows of %s by several columns, and cannot be renamed with them", catalog.ColumnList(ref.Columns), ref.ToTable)
	case ref.Cells != nil:
		return fmt.Sprintf("the column %s has keys in its cells, and cannot be renamed with them", at.Column)
	case len(ref.Or) > 0:
		return fmt.Sprintf("the column %s refers to rows of several tables, and cannot be renamed with them", at.Column)
	case slices.ContainsFunc(f.Opts.Renames, func(r RenamedColumn) bool { return r.Table == at.Table && r.Column == at.Column }):
		return fmt.Sprintf("the column %s has a [[merge.name]] of its own, and cannot be renamed with %s.%s", at.Column, ref.ToTable, ref.ToColumns[0])
	}
	if others := f.naming(at); ref.When != nil && len(others) > 0 {
		return fmt.Sprintf("%s.%s refers to the column %s, in which some rows are renamed with %s.%s: let it refer to that column",
			others[0].Table, catalog.ColumnList(others[0].Columns), at.Column, ref.ToTable, ref.ToColumns[0])
	}
	return f.Unchangeable(at.Table, at.Column)
}

// When is the condition for the rows; nil for all.
func (r *NameReference) When() *When { return r.ref.When }

// Carry are the columns of a row that [NameReference.Names] reads, Column first.
func (r *NameReference) Carry() []string {
	columns := []string{r.Column}
	if r.ref.When != nil {
		columns = append(columns, r.ref.When.Column)
	}
	return columns
}

// Names reports whether a row names anything, by its values in the columns of Carry, as
// the database sent them.
func (r *NameReference) Names(carry [][]byte) bool {
	return carry[0] != nil && !r.ref.None.Has(carry[0]) && (r.ref.When == nil || r.ref.When.Holds(carry[1]))
}

// Follows reports whether rows that refer to a value of several databases follow the
// row of their own when it is renamed.
func Follows(f *Resolved, ref Ref) bool {
	return slices.ContainsFunc(f.NameReferences(), func(n NameReference) bool {
		return n.Why == "" && n.ref.leads(&ref) && f.Unchangeable(n.To.Table, n.To.Column) == ""
	})
}
