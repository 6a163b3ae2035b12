package storetest

import (
	"context"
	"fmt"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// MakeWorld makes the database of a game server with some players, who have an
// item each. Everything depends on the arguments alone: two worlds of one
// server have the same IDs, and two of one prefix the same names.
func MakeWorld(ctx context.Context, dsn string, server gameid.ServerID, count int, prefix string) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := Create(ctx, db); err != nil {
		return err
	}
	node, err := db.OpenNode(ctx, server, NodeOptions)
	if err != nil {
		return err
	}
	// One ID raises the mark above those that are made up below.
	if _, err := gameid.NewGenerator[entity.Player](node).Next(); err != nil {
		return err
	}
	if err := node.Close(); err != nil {
		return err
	}
	start := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	var players []entity.Player
	var items []entity.Item
	for i := range count {
		at := start.Add(time.Duration(i) * time.Millisecond)
		owner := IDOf[entity.Player](server, at, 1)
		players = append(players, entity.Player{ID: owner, Account: fmt.Sprint("acc-", i), Name: fmt.Sprint(prefix, i), Level: 1, CreatedAt: at, UpdatedAt: at})
		items = append(items, entity.Item{ID: IDOf[entity.Item](server, at, 2), Owner: owner, Template: 1, Count: 1, CreatedAt: at})
	}
	if err := starter.Players.Insert(ctx, db, players...); err != nil {
		return err
	}
	return starter.Items.Insert(ctx, db, items...)
}
