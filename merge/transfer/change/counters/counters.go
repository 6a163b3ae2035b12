// Package counters raises what counts keys above the keys that come: counters of tables, counters in
// rows, and sequences.
package counters

import "mergesafe/merge/transfer/step"

// Change returns the counters of a plan.
func Change() step.Change {
	return step.Change{
		Name: "counters",

		Plan:   choose,
		Probes: probes,
		Finish: finish, ProveKeys: proveKeys,
		Undo: lower, Forget: forget, Surpass: surpass,
	}
}
