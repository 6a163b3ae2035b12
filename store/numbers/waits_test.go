package numbers_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/store"
	"mergesafe/store/numbers"
)

// A pool that a game opened has no time to wait for locks of SQLite. Ours have one there, too: a block is taken after another
// connection has written, whichever lock that one has.
func TestWaitsInGamesPool(t *testing.T) {
	for _, lock := range []string{"BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"} {
		t.Run(lock, func(t *testing.T) {
			ctx := t.Context()
			pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "s1.db"))
			must(t, err)
			defer pool.Close()
			db, err := store.Wrap(ctx, pool, store.SQLite)
			must(t, err)
			must(t, db.CreateRegistry(ctx))
			must(t, numbers.Create(ctx, db.Registry()))
			node, err := db.OpenNode(ctx, 7, nodeOptions)
			must(t, err)
			must(t, node.Close())
			must(t, openKeys(t, db, 7, numbers.KeyOptions{}).Close()) // which makes its row

			other, err := pool.Conn(ctx)
			must(t, err)
			defer other.Close()
			for _, statement := range []string{"PRAGMA busy_timeout = 10000", lock, "UPDATE gameid_servers SET role = role"} {
				_, err := other.ExecContext(ctx, statement)
				must(t, err)
			}
			pool.SetMaxIdleConns(0) // what comes now has to read the schema first
			ended := make(chan error)
			time.AfterFunc(200*time.Millisecond, func() {
				_, err := other.ExecContext(ctx, "COMMIT")
				ended <- err
			})
			if got := nextKey(t, openKeys(t, db, 7, numbers.KeyOptions{})); got != 7<<43+1 {
				t.Errorf("got %d", got)
			}
			must(t, <-ended)
		})
	}
}
