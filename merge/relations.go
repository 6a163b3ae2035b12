package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// unique is a unique index, or columns that the operator declares unique or has renamed.
type unique struct {
	Unique
	declared bool
	of       []string // as DeclaredUnique.Of
}

// uniques returns what is to be unique in a table besides its key, by columns.
func (f *facts) uniques(table string) (all []unique) {
	_, model := f.model(table)
	key := model.key()
	for _, u := range model.Uniques {
		if u.Unclear != "" || len(model.Primary) > 0 || !slices.Equal(u.Columns, key) {
			all = append(all, unique{Unique: u})
		}
	}
	for _, d := range f.opts.Uniques {
		same := func(u unique) bool { return u.Unclear == "" && slices.Equal(u.Columns, d.Columns) }
		if d.Table == table && !slices.Equal(d.Columns, key) && !slices.ContainsFunc(all, same) {
			all = append(all, unique{Unique{Name: d.Name, Columns: d.Columns}, true, d.Of})
		}
	}
	for _, r := range f.opts.Renames {
		columns := []string{r.Column}
		same := func(u unique) bool { return u.Unclear == "" && slices.Equal(u.Columns, columns) }
		if r.Table == table && !slices.Equal(columns, key) && model.column(r.Column) != nil && !slices.ContainsFunc(all, same) {
			all = append(all, unique{Unique{Columns: columns}, true, nil})
		}
	}
	if n := f.renumbers[table]; n != nil && !slices.ContainsFunc(all, func(u unique) bool { return u.Unclear == "" && n.are(u.Columns) }) {
		all = append(all, unique{Unique{Columns: n.columns()}, true, n.Within})
	}
	slices.SortStableFunc(all, func(a, b unique) int { return slices.Compare(a.Columns, b.Columns) })
	return all
}

// reference is a foreign key, or one that the operator declares.
type reference struct {
	Reference
	table string       // that has the columns
	space string       // whose numbers it names, which are keys of no table; "" otherwise
	or    []columnName // further keys, of which each value names one
	none  rekey.Values // names nothing

	dangling rekey.Values // may look so, and names rows that are gone
	declared DeclaredReference
	when     *When   // of the rows that it is about; nil: all
	others   string  // what is declared of the other rows
	except   []*When // rows that it is not about

	cells *cell.Row // where its keys are; nil: the value is the whole cell
	part  bool      // of a key in several columns, of which another one stands for all
}

func (r reference) subject() string {
	s := columnList(r.Columns) + " → " + spacePrefix + r.space
	if r.space == "" {
		s = columnList(r.Columns) + " → " + r.ToTable + "." + columnList(r.ToColumns)
	}
	for _, to := range r.or {
		s += " or " + to.String()
	}
	if r.cells != nil {
		s += " in " + r.cells.String()
	}
	if r.when != nil {
		s += " when " + r.when.String()
	}
	return s
}

// same reports whether two references say the same.
func (r *reference) same(other *reference) bool { return r.identity() == other.identity() }

// identity tells the reference from others of its table.
func (r *reference) identity() string {
	return fmt.Sprintf("%q %q %q %q %v %v %v %q %v %q", r.Columns, r.space, r.ToTable, r.ToColumns, r.or, r.none, r.when, r.others, r.except, r.declared.Format)
}

// references returns the references of a table that any of the databases or
// the operator declares, each once: what one of them relies on must hold in
// all. Those to one of several keys and those in cells are not among them, nor those of which it is said what
// becomes of the rows, since what they refer to stays behind.
func (f *facts) references(table string) []reference {
	return slices.DeleteFunc(allReferences(f, table), func(r reference) bool { return f.rows[r.ToTable] != "" })
}

// allReferences are those too of which it is said what becomes of the rows.
func allReferences(f *facts, table string) (all []reference) {
	for at, r := range f.declared.roles {
		if at.table != table {
			continue
		}
		for _, ref := range r.references {
			if len(ref.or) == 0 && ref.space == "" && ref.cells == nil {
				all = append(all, *ref)
			}
		}
	}
	for _, ref := range f.declared.composite {
		if ref.table == table {
			all = append(all, *ref)
		}
	}
	for _, t := range f.having(table) {
		for _, r := range t.References {
			ref := reference{Reference: r, table: table}
			known := func(other reference) bool {
				return slices.Equal(other.Columns, r.Columns) && other.ToTable == r.ToTable && slices.Equal(other.ToColumns, r.ToColumns)
			}
			if !slices.ContainsFunc(all, known) {
				all = append(all, ref)
			}
		}
	}
	for i := range all {
		if r := &all[i]; r.declared.At == nil && r.declared.Table == "" { // the declared ones know
			f.keeps.apply(r)
		}
	}
	slices.SortStableFunc(all, func(a, b reference) int {
		return cmp.Or(
			slices.Compare(a.Columns, b.Columns),
			strings.Compare(a.ToTable, b.ToTable),
			slices.Compare(a.ToColumns, b.ToColumns),
			strings.Compare(a.identity(), b.identity()),
		)
	})
	return all
}

// cannotRefer says why the database cannot follow the reference, or returns "".
func (db *database) cannotRefer(table string, ref Reference) string {
	to := db.tables[ref.ToTable]
	if to == nil {
		if db.behind[ref.ToTable] {
			return "refers to " + ref.ToTable + `, whose rows stay behind: set rows = "drop" or "none" in its [[merge.table]]`
		}
		if slices.Contains(db.excluded, ref.ToTable) {
			return "refers to " + ref.ToTable + ", which is " + excludedReason
		}
		if reason := db.unread(ref.ToTable); reason != "" {
			return "refers to " + ref.ToTable + ": " + reason
		}
		return "has no table " + ref.ToTable
	}
	for i, name := range ref.Columns {
		if db.tables[table].column(name) == nil {
			return "has no column " + name
		}
		if to.column(ref.ToColumns[i]) == nil {
			return "has no column " + ref.ToTable + "." + ref.ToColumns[i]
		}
	}
	return ""
}
