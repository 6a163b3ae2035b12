package worldregistry_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// eachWay tries each way to open the node of a server.
func eachWay(t *testing.T, db *store.DB, server gameid.ServerID, refused func(way string, err error)) {
	t.Helper()
	ctx := t.Context()
	f := storetest.OpenFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"))
	must(t, f.Create(ctx))
	must(t, storetest.Second(f.Claim(ctx, "a world", server, fleet.Note{By: "anna@host-a", Why: "a test"})))
	only := store.ServerRange{First: server, Last: server}
	refused("OpenNode", storetest.Second(db.OpenNode(ctx, server, nodeOptions)))
	refused("OpenFreeNode", storetest.Second(db.OpenFreeNode(ctx, only, nodeOptions)))
	refused("Join", storetest.Second(f.Join(ctx, storetest.World(db), server, worldregistry.NodeOptions(nodeOptions), fleet.Options{})))
	refused("JoinFree", storetest.Second(f.JoinFree(ctx, storetest.World(db), only, worldregistry.NodeOptions(nodeOptions), fleet.Options{})))
}

// A game whose pool may open one connection only, as is usual for SQLite, would wait for itself: whichever way
// it opens its node, and if it takes numbers.
func TestOneConnection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.db")
	pool, err := sql.Open("sqlite", path)
	must(t, err)
	defer pool.Close()
	db, err := store.Wrap(t.Context(), pool, store.SQLite)
	must(t, err)
	must(t, db.CreateRegistry(t.Context()))
	must(t, numbers.Create(t.Context(), db.Registry()))
	node, err := db.OpenNode(t.Context(), 7, nodeOptions)
	must(t, err)
	must(t, node.Close())
	pool.SetMaxOpenConns(1)
	refused := func(way string, err error) {
		if err == nil || !strings.Contains(err.Error(), "one connection only") || !strings.Contains(err.Error(), "store.WrapTwo") {
			t.Errorf("%s: %v", way, err)
		}
	}
	eachWay(t, db, 7, refused)
	game, err := sql.Open("sqlite", path)
	must(t, err)
	defer game.Close()
	two, err := store.WrapTwo(t.Context(), game, pool, store.SQLite)
	must(t, err)
	refused("WrapTwo", storetest.Second(two.OpenNode(t.Context(), 7, nodeOptions)))
	refused("numbers", storetest.Second(numbers.Open(t.Context(), db.Registry(), 7, "player", numbers.Options{})))
}
