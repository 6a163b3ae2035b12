package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// play lets a world of new game code live: players join, and each finds items. It returns one of the items.
func play(ctx context.Context, dsn, world string, server gameid.ServerID, players int) (last entity.Item, err error) {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return last, err
	}
	defer db.Close()
	if err := db.CreateRegistry(ctx); err != nil {
		return last, err
	}
	if err := starter.Create(ctx, db); err != nil {
		return last, err
	}
	node, err := db.OpenNode(ctx, server, store.NodeOptions{})
	if err != nil {
		return last, err
	}
	defer node.Close()
	if err := db.Registry().SetName(ctx, server, world); err != nil {
		return last, err
	}
	newPlayer, newItem := gameid.NewGenerator[entity.Player](node), gameid.NewGenerator[entity.Item](node)

	now := entity.Time(time.Now())
	all, loot := make([]entity.Player, players), []entity.Item{}
	for i := range all {
		id, err := newPlayer.Next()
		if err != nil {
			return last, err
		}
		all[i] = entity.Player{ID: id, Account: fmt.Sprintf("acc-%d", i), Name: name(i) + " of " + world, Level: 1, CreatedAt: now, UpdatedAt: now}
		for template := range int32(3) {
			item := entity.Item{Owner: id, Template: 1 + template, Count: 1, CreatedAt: now}
			if item.ID, err = newItem.Next(); err != nil {
				return last, err
			}
			loot = append(loot, item)
		}
	}
	return loot[len(loot)-1], db.InTx(ctx, func(tx *store.Tx) error {
		if err := starter.Players.Insert(ctx, tx, all...); err != nil {
			return err
		}
		return starter.Items.Insert(ctx, tx, loot...)
	})
}

// name is another one for each number.
func name(n int) string {
	heads := []string{"Al", "Bel", "Cor", "Da", "El", "Fen", "Gor", "Ha", "Il", "Kar"}
	middles := []string{"do", "fa", "ga", "li", "mo", "na", "ri", "ro", "sa", "the"}
	tails := []string{"dan", "fin", "gast", "lian", "mir", "nor", "ric", "thas", "vin", "wyn"}
	return heads[n%10] + middles[n/10%10] + tails[n/100%10]
}

// count makes a world of a game that counts its keys from 1. Its schema does not say what refers to what.
func count(ctx context.Context, file, world string, heroes int) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	exec := func(statement string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, statement, args...)
		}
	}
	exec("CREATE TABLE heroes (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, gold INTEGER NOT NULL)")
	exec("CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, template TEXT NOT NULL)")
	found := rand.New(rand.NewPCG(uint64(heroes), 0)) // others in each world, the same in each run
	for i := range heroes {
		exec("INSERT INTO heroes (name, gold) VALUES (?, ?)", name(i)+" of "+world, 10_000+found.IntN(90_000))
		for range 2 {
			exec("INSERT INTO items (owner, template) VALUES (?, ?)", i+1, templates[found.IntN(len(templates))])
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

var templates = []string{"axe", "bow", "cloak", "dagger", "herb", "lamp", "ring", "shield", "sword", "torch"}
