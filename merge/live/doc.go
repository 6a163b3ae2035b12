// Package live shows a campaign to people: a page of the current state, its JSON, its metrics,
// and one self-contained page of a campaign that ended.
package live
