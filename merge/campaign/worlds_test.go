package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// maker makes an empty database with a name.
type maker func(name string) transfer.Database

// onEach runs a test with SQLite and with the server of the tests.
func onEach(t *testing.T, test func(t *testing.T, fresh maker)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqliteIn(t.TempDir())) })
	t.Run("server", func(t *testing.T) {
		test(t, func(name string) transfer.Database {
			return transfer.Database{Name: name, DSN: "mysql:" + servertest.DSN(t)}
		})
	})
}

func sqliteIn(dir string) maker {
	return func(name string) transfer.Database {
		return transfer.Database{Name: name, DSN: "sqlite:" + filepath.Join(dir, name+".db")}
	}
}

// gameWorld makes a world with players that are called as prefix says.
func gameWorld(t testing.TB, d transfer.Database, server gameid.ServerID, players int, prefix string) transfer.Database {
	t.Helper()
	db := storetest.WithTables(t, d.DSN)
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, gameid.Options{})
	storetest.Must(t, err)
	ids, now := gameid.NewGenerator[entity.Player](node), entity.Time(time.Now())
	var heroes []entity.Player
	for i := range players {
		id, err := ids.Next()
		storetest.Must(t, err)
		heroes = append(heroes, entity.Player{ID: id, Account: fmt.Sprint("acc-", i), Name: fmt.Sprint(prefix, i), Level: 1, CreatedAt: now, UpdatedAt: now})
	}
	storetest.Must(t, starter.Players.Insert(t.Context(), db, heroes...))
	storetest.Must(t, node.Close())
	return d
}

// starts tells whether a game server starts on a world. If it does, it runs until stop is
// called.
func starts(t testing.TB, d transfer.Database, server gameid.ServerID) (err error, stop func()) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	storetest.Must(t, err)
	node, err := db.OpenNode(context.Background(), server, gameid.Options{})
	if err != nil {
		db.Close()
		return err, func() {}
	}
	return nil, func() { node.Close(); db.Close() }
}

// planFor is a merge of two worlds, planned.
func planFor(t testing.TB, target, source transfer.Database) candidate {
	t.Helper()
	p, err := transfer.NewPlan(t.Context(), target, []transfer.Database{source}, transfer.PlanOptions{})
	storetest.Must(t, err)
	return candidate{job: jobOf(target, source), plan: p}
}

func jobOf(target, source transfer.Database) *job {
	m := Merge{Target: target.Name, Sources: []string{source.Name}}
	return &job{Merge: m, databases: []transfer.Database{target, source}}
}
