// Package torture proves with real processes and real databases that no ID is
// issued twice: its tests kill and freeze processes that mint, set their
// clocks, take the database away from them, and fill its disk.
//
//	go test ./store/torture           a few faults of each kind
//	LONG=1 go test ./store/torture    hundreds, with a table of the counts, and the registry and a game's
//	                                  tables on distributed engines
//
// The processes are the test program itself, started once more. A test makes a
// World, starts processes in it, and ends with World.Check, which reads the logs
// of all IDs that left a process.
//
// The clusters (cluster*_test.go) are three nodes of MariaDB Galera on loopback,
// and three members of MySQL Group Replication, with one primary and with several.
// Their tests kill, freeze and cut off nodes under load. A fleet registry and short
// numbers are used through all nodes meanwhile. Each member of a group has a network
// of its own, so that it can be cut off from the others while its clients still reach
// it; making that takes root.
//
// It runs on Linux. If there is no MariaDB, the tests that need it are skipped. If this
// user may not mount a file system, the test of a full disk is skipped. The tests on
// clusters run with the flag -cluster only.
package torture
