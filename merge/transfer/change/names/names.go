// Package names gives new names and numbers to rows whose own are taken.
package names

import "mergesafe/merge/transfer/step"

// Change returns the renames of a plan: those of the policies of names, and the numbers of columns
// that are numbered anew. Rows of the sources get theirs on their way; see [change.Renamer].
func Change() step.Change {
	return step.Change{
		Touches: touches, Plan: choose,
		MakeRoom: renameOwn,
		Prove:    prove,
		Undo:     restoreOwn, Left: left,
	}
}
