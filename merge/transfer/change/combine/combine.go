// Package combine makes one row of those with one key in several databases.
package combine

import "mergesafe/merge/transfer/step"

// Change returns the policy combine. The head of merge/transfer/plan/combine.go says how it works.
func Change() step.Change {
	return step.Change{
		Plan: choose, Measure: measure,
		Ready: ready, Bring: bring, Confirm: confirm,
		Prove: prove, ProveKeys: proveKeys,
		Kept: lookForKept, CompareTable: compareTable, Undo: separate, Drop: drop,
		Fresh: fresh, Left: left,
	}
}
