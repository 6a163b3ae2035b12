// Package step is what a change of a merge does at each step, and what it works with there.
package step
