package merge

import (
	"cmp"
	"slices"
	"strings"
)

// unique is a unique index, or columns that the operator declares unique.
type unique struct {
	Unique
	declared bool
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
			all = append(all, unique{Unique{Name: d.Name, Columns: d.Columns}, true})
		}
	}
	slices.SortStableFunc(all, func(a, b unique) int { return slices.Compare(a.Columns, b.Columns) })
	return all
}

// reference is a foreign key, or one that the operator declares.
type reference struct {
	Reference
	zeroIsNone bool
}

func (r reference) subject() string {
	return columnList(r.Columns) + " → " + r.ToTable + "." + columnList(r.ToColumns)
}

// references returns the references of a table that any of the databases or
// the operator declares, each once: what one of them relies on must hold in
// all.
func (f *facts) references(table string) (all []reference) {
	for _, d := range f.opts.References {
		if d.Table == table {
			all = append(all, reference{Reference{Columns: d.Columns, ToTable: d.ToTable, ToColumns: d.ToColumns}, d.ZeroIsNone})
		}
	}
	for _, t := range f.having(table) {
		for _, r := range t.References {
			all = append(all, reference{Reference: r})
		}
	}
	compare := func(a, b reference) int {
		return cmp.Or(
			slices.Compare(a.Columns, b.Columns),
			strings.Compare(a.ToTable, b.ToTable),
			slices.Compare(a.ToColumns, b.ToColumns),
		)
	}
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b reference) bool { return compare(a, b) == 0 })
}

// cannotRefer says why the database cannot follow the reference, or returns "".
func (db *database) cannotRefer(table string, ref Reference) string {
	to := db.tables[ref.ToTable]
	if to == nil {
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
