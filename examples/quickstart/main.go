// Quickstart is the example of docs/new-games.md: a game server that mints IDs and
// stores rows under them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite" // the drivers that the program links; one is enough
)

func main() {
	if err := run(context.Background(), "sqlite:quickstart.db"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dsn string) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.CreateRegistry(ctx); err != nil {
		return err
	}
	if err := starter.Create(ctx, db); err != nil { // or tables of your own
		return err
	}

	// This process is server 7. A second one is refused.
	node, err := db.OpenNode(ctx, 7, store.NodeOptions{})
	if err != nil {
		return err
	}
	defer node.Close()
	players := gameid.NewGenerator[entity.Player](node)
	items := gameid.NewGenerator[entity.Item](node)

	now := entity.Time(time.Now())
	hero := entity.Player{Account: "acc-1", Name: "Aria", Level: 1, CreatedAt: now, UpdatedAt: now}
	if hero.ID, err = players.Next(); err != nil {
		return err
	}
	ids := make([]gameid.Of[entity.Item], 3)
	if err := items.Fill(ids); err != nil {
		return err
	}
	loot := make([]entity.Item, len(ids))
	for i, id := range ids {
		loot[i] = entity.Item{ID: id, Owner: hero.ID, Template: int32(100 + i), Count: 1, CreatedAt: now}
	}

	// Both, or neither. loot[0].ID would not compile in place of hero.ID.
	err = db.InTx(ctx, func(tx *store.Tx) error {
		if err := starter.Players.Insert(ctx, tx, hero); err != nil {
			return err
		}
		return starter.Items.Insert(ctx, tx, loot...)
	})
	if errors.Is(err, store.ErrDuplicate) {
		hero, err = starter.Players.ByName(ctx, db, "aria") // she was here before
	}
	if err != nil {
		return err
	}
	fmt.Printf("%s is %s, made by server %d at %s\n", hero.Name, hero.ID, hero.ID.Server(), hero.ID.Time())
	return nil
}
