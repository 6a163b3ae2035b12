// Package reset empties tables of the target, and keeps their rows until the merge is undone.
package reset

import (
	"mergesafe/merge/transfer/change/reset/restore"
	"mergesafe/merge/transfer/step"
)

// Change returns the policy reset. The head of merge/transfer/plan/reset.go says how it works.
func Change() step.Change {
	c := restore.Change()
	c.Plan, c.Measure = choose, measure
	c.Mend, c.Ready, c.Probes = mend, ready, probes
	c.MakeRoom, c.Confirm = empty, confirm
	c.Prove = prove
	return c
}
