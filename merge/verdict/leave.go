package verdict

import "mergesafe/merge/declare"

// Leave is a statement by which rows stay behind, and what became of it.
type Leave struct {
	declare.Leave

	// Now is the number of :now in its condition: seconds since 1970.
	Now int64 `json:"now"`

	// Zero and None are the values of Best.Of that make no group.
	Zero bool     `json:"zero_is_none,omitempty"`
	None []string `json:"none,omitempty"`

	Counted *Counted `json:"counted,omitempty"` // by Fewer

	// Worlds are the databases of which rows may stay behind, in their order.
	Worlds []LeaveWorld `json:"worlds"`
}

// Counted are the rows that Fewer counts, by the row that they name.
type Counted struct {
	Table  string        `json:"table"`
	Column string        `json:"column"`
	Zero   bool          `json:"zero_is_none,omitempty"`
	None   []string      `json:"none,omitempty"` // values that name no row
	When   *declare.When `json:"when,omitempty"`
	In     []string      `json:"in"` // the databases that have the table
}

// LeaveWorld is what became of a statement in one database.
type LeaveWorld struct {
	Source string `json:"source"`
	Rows   int64  `json:"rows"`            // that stay behind because of the statement
	Nulls  int64  `json:"nulls,omitempty"` // of which the condition is NULL: they come

	// Holds is the digest of the keys for which the condition holds.
	Holds string `json:"holds,omitempty"`
}
