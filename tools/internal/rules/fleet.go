package rules

import "mergesafe/internal/strict"

// Fleet is the section [fleet]: where it stands who plays in a world.
type Fleet struct {
	Players string // the table that has a row for each player
	Active  string // its column that tells when the player was there last
}

func fleet(root *strict.Section) (f Fleet) {
	root.Section("fleet", func(s *strict.Section) {
		f = Fleet{Players: table(s, "players"), Active: column(s, "active")}
	})
	return f
}
