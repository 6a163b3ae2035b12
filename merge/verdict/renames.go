package verdict

import (
	"mergesafe/internal/printable"
	"mergesafe/merge/rules"
)

// ResolveByRenaming takes what a result counts as settled if the column is renamed. combined rows become one with
// another that has their name. It returns why that cannot be; "" if it can, or the column is not renamed.
func (r *Result) ResolveByRenaming(f *rules.Resolved, combined int64) (why string) {
	column := rules.Renamed(f, r.Table, r.Columns)
	if r.Count == 0 || column == nil {
		return ""
	}
	if why = f.Unchangeable(r.Table, r.Columns[0]); why != "" {
		return why
	}
	if why = rules.Unnamable(f.Model().Catalog.Engine, f.Model().Tables[r.Table].Column(r.Columns[0]), column.MaxLength); why != "" {
		return why
	}
	r.Renamed = r.Rows - r.Count - combined // one row keeps each value
	r.Message = printable.Count(r.Renamed, "name", "names") + " will be changed, by [[merge.name]]: " + r.Message
	r.Count, r.Rows, r.Samples = 0, 0, nil
	return ""
}

// Renames adds up what results say of renames.
func Renames(results []Result) (n int64) {
	for _, r := range results {
		n += r.Renamed
	}
	return n
}
