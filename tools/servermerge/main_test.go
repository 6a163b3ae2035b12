package main

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/tools/internal/cli/clitest"
)

// The programs of the scripts, and of the tests that end processes:
//
//	mkworld DSN SERVER COUNT PREFIX   makes a game database
//	sql FILE STATEMENT...             changes an SQLite database
//	play DSN SERVER NAME              runs a game server that makes a player with an item
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"servermerge": main,
		"mkworld":     clitest.MakeWorldMain,
		"sql":         clitest.SQLMain,
		"play": clitest.Program(func(args []string) error {
			server, err := strconv.Atoi(args[1])
			return errors.Join(err, play(context.Background(), args[0], gameid.ServerID(server), args[2]))
		}),
	})
}

// play runs a game server on a world that is there.
func play(ctx context.Context, dsn string, server gameid.ServerID, name string) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	node, err := db.OpenNode(ctx, server, gameid.Options{})
	if err != nil {
		return err
	}
	defer node.Close()
	player, err1 := gameid.NewGenerator[entity.Player](node).Next()
	item, err2 := gameid.NewGenerator[entity.Item](node).Next()
	now := entity.Time(time.Now())
	return errors.Join(err1, err2,
		starter.Players.Insert(ctx, db, entity.Player{ID: player, Account: name, Name: name, Level: 1, CreatedAt: now, UpdatedAt: now}),
		starter.Items.Insert(ctx, db, entity.Item{ID: item, Owner: player, Template: 9, Count: 1, CreatedAt: now}), node.Close())
}

func TestScripts(t *testing.T) { clitest.Run(t, nil) }
