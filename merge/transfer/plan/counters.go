package plan

// RowCounter is a value in the first world in which the game counts keys. It is raised above
// the keys that come.
type RowCounter struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // empty: Table is a sequence
	Key    string `json:"key,omitempty"`    // of the row; see [rowio.KeyText]
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
}
