// Package keys records which keys of the sources became which, and which were matched, so that
// later merges and people can follow them.
package keys

import "mergesafe/merge/transfer/step"

// Change returns the record of new keys. The keys themselves are given on the way of a row; see
// [change.Changes].
func Change() step.Change {
	return step.Change{
		Name: "keys",

		Together: together,
		Finish:   remember, ProveKeys: proveKeys,
		Forget: forget,
	}
}
