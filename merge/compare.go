package merge

// Change is a difference between two reports about the same sources.
type Change struct {
	Source string `json:"source,omitempty"` // empty: the merge as a whole
	Table  string `json:"table,omitempty"`
	What   string `json:"what"` // "rows", "server 7: IDs", "key-collision id"
	Old    string `json:"old"`  // empty: there was none
	New    string `json:"new"`  // empty: there is none
}

// Compare tells what moved between two reports: rows, IDs and marks of servers,
// and what the rules found. Nothing moved if it returns nothing.
func Compare(old, new *Report) []Change {
	return nil
}
