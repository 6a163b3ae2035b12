package plan

import "mergesafe/merge/transfer/rowio"

// In is what a database has, by its number: the target is 0.
func (t *Table) In(database int) *rowio.Content {
	if database == 0 {
		return &t.Target
	}
	return &t.Sources[database-1]
}

// A table of the policy reset is empty after the merge. Its rows are kept in a table of the
// merge's own until an undo puts them back; see [sqldb.KeptPrefix].
//
// If nothing else hangs on the table, it is renamed, whatever its size, and an empty one of the
// same make is made in its place. That one is never renamed itself: MariaDB 10.11 may not come
// up again if it is killed soon after a table was made and renamed (MDEV-40728), so the two
// cannot change places in one statement, and what was interrupted in between is mended first of
// all. Foreign keys and triggers would go along with the name, a CHECK of MySQL would lose its
// own, and the names of SQLite's indexes are taken: then the rows are moved, in one transaction.
//
// How far that is, the names of the tables tell, so that it needs no checkpoint.

// Reset is a table that is empty after the merge.
type Reset struct {
	Table string    `json:"table"`
	Rows  int64     `json:"rows"` // the target's own, which are removed
	Sum   rowio.Sum `json:"sum"`  // over these
	Kept  string    `json:"kept"` // the table that keeps them until the merge is undone

	// Moved says that the rows are moved there. Otherwise the table itself is renamed.
	Moved bool `json:"moved,omitempty"`
}

// Reset returns what becomes of a table that is emptied, or nil.
func (p *Plan) Reset(table string) *Reset {
	return rowio.First(p.Resets, func(s *Reset) bool { return s.Table == table })
}

// TakenOut is how many rows of the target are removed from tables that are emptied.
func (p *Plan) TakenOut() int64 { return rowio.Total(p.Resets, func(s *Reset) int64 { return s.Rows }) }

// Merged is what the target should hold after the merge.
func (t *Table) Merged() rowio.Content {
	if t.Combine != nil {
		return rowio.Content{Rows: t.Target.Rows + t.Combine.Copied, Sum: t.Combine.After}
	}
	want := rowio.Content{Rows: t.Target.Rows, Sum: t.Target.After}
	for _, c := range t.Sources {
		want.Rows += c.Rows
		want.Sum = want.Sum.Add(c.After)
	}
	return want
}
