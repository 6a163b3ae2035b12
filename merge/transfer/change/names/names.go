// Package names gives new names and numbers to rows whose own are taken.
package names

import "mergesafe/merge/transfer/step"

// Change returns the new names. Rows get them on their way: see [change.Renamer].
func Change() step.Change { return step.Change{Plan: choose, Prove: prove} }
