package store_test

import (
	"iter"
	"testing"

	"mergesafe/entity"
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

var (
	onEach           = storetest.OnEach
	onOne            = storetest.OnOneOrEach
	onEachWithTables = storetest.OnEachWithTables
	withTables       = storetest.WithTables
	open             = storetest.Open
	openReadOnly     = storetest.OpenReadOnly
	exec             = storetest.Exec
	must             = storetest.Must
	await            = storetest.Await

	born     = storetest.Born
	player   = storetest.Player
	item     = storetest.Item
	claim    = storetest.Claim
	deadlock = faulty.Deadlock
	is       = storetest.Is
)

// items makes the first n items.
func items(n int, owner entity.Player) []entity.Item {
	all := make([]entity.Item, n)
	for i := range all {
		all[i] = item(i, owner)
	}
	return all
}

// collect returns all rows of a stream.
func collect[R any](t testing.TB, seq iter.Seq2[R, error]) (rows []R) {
	t.Helper()
	for row, err := range seq {
		must(t, err)
		rows = append(rows, row)
	}
	return rows
}
