package storetest_test

import "mergesafe/store/storetest"

var (
	onBoth           = storetest.OnBoth
	onBothWithTables = storetest.OnBothWithTables
	withTables       = storetest.WithTables
	open             = storetest.Open
	exec             = storetest.Exec
	must             = storetest.Must
	player           = storetest.Player
)
