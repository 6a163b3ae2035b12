package store_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/mariadbtest"
	"mergesafe/store"
)

// onBoth runs a test on SQLite and on MariaDB. newDSN names a fresh, empty
// database.
func onBoth(t *testing.T, test func(t *testing.T, newDSN func() string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, func() string { return "sqlite:" + filepath.Join(t.TempDir(), "game.db") })
	})
	t.Run("mysql", func(t *testing.T) {
		mariadbtest.DSN(t) // or skip
		test(t, func() string { return "mysql:" + mariadbtest.DSN(t) })
	})
}

// onBothWithTables gives the test a database with the tables of the schema.
func onBothWithTables(t *testing.T, test func(t *testing.T, db *store.DB)) {
	onBoth(t, func(t *testing.T, newDSN func() string) { test(t, withTables(t, newDSN())) })
}

func withTables(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db := open(t, dsn)
	if err := db.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func open(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func openReadOnly(t testing.TB, dsn string) *store.DB {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t testing.TB, s store.Session, query string, args ...any) {
	t.Helper()
	if _, err := s.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var born = time.Date(2026, 11, 21, 3, 4, 5, 678e6, time.UTC)

// id makes the n-th ID of server 7.
func id[E any](n int) gameid.Of[E] { return idOf[E](7, born, n) }

func idOf[E any](server gameid.ServerID, at time.Time, n int) gameid.Of[E] {
	made, err := gameid.Make(at.Add(time.Duration(n>>16)*time.Millisecond), server, uint16(n))
	if err != nil {
		panic(err)
	}
	return gameid.As[E](made)
}

func player(n int) entity.Player {
	return entity.Player{
		ID: id[entity.Player](n), Account: "account", Name: fmt.Sprintf("Player %d", n),
		Level: 1, Gold: int64(n), CreatedAt: born, UpdatedAt: born,
	}
}

func item(n int, owner entity.Player) entity.Item {
	return entity.Item{ID: id[entity.Item](n), Owner: owner.ID, Template: 1, Count: int64(n), CreatedAt: born}
}

func items(n int, owner entity.Player) []entity.Item {
	all := make([]entity.Item, n)
	for i := range all {
		all[i] = item(i, owner)
	}
	return all
}

func guild(n int, leader entity.Player) entity.Guild {
	return entity.Guild{ID: id[entity.Guild](n), Name: fmt.Sprintf("Guild %d", n), Leader: leader.ID, FoundedAt: born}
}

func member(p entity.Player, g entity.Guild) entity.GuildMember {
	return entity.GuildMember{Player: p.ID, Guild: g.ID, Rank: entity.Member, JoinedAt: born}
}

// claim is some reservation.
var claim = gameid.Claim{Reserved: 1000, Lease: time.Minute}

func mysqlDSN(t testing.TB) string { return mariadbtest.DSN(t) }

// await waits for a condition.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !met(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
