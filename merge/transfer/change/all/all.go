// Package all lists the changes of a merge.
package all

import (
	"slices"

	"mergesafe/merge/transfer/change/combine"
	"mergesafe/merge/transfer/change/counters"
	"mergesafe/merge/transfer/change/keys"
	"mergesafe/merge/transfer/change/names"
	"mergesafe/merge/transfer/change/reset"
	"mergesafe/merge/transfer/change/same"
	"mergesafe/merge/transfer/step"
)

// Changes returns all changes, in the order in which a step calls them; an undo calls them from
// the last to the first.
func Changes() []step.Change {
	return []step.Change{same.Change(), reset.Change(), counters.Change(), names.Change(), combine.Change(), keys.Change()}
}

// Backwards returns them in the order of an undo.
func Backwards() []step.Change {
	all := Changes()
	slices.Reverse(all)
	return all
}
