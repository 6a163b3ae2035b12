package job

import "mergesafe/merge/world"

// Naming is how rows are read to be named: by their primary key, or by some other
// columns if the table has none.
func (r *Run) Naming(table string, otherwise []string) *world.Layout {
	l := &world.Layout{Dialect: r.New.Dialect(), Table: table, Columns: otherwise}
	if keyed := r.Keys[table]; keyed != nil && !keyed.Multiset() {
		l.Columns = keyed.KeyColumns()
	}
	for i, name := range l.Columns {
		l.Reads, l.Key, l.Text = append(l.Reads, l.Dialect.Quote(name)), append(l.Key, i), append(l.Text, false)
	}
	return l
}
