package registry_test

import (
	"errors"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/mariadbtest"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

// A process that was frozen, and whose number another one took over meanwhile,
// cannot commit; and nobody takes over between its check and its commit.
func TestGuard(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx, reg := t.Context(), db.Registry()
		take := func(token string) {
			row, err := reg.Load(ctx, 7)
			must(t, err)
			ok, err := reg.CompareAndSet(ctx, 7, row, gameid.Claim{Reserved: row.Reserved + 1, Holder: gameid.Holder{Token: token}, Lease: time.Minute})
			if err != nil || !ok {
				t.Errorf("%s did not take the lease: %v, %v", token, ok, err)
			}
		}
		take("frozen")
		begin := func() (registry.GuardTx, func() error) {
			tx, err := db.Pool().BeginTx(ctx, nil)
			must(t, err)
			return tx, tx.Rollback
		}
		tx, end := begin()
		must(t, reg.Guard(ctx, tx, 7, "frozen"))
		taken := make(chan struct{})
		go func() { defer close(taken); take("other") }()
		select {
		case <-taken:
			t.Error("another process took over between the check and the commit")
		case <-time.After(300 * time.Millisecond):
		}
		must(t, end())
		<-taken

		tx, end = begin()
		defer end()
		if err := reg.Guard(ctx, tx, 7, "frozen"); !errors.Is(err, registry.ErrNotHeld) {
			t.Errorf("after another process took over: %v", err)
		}
		must(t, reg.Guard(ctx, tx, 7, "other"))
		if err := reg.Guard(ctx, tx, 7, ""); err == nil {
			t.Error("without a token it passes")
		}
	})
}

// What a guard costs: a transaction with one insert, without and with it.
func BenchmarkGuard(b *testing.B) {
	for _, engine := range []string{"sqlite", "mysql"} {
		for _, guarded := range []bool{false, true} {
			b.Run(engine+map[bool]string{false: "/plain", true: "/guarded"}[guarded], func(b *testing.B) {
				dsn := "sqlite:" + b.TempDir() + "/game.db"
				if engine == "mysql" {
					dsn = "mysql:" + mariadbtest.DSN(b)
				}
				db := storetest.WithTables(b, dsn)
				ctx := b.Context()
				_, err := db.Registry().CompareAndSet(ctx, 7, gameid.Record{}, gameid.Claim{Holder: gameid.Holder{Token: "own"}, Lease: time.Hour})
				must(b, err)
				exec(b, db, "CREATE TABLE things (n BIGINT)")
				for b.Loop() {
					tx, err := db.Pool().BeginTx(ctx, nil)
					must(b, err)
					if guarded {
						must(b, db.Registry().Guard(ctx, tx, 7, "own"))
					}
					_, err = tx.ExecContext(ctx, "INSERT INTO things VALUES (1)")
					must(b, err)
					must(b, tx.Commit())
				}
			})
		}
	}
}
