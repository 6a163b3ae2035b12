package store_test

import "mergesafe/store/storetest"

var (
	onBoth           = storetest.OnBoth
	onBothWithTables = storetest.OnBothWithTables
	withTables       = storetest.WithTables
	open             = storetest.Open
	openReadOnly     = storetest.OpenReadOnly
	exec             = storetest.Exec
	must             = storetest.Must
	await            = storetest.Await

	born     = storetest.Born
	player   = storetest.Player
	item     = storetest.Item
	items    = storetest.Items
	claim    = storetest.Claim
	deadlock = storetest.Deadlock
	is       = storetest.Is
)
