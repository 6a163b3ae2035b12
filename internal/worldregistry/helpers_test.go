package worldregistry_test

import (
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

var (
	onEach             = storetest.OnEach
	onEachWithRegistry = storetest.OnEachWithRegistry
	withRegistry       = storetest.WithRegistry
	open               = storetest.Open
	openReadOnly       = storetest.OpenReadOnly
	exec               = storetest.Exec
	must               = storetest.Must
	player             = storetest.Player
	claim              = storetest.Claim
	deadlock           = faulty.Deadlock
	is                 = storetest.Is
)
