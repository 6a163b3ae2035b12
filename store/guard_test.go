package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// A process that was frozen, and whose server another one took over meanwhile,
// cannot commit; and nobody takes over between its check and its commit.
func TestGuard(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
		must(t, err)
		tx, err := db.Pool().BeginTx(ctx, nil)
		must(t, err)
		must(t, db.WithTx(tx).Guard(ctx, node))
		taken := make(chan error, 1)
		go func() { taken <- take(ctx, db, gameid.Holder{Token: "other"}) }()
		select {
		case err := <-taken:
			t.Errorf("between the check and the commit another process took over: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		must(t, tx.Rollback())
		must(t, <-taken)
		err = db.InTx(ctx, func(tx *store.Tx) error { return tx.Guard(ctx, node) })
		if !errors.Is(err, store.ErrNotHeld) {
			t.Errorf("after another process took over: %v", err)
		}
	})
}

// A pool whose sessions show no rows does not hide the lease.
func TestGuardWithSelectLimit(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		if game.dialect != store.MySQL {
			return // it has no such setting
		}
		ctx := t.Context()
		db, err := store.Wrap(ctx, game.open(t, "&sql_select_limit=0"), game.dialect)
		must(t, err)
		must(t, db.CreateRegistry(ctx))
		node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
		must(t, err)
		defer node.Close()
		must(t, db.InTx(ctx, func(tx *store.Tx) error { return tx.Guard(ctx, node) }))
	})
}

// A transaction of a game's own pool for SQLite locks nothing when it begins.
// All the same it cannot write once another process took over after its check.
func TestGuardDeferred(t *testing.T) {
	for _, journal := range []string{"wal", "delete"} {
		t.Run(journal, func(t *testing.T) {
			ctx, path := t.Context(), filepath.Join(t.TempDir(), "game.db")
			pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode("+journal+")&_pragma=busy_timeout(100)")
			must(t, err)
			defer pool.Close()
			game, err := store.Wrap(ctx, pool, store.SQLite)
			must(t, err)
			must(t, game.CreateRegistry(ctx))
			exec(t, game, "CREATE TABLE things (n BIGINT)")
			node, err := game.OpenNode(ctx, 7, storetest.NodeOptions)
			must(t, err)
			must(t, node.Close()) // nothing is renewed behind the test
			must(t, take(ctx, game, node.Holder()))
			tx, err := pool.BeginTx(ctx, nil)
			must(t, err)
			defer tx.Rollback()
			must(t, game.WithTx(tx).Guard(ctx, node))
			short, cancel := context.WithTimeout(ctx, 3*time.Second) // with a journal it waits for this transaction, in vain
			defer cancel()
			taken := take(short, game, gameid.Holder{Token: "other"}) == nil
			_, err = tx.ExecContext(ctx, "INSERT INTO things VALUES (1)")
			if err == nil {
				err = tx.Commit()
			}
			if taken && err == nil || !taken && err != nil {
				t.Errorf("another process took over: %t; the row was written: %v", taken, err)
			}
		})
	}
}

// take gives the lease of server 7 to a process, whatever the row says.
func take(ctx context.Context, db *store.DB, holder gameid.Holder) error {
	row, err := storetest.World(db).Load(ctx, 7)
	if err != nil {
		return err
	}
	claim := gameid.Claim{Reserved: row.Reserved, Window: row.Window, Holder: holder, Lease: time.Minute}
	if ok, err := storetest.World(db).CompareAndSet(ctx, 7, row, claim); err != nil || !ok {
		return fmt.Errorf("the lease was not taken: %t, %w", ok, err)
	}
	return nil
}

// What a guard costs: a transaction with one insert, without and with it.
func BenchmarkGuard(b *testing.B) {
	for _, engine := range []string{"sqlite", "mysql"} {
		for _, guarded := range []bool{false, true} {
			b.Run(engine+map[bool]string{false: "/plain", true: "/guarded"}[guarded], func(b *testing.B) {
				dsn := "sqlite:" + b.TempDir() + "/game.db"
				if engine == "mysql" {
					dsn = "mysql:" + servertest.DSN(b)
				}
				db := storetest.WithTables(b, dsn)
				ctx := b.Context()
				node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
				must(b, err)
				defer node.Close()
				exec(b, db, "CREATE TABLE things (n BIGINT)")
				for b.Loop() {
					must(b, db.InTx(ctx, func(tx *store.Tx) error {
						if guarded {
							if err := tx.Guard(ctx, node); err != nil {
								return err
							}
						}
						_, err := tx.Exec(ctx, "INSERT INTO things VALUES (1)")
						return err
					}))
				}
			})
		}
	}
}
