// Package record is what a new database remembers of its merges: their plans, checkpoints, keys and matches.
package record
