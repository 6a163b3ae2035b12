package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Unique is a unique index, or columns that the operator declares unique or has renamed.
type Unique struct {
	catalog.Unique
	Declared bool
	Of       []string // as DeclaredUnique.Of
}

// Uniques returns what is to be unique in a table besides its key, by columns.
func (f *Resolved) Uniques(table string) (all []Unique) {
	_, model := f.ModelOf(table)
	key := model.Key()
	for _, u := range model.Uniques {
		if u.Unclear != "" || len(model.Primary) > 0 || !slices.Equal(u.Columns, key) {
			all = append(all, Unique{Unique: u})
		}
	}
	for _, d := range f.Opts.Uniques {
		same := func(u Unique) bool { return u.Unclear == "" && slices.Equal(u.Columns, d.Columns) }
		if d.Table == table && !slices.Equal(d.Columns, key) && !slices.ContainsFunc(all, same) {
			all = append(all, Unique{catalog.Unique{Name: d.Name, Columns: d.Columns}, true, d.Of})
		}
	}
	for _, r := range f.Opts.Renames {
		columns := []string{r.Column}
		same := func(u Unique) bool { return u.Unclear == "" && slices.Equal(u.Columns, columns) }
		if r.Table == table && !slices.Equal(columns, key) && model.Column(r.Column) != nil && !slices.ContainsFunc(all, same) {
			all = append(all, Unique{catalog.Unique{Columns: columns}, true, nil})
		}
	}
	if n := f.Renumbers[table]; n != nil && !slices.ContainsFunc(all, func(u Unique) bool { return u.Unclear == "" && n.Are(u.Columns) }) {
		all = append(all, Unique{catalog.Unique{Columns: n.Columns()}, true, n.Within})
	}
	slices.SortStableFunc(all, func(a, b Unique) int { return slices.Compare(a.Columns, b.Columns) })
	return all
}

// Ref is a foreign key, or one that the operator declares.
type Ref struct {
	catalog.Reference
	Table string       // that has the columns
	Space string       // whose numbers it names, which are keys of no table; "" otherwise
	Or    []ColumnName // further keys, of which each value names one
	None  keys.Values  // names nothing

	Dangling keys.Values // may look so, and names rows that are gone
	Declared DeclaredReference
	When     *When   // of the rows that it is about; nil: all
	Except   []*When // rows that it is not about

	Cells *keys.Row // where its keys are; nil: the value is the whole cell
	part  bool      // of a key in several columns, of which another one stands for all
}

func (r Ref) Subject() string {
	s := catalog.ColumnList(r.Columns) + " → " + SpacePrefix + r.Space
	if r.Space == "" {
		s = r.Reference.Subject()
	}
	for _, to := range r.Or {
		s += " or " + to.String()
	}
	if r.Cells != nil {
		s += " in " + r.Cells.String()
	}
	if r.When != nil {
		s += " when " + r.When.String()
	}
	return s
}

// Targets are the keys that its column of that number may name, each value one of them.
func (r *Ref) Targets(column int) []ColumnName {
	return append([]ColumnName{{r.ToTable, r.ToColumns[column]}}, r.Or...)
}

// Same reports whether two references say the same.
func (r *Ref) Same(other *Ref) bool { return r.Identity() == other.Identity() }

// Identity tells the reference from others of its table.
func (r *Ref) Identity() string {
	is := fmt.Sprintf("%q %q %q %q %v %v %v %q %v %q", r.Columns, r.Space, r.ToTable, r.ToColumns, r.Or, r.None, r.When, r.Declared.Others, r.Except, r.Declared.Format)
	if r.Declared.Gone != "" {
		is += fmt.Sprintf(" %q", r.Declared.Gone)
	}
	return is
}

// References returns the references of a table that any of the databases or
// the operator declares, each once: what one of them relies on must hold in
// all. Those to one of several keys and those in cells are not among them, nor those of which it is said what
// becomes of the rows, since what they refer to stays behind.
func (f *Resolved) References(table string) []Ref {
	return slices.DeleteFunc(AllReferences(f, table), func(r Ref) bool { return f.severed(&r) })
}

// AllReferences are those too of which it is said what becomes of the rows.
func AllReferences(f *Resolved, table string) (all []Ref) {
	for at, r := range f.Declared.Roles {
		if at.Table != table {
			continue
		}
		for _, ref := range r.References {
			if len(ref.Or) == 0 && ref.Space == "" && ref.Cells == nil {
				all = append(all, *ref)
			}
		}
	}
	for _, ref := range f.Declared.Composite {
		if ref.Table == table {
			all = append(all, *ref)
		}
	}
	for _, t := range f.Having(table) {
		for _, r := range t.References {
			ref := Ref{Reference: r, Table: table}
			if !slices.ContainsFunc(all, func(other Ref) bool { return ref.leads(&other) }) {
				all = append(all, ref)
			}
		}
	}
	for i := range all {
		if r := &all[i]; r.Declared.At == nil && r.Declared.Table == "" { // the declared ones know
			f.Keeps.apply(r)
		}
	}
	slices.SortStableFunc(all, func(a, b Ref) int {
		return cmp.Or(
			slices.Compare(a.Columns, b.Columns),
			strings.Compare(a.ToTable, b.ToTable),
			slices.Compare(a.ToColumns, b.ToColumns),
			strings.Compare(a.Identity(), b.Identity()),
		)
	})
	return all
}

// CannotRefer says why the database cannot follow the reference, or returns "".
func (db *Database) CannotRefer(table string, ref catalog.Reference) string {
	to := db.Tables[ref.ToTable]
	if to == nil {
		if db.Apart[ref.ToTable] != nil {
			return "refers to " + ref.ToTable + `, whose rows stay behind: set gone = "drop" or "none" in the [[check.reference]] to it`
		}
		if reason := db.Unread(ref.ToTable); reason != "" {
			return "refers to " + ref.ToTable + ": " + reason
		}
		return "has no table " + ref.ToTable
	}
	for i, name := range ref.Columns {
		if db.Tables[table].Column(name) == nil {
			return "has no column " + name
		}
		if to.Column(ref.ToColumns[i]) == nil {
			return "has no column " + ref.ToTable + "." + ref.ToColumns[i]
		}
	}
	return ""
}

// HasNone reports whether values are declared to name no row, though keys could have them.
func (r *Ref) HasNone() bool {
	return r.Space == "" && len(r.Declared.None) > 0
}
