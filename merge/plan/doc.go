// Package plan is the plan of a merge as a document: what is copied, renamed, combined and left,
// with counts and sums.
package plan
