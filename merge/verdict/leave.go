package verdict

import "mergesafe/merge/rules"

// Leave is a statement by which rows stay behind, and what became of it.
type Leave struct {
	rules.Leave

	// Now is the number of :now in its condition: seconds since 1970.
	Now int64 `json:"now"`

	// None are the values of Best.Of that make no group.
	None []string `json:"none,omitempty"`

	Counted *Counted `json:"counted,omitempty"` // by Fewer

	// Worlds are the databases of which rows may stay behind, in their order.
	Worlds []LeaveWorld `json:"worlds"`
}

// Counted are the rows that Fewer counts, by the row that they name.
type Counted struct {
	Table  string      `json:"table"`
	Column string      `json:"column"`
	And    []string    `json:"and,omitempty"`  // further columns, in the order of the key
	None   []string    `json:"none,omitempty"` // values that name no row
	When   *rules.When `json:"when,omitempty"`
	In     []string    `json:"in"` // the databases that have the table
}

// LeaveWorld is what became of a statement in one database.
type LeaveWorld struct {
	World string `json:"world"`
	Rows  int64  `json:"rows"`            // that stay behind because of the statement
	Nulls int64  `json:"nulls,omitempty"` // of which the condition is NULL: they come

	// Holds is the digest of the keys for which the condition holds.
	Holds string `json:"holds,omitempty"`
}

// Staying is what a person looks at before rows stay behind: how many, examples on both sides, and money.
type Staying struct {
	Tables   []StayingTable `json:"tables"`   // of which rows stay, by world
	Close    []CloseRows    `json:"close"`    // rows that come, and nearly did not
	Cascades []Cascade      `json:"cascades"` // those of most rows
}

// StayingTable are the rows of a table of one world.
type StayingTable struct {
	World string       `json:"world"`
	Table string       `json:"table"`
	Stay  int64        `json:"stay"`
	Come  int64        `json:"come"`
	Why   []StayingWhy `json:"why"` // each row that stays counts once
	Sums  []StayingSum `json:"sums,omitempty"`
}

// StayingWhy are rows that stay behind for one reason.
type StayingWhy struct {
	Why    string   `json:"why"`
	Rows   int64    `json:"rows"`
	SuchAs []string `json:"such_as,omitempty"` // the first keys
	Took   float64  `json:"took,omitempty"`    // seconds that the server took for the condition, if it was one or more
}

// StayingSum is a column of money: what it adds up to in the rows that stay, and in those that come.
type StayingSum struct {
	Column string `json:"column"`
	Stay   string `json:"stay"`
	Come   string `json:"come"`
}

// CloseRows are rows of one world that come by one term of a condition, or as the last of the best.
type CloseRows struct {
	World  string   `json:"world"`
	Table  string   `json:"table"`
	Why    string   `json:"why"`
	Rows   int64    `json:"rows"`
	SuchAs []string `json:"such_as"` // the first keys
}

// Cascade is a row that stays behind by itself, and the rows that stay since they refer to it, or to one of
// these.
type Cascade struct {
	World  string        `json:"world"`
	Table  string        `json:"table"`
	Key    string        `json:"key"`
	Why    string        `json:"why"`
	Rows   int64         `json:"rows"` // without the row itself
	Follow []CascadeRows `json:"follow"`
}

// CascadeRows are its rows in one table.
type CascadeRows struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}
