// Package torture proves with real processes and real databases that no ID is
// issued twice: its tests kill and freeze processes that mint, set their
// clocks, take the database away from them, and fill its disk.
//
//	go test ./store/torture    a few faults of each kind
//	make torture               hundreds, with a table of the counts
//
// It runs on Linux. What MariaDB is needed for is skipped where there is none,
// and the full disk where this user may not mount a file system.
package torture
