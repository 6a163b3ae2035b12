package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/inventory"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli/clitest"
)

// Scripts have these programs, too:
//
//	play DSN SERVER NAME              runs a game server that makes a player with an item
//	join FLEET DSN SERVER NAME        the same in a fleet, whose registry is made and gets the world's place first
//	places DSN                        prints the places of a fleet registry
//	bagcodec [WORD...]                finds keys in cells, as package inventory writes them
func TestMain(m *testing.M) {
	clitest.Main(m, map[string]func(){
		"servermerge": main,
		"play": clitest.Program(func(args []string) error {
			server, err := strconv.Atoi(args[1])
			return errors.Join(err, play(context.Background(), args[0], gameid.ServerID(server), args[2]))
		}),
		"join": clitest.Program(func(args []string) error {
			server, err := strconv.Atoi(args[2])
			return errors.Join(err, onFleet(args[0], func(f *fleet.Fleet) error {
				return join(context.Background(), f, args[1], gameid.ServerID(server), args[3])
			}))
		}),
		"bagcodec": clitest.Program(func([]string) error { return inventory.Codec{}.Serve(os.Stdin, os.Stdout) }),
		"places": clitest.Program(func(args []string) error {
			return onFleet(args[0], func(f *fleet.Fleet) error {
				all, err := f.Places(context.Background())
				for _, p := range all {
					fmt.Printf("%s: %s, %s\n", p.World, p.DSN, p.Why)
				}
				return err
			})
		}),
	})
}

func onFleet(dsn string, do func(*fleet.Fleet) error) error {
	f, err := fleet.Open(dsn)
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(f.Create(context.Background()), do(f))
}

// play runs a game server on a world that is there.
func play(ctx context.Context, dsn string, server gameid.ServerID, name string) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	node, err := db.OpenNode(ctx, server, storetest.NodeOptions)
	if err != nil {
		return err
	}
	defer node.Close()
	return errors.Join(makePlayer(ctx, db, node, name), node.Close())
}

// join runs a game server of a fleet on a world that is there.
func join(ctx context.Context, f *fleet.Fleet, dsn string, server gameid.ServerID, name string) error {
	world, note := fmt.Sprint("s", server), fleet.Note{By: "anna"}
	if _, err := f.Claim(ctx, world, server, note); err == nil {
		if err := f.SetPlace(ctx, fleet.Place{World: world, DSN: dsn}, note); err != nil {
			return err
		}
	} else if !errors.Is(err, fleet.ErrTaken) {
		return err
	}
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	node, err := f.Join(ctx, storetest.World(db), server, worldregistry.NodeOptions(storetest.NodeOptions), fleet.Options{})
	if err != nil {
		return err
	}
	defer node.Close()
	return errors.Join(makePlayer(ctx, db, node.Node, name), node.Close())
}

func makePlayer(ctx context.Context, db *store.DB, node *gameid.Node, name string) error {
	player, err1 := gameid.NewGenerator[entity.Player](node).Next()
	item, err2 := gameid.NewGenerator[entity.Item](node).Next()
	now := entity.Time(time.Now())
	return errors.Join(err1, err2,
		starter.Players.Insert(ctx, db, entity.Player{ID: player, Account: name, Name: name, Level: 1, CreatedAt: now, UpdatedAt: now}),
		starter.Items.Insert(ctx, db, entity.Item{ID: item, Owner: player, Template: 9, Count: 1, CreatedAt: now}))
}

func TestScripts(t *testing.T) { clitest.Run(t, nil) }
