package storetest_test

import "mergesafe/store/storetest"

var (
	onEach           = storetest.OnEach
	onEachWithTables = storetest.OnEachWithTables
	open             = storetest.Open
	exec             = storetest.Exec
	must             = storetest.Must
	player           = storetest.Player
)
