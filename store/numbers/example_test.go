package numbers_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
)

// Players get numbers to read aloud, with a check digit, from the share of
// server 7: there is no fleet registry. With one, it is numbers.OpenShared.
func Example() {
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
	if err := errors.Join(db.CreateRegistry(ctx), numbers.Create(ctx, db.Registry()), starter.Create(ctx, db)); err != nil {
		log.Fatal(err)
	}
	node, err := db.OpenNode(ctx, 7, store.NodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	playerNumbers, err := numbers.Open(ctx, db.Registry(), 7, "player", numbers.Options{
		CheckDigit: true,
		InUse:      starter.Players.NumbersIn(db),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer playerNumbers.Close()

	hero := entity.Player{Account: "acc-1", Name: "Aria", Level: 1, CreatedAt: born, UpdatedAt: born}
	if hero.ID, err = gameid.NewGenerator[entity.Player](node).Next(); err != nil {
		log.Fatal(err)
	}
	if hero.Number, err = playerNumbers.Next(ctx); err != nil {
		log.Fatal(err)
	}
	if err := starter.Players.Insert(ctx, db, hero); err != nil {
		log.Fatal(err)
	}
	fmt.Println("add me:", hero.Number.Spaced())

	for _, typed := range []string{"91 700 009", "91 070 009"} {
		n, err := playerNumbers.Parse(typed)
		if err != nil {
			fmt.Println(err)
			continue
		}
		found, err := starter.Players.ByNumber(ctx, db, n)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("found", found.Name)
	}
	// Output:
	// add me: 91 700 009
	// found Aria
	// number: "91 070 009" is mistyped: its last digit does not match the others
}
