// Package combine makes one row of those with one key in several worlds.
package combine

import "mergesafe/merge/transfer/step"

// Change returns the policy combine. The head of merge/transfer/plan/combine.go says how it works.
func Change() step.Change {
	return step.Change{Plan: choose, Measure: measure, Bring: bring, Prove: prove, ProveKeys: proveKeys}
}
