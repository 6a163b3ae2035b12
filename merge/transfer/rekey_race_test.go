//go:build race

package transfer

// What runs on a server as well is not run on SQLite with the race detector: "make test" runs
// that without it.
const withRace = true

// Under the race detector SQLite is many times slower.
const rekeyCasesByDefault = 20
