package fleet_test

import (
	"mergesafe/internal/worldregistry"
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

var (
	onEach             = storetest.OnEachDialect
	onOne              = storetest.OnOneOrEach
	onEachWithRegistry = storetest.OnEachWithRegistry
	withRegistry       = storetest.WithRegistry
	open               = storetest.Open
	exec               = storetest.Exec
	must               = storetest.Must
	await              = storetest.Await
	player             = storetest.Player
	claim              = storetest.Claim
	deadlock           = faulty.Deadlock
)

var (
	nodeOptions  = storetest.NodeOptions
	worldOptions = worldregistry.NodeOptions(nodeOptions)
)
