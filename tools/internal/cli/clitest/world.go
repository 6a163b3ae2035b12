package clitest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// Program makes a program for scripts of a function.
func Program(run func(args []string) error) func() {
	return func() {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// MakeWorldMain is a program for scripts: mkworld DSN SERVER COUNT PREFIX calls
// [MakeWorld].
func MakeWorldMain() {
	Program(func(args []string) error {
		server, _ := strconv.Atoi(args[1])
		count, _ := strconv.Atoi(args[2])
		return MakeWorld(context.Background(), args[0], gameid.ServerID(server), count, args[3])
	})()
}

// SQLMain is a program for scripts: sql FILE STATEMENT... changes an SQLite
// database.
func SQLMain() {
	Program(func(args []string) error {
		db, err := sql.Open("sqlite", args[0])
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec(strings.Join(args[1:], ";"))
		return err
	})()
}

// MakeWorld makes the database of a game server with some players, who have an
// item each. Everything depends on the arguments alone: two worlds of one
// server have the same IDs, and two of one prefix the same names.
func MakeWorld(ctx context.Context, dsn string, server gameid.ServerID, count int, prefix string) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := storetest.Create(ctx, db); err != nil {
		return err
	}
	node, err := db.OpenNode(ctx, server, storetest.NodeOptions)
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
		player, err := gameid.Make(at, server, 1)
		if err != nil {
			return err
		}
		item, err := gameid.Make(at, server, 2)
		if err != nil {
			return err
		}
		owner := gameid.As[entity.Player](player)
		players = append(players, entity.Player{ID: owner, Account: fmt.Sprint("acc-", i), Name: fmt.Sprint(prefix, i), Level: 1, CreatedAt: at, UpdatedAt: at})
		items = append(items, entity.Item{ID: gameid.As[entity.Item](item), Owner: owner, Template: 1, Count: 1, CreatedAt: at})
	}
	if err := starter.Players.Insert(ctx, db, players...); err != nil {
		return err
	}
	return starter.Items.Insert(ctx, db, items...)
}
