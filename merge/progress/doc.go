// Package progress is how far a campaign of merges is, and how long it still takes: what its state on disk
// says, for those who show it and those who plan one.
package progress
