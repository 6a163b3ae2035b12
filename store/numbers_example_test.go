package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// Players get numbers to read aloud, with a check digit, from the share of
// server 7: there is no fleet registry. With one, it is fleet.OpenNumbers.
func ExampleNumbers() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "s7.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateSchema(ctx); err != nil {
		log.Fatal(err)
	}
	node, err := db.OpenNode(ctx, 7, gameid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	numbers, err := db.OpenNumbers(ctx, 7, "player", store.NumbersOptions{
		CheckDigit: true,
		InUse:      store.Players.NumbersIn(db),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer numbers.Close()

	hero := entity.Player{Account: "acc-1", Name: "Aria", Level: 1, CreatedAt: born, UpdatedAt: born}
	if hero.ID, err = gameid.NewGenerator[entity.Player](node).Next(); err != nil {
		log.Fatal(err)
	}
	if hero.Number, err = numbers.Next(ctx); err != nil {
		log.Fatal(err)
	}
	if err := store.Players.Insert(ctx, db, hero); err != nil {
		log.Fatal(err)
	}
	fmt.Println("add me:", hero.Number.Spaced())

	for _, typed := range []string{"91 700 009", "91 070 009"} {
		n, err := numbers.Parse(typed)
		if err != nil {
			fmt.Println(err)
			continue
		}
		found, err := store.Players.ByNumber(ctx, db, n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("found", found.Name)
	}
	// Output:
	// add me: 91 700 009
	// found Aria
	// number: "91 070 009" is mistyped: its last digit does not fit the others
}
