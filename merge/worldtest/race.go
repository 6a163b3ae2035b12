//go:build race

package worldtest

// What runs on a server as well is not run on SQLite with the race detector: "make test" runs
// that without it.
const WithRace = true
