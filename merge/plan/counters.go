package plan

// Given says how far a world has given out numbers, as one of its counters tells.
type Given struct {
	Table  string `json:"table"`            // or a sequence
	Column string `json:"column,omitempty"` // empty: Table is a sequence
	Key    string `json:"key,omitempty"`    // of the row of a counter in a row; see [world.KeyText]
	Next   uint64 `json:"next"`             // the first number that it has not given
}

// RowCounter is a value in the first world in which the game counts keys. It is raised above
// the keys that come.
type RowCounter struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // empty: Table is a sequence
	Key    string `json:"key,omitempty"`    // of the row; see [world.KeyText]
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
}
