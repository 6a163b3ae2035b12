// Package cluster runs the registry and a game's tables on real distributed
// engines: three nodes of MariaDB Galera on loopback, and three members of MySQL
// Group Replication, with one primary and with several. Its tests kill, freeze
// and cut them off under load. A fleet registry and short numbers on them are
// used through all nodes meanwhile.
//
//	make test-cluster    starts the clusters one after another, and ends them (minutes)
//
// It runs on Linux, with the flag -cluster only. Each member of a group has a
// network of its own, so that it can be cut off from the others while its clients
// still reach it; making that takes root.
package cluster
