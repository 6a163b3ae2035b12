package declare

import (
	"slices"

	"mergesafe/merge/rekey"
)

// FleetRange is a range of numbers that the fleet registry gave to a world, or that a merge
// gives to one.
type FleetRange struct {
	World string      `json:"world"`
	Space string      `json:"space,omitempty"` // "": every space
	Range rekey.Range `json:"range"`
}

// Concerns reports whether it is about the keys of a space.
func (r *FleetRange) Concerns(space string, keys []string) bool {
	return r.Space == "" || r.Space == space || slices.Contains(keys, r.Space)
}
