// Package minter is a process that mints IDs, for tests that kill it, freeze
// it, and take its database away.
//
// The process is the test program itself, started once more: [Main] is called
// first in TestMain. A test makes a [World], starts processes in it, and ends
// with [World.Check]. Every ID that left a process is in a log, and the check
// reads them all.
package minter
