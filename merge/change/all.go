package change

// changes are all of them, in the order in which a step calls them at each moment. Keys come after
// all others: when they are on record, the merge has come to its end. The others do not depend on each
// other.
//
// What has to be before or after the rows are copied, or summed up, is told apart by moments: new
// names are planned before the rows are measured, because sums are of rows with their new names.
func changes() []Change {
	return []Change{
		{Measure: measureLeave, Ready: leaveReady, Prove: proveLeave},
		{Measure: measureSame, Unchanged: sameUnchanged},
		{Plan: planReset, Prove: proveReset},
		{Plan: planCounters, Measure: measureCounters, Unchanged: countersUnchanged, Finish: finishCounters, Prove: proveCounters, ProveKeys: proveCounterKeys},
		{Plan: planNames, Prove: proveNames},
		{Plan: planCombine, Measure: measureCombine, Bring: bringCombined, Prove: proveCombine, ProveKeys: proveCombinedKeys},
		{Together: keysTogether, Finish: rememberKeys, ProveKeys: proveKeys},
	}
}
