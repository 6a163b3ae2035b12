package store_test

import (
	"testing"

	"mergesafe/number"
	"mergesafe/store"
)

func TestNumbersSmoke(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		node, err := db.OpenNode(t.Context(), 7, nodeOptions)
		must(t, err)
		defer node.Close()
		n, err := db.OpenNumbers(t.Context(), 7, "player", store.NumbersOptions{})
		must(t, err)
		for i := range 1000 {
			got, err := n.Next(t.Context())
			must(t, err)
			if want := number.Number(9170000 + i); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
		}
		t.Logf("%+v", n.Stats())
		must(t, n.Close())
		var next int64
		must(t, db.Get(t.Context(), &next, "SELECT next_number FROM gameid_numbers"))
		if next != 9171000 {
			t.Error(next)
		}
	})
}
