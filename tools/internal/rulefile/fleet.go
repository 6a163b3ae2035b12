package rulefile

import "mergesafe/internal/strict"

// Fleet is the section [fleet]: the tables and columns that show who plays in a world.
type Fleet struct {
	Players string // the table that has a row for each player
	Active  string // its column that tells when the player was last online

	// Names and Accounts are columns, as table.column: worlds that have the same values there
	// are counted before they are merged. Accounts may be empty.
	Names    []string
	Accounts string
}

func fleet(root *strict.Section) (f Fleet) {
	root.Section("fleet", func(s *strict.Section) {
		f = Fleet{Players: table(s, "players"), Active: s.Text("active", strict.Label), Names: s.List("names", place), Accounts: s.Text("accounts", place)}
		need(s, "active", `want the column of the player's last visit, such as %s = "logout_time"`)
	})
	return f
}
