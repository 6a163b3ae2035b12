// Package reset empties tables of the target, and keeps their rows until the merge is undone.
package reset

import "mergesafe/merge/transfer/step"

// Change returns the policy reset. The head of merge/transfer/plan/reset.go says how it works.
func Change() step.Change {
	return step.Change{
		Plan: choose, Measure: measure,
		Mend: mend, MendBack: mendBack, Ready: ready, Probes: probes,
		MakeRoom: empty, Confirm: confirm,
		Prove:   prove,
		Compare: compare, Undo: fill,
		Unlike: unlike, Left: left,
	}
}
