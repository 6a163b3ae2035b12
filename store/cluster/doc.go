// Package cluster runs the registry and a game's tables on a real distributed
// engine: three nodes of MariaDB Galera on loopback, which its tests kill,
// freeze and cut off under load; and a fleet registry on it, through all of
// whose nodes numbers are claimed and bound meanwhile.
//
//	make test-cluster    starts the cluster and ends it (minutes)
//
// It runs on Linux, with the flag -cluster only.
package cluster
