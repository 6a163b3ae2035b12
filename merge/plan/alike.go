package plan

import "mergesafe/merge/world"

// Alike are rows that are the same in every database, as the check found: a table of the
// policy same, or built-in rows. Those of the first world come, and no others.
type Alike struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // of the keys of built-in rows; empty: all rows of the table
	Keys   string `json:"keys,omitempty"`

	// Rows and Sums are of each world when the plan was made.
	Rows int64       `json:"rows"`
	Sums []world.Sum `json:"sums"`
}
