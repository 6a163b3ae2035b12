package starter_test

import "mergesafe/store/storetest"

var (
	onBothWithTables = storetest.OnBothWithTables
	must             = storetest.Must
	player           = storetest.Player
	item             = storetest.Item
	guild            = storetest.Guild
	member           = storetest.Member
)
