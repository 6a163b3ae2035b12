// Package torture proves with real processes and real databases that no ID is
// issued twice: its tests kill and freeze processes that mint, set their
// clocks, take the database away from them, and fill its disk.
//
//	go test ./store/torture    a few faults of each kind
//	make torture               hundreds, with a table of the counts
//
// It runs on Linux. If there is no MariaDB, the tests that need it are skipped. If this
// user may not mount a file system, the test of a full disk is skipped.
package torture
