// Package ledger is what a target remembers of its merges: their plans, checkpoints, keys and matches.
package ledger
