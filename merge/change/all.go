package change

// All returns all changes, in the order in which a step calls them at each moment. Keys come after
// all others: when they are on record, the merge has come to its end. The others do not depend on each
// other.
//
// What has to be before or after the rows are copied, or summed up, is told apart by moments: new
// names are planned before the rows are measured, because sums are of rows with their new names.
func All() []Change {
	return []Change{leaveChange(), sameChange(), resetChange(), countersChange(), namesChange(), combineChange(), keysChange()}
}
