//go:build race

package transfer

// Under the race detector SQLite is many times slower.
const rekeyCasesByDefault = 30
