//go:build race

package gameid_test

// Under the race detector everything is slower, and a sync.Pool forgets on
// purpose.
const underRace = true
