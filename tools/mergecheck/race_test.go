//go:build race

package main

// What is run without the race detector as well is not run with it, where it has no goroutines
// that others do not have: "make test" does both.
const withRace = true
