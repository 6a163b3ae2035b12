// Package all lists the changes of a merge.
package all

import (
	"mergesafe/merge/transfer/change/combine"
	"mergesafe/merge/transfer/change/counters"
	"mergesafe/merge/transfer/change/keys"
	"mergesafe/merge/transfer/change/leave"
	"mergesafe/merge/transfer/change/names"
	"mergesafe/merge/transfer/change/reset"
	"mergesafe/merge/transfer/change/same"
	"mergesafe/merge/transfer/step"
)

// Changes returns all changes, in the order in which a step calls them at each moment. Keys come after
// all others: when they are on record, the merge has come to its end. The others do not depend on each
// other.
//
// What has to be before or after the rows are copied, or summed up, is told apart by moments: new
// names are planned before the rows are measured, because sums are of rows with their new names.
func Changes() []step.Change {
	return []step.Change{leave.Change(), same.Change(), reset.Change(), counters.Change(), names.Change(), combine.Change(), keys.Change()}
}
