package verdict

// Renumbered is the result of a [rules.Renumber] for a table.
type Renumbered struct {
	Table  string   `json:"table"`
	Column string   `json:"column"`
	Within []string `json:"within"`
	From   *int64   `json:"from,omitempty"`
	Max    *int64   `json:"max,omitempty"`
	Counts []int64  `json:"rows"` // that get another value, of each world in their order

	Rows []RenumberedRow `json:"-"`
}

// RenumberedRow is a row that gets another value.
type RenumberedRow struct {
	World    string
	Key      [][]byte // as the database sends it, in the order of the key
	Old, New int64
}

// MaxRenumbered is how many rows of a table may get another value.
const MaxRenumbered = 1_000_000
