package numbers_test

import (
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

var (
	onEach     = storetest.OnEachDialect
	withTables = storetest.WithTables
	open       = storetest.Open
	exec       = storetest.Exec
	must       = storetest.Must
	born       = storetest.Born
	player     = storetest.Player
	deadlock   = faulty.Deadlock
)

var nodeOptions = storetest.NodeOptions
