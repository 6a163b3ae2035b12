package world

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/catalog"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// A database of package store: its registry and version are read, and are no
// tables of the game.
func TestStoreDatabase(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":  func(t *testing.T) string { return "sqlite:" + t.TempDir() + "/s.db" },
		"mariadb": func(t *testing.T) string { return "mysql:" + servertest.DSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{dsn: dsn(t)}
			db, err := store.Open(t.Context(), w.dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := storetest.Create(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			node, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Registry().SetName(t.Context(), 7, "seven"); err != nil {
				t.Fatal(err)
			}
			id, err := gameid.NewGenerator[entity.Player](node).Next()
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC().Truncate(time.Millisecond)
			hero := entity.Player{ID: id, Account: "acc", Name: "Aria", Level: 1, CreatedAt: now, UpdatedAt: now}
			if err := starter.Players.Insert(t.Context(), db, hero); err != nil {
				t.Fatal(err)
			}
			if err := node.Close(); err != nil {
				t.Fatal(err)
			}

			s := w.open(t)
			c, err := s.Catalog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var tables []string
			ids := make(map[string]bool)
			for _, table := range c.Tables {
				tables = append(tables, table.Name)
				for _, col := range table.Columns {
					if col.IsID {
						ids[table.Name+"."+col.Name] = true
					}
					if col.Opaque != "" {
						t.Errorf("%s.%s is opaque: %s", table.Name, col.Name, col.Opaque)
					}
				}
			}
			if diff := cmp.Diff([]string{"guild_members", "guilds", "items", "players"}, tables); diff != "" {
				t.Error(diff)
			}
			wantIDs := map[string]bool{"players.id": true, "items.id": true, "items.owner_id": true, "guilds.id": true, "guilds.leader_id": true,
				"guild_members.player_id": true, "guild_members.guild_id": true}
			if diff := cmp.Diff(wantIDs, ids); diff != "" {
				t.Error(diff)
			}
			if c.SchemaVersion != 1 || !c.HasRegistry || len(c.Skipped) > 0 {
				t.Errorf("version %d, registry %t, skipped %v", c.SchemaVersion, c.HasRegistry, c.Skipped)
			}
			registered, err := storetest.World(db).Servers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			servers, err := s.Servers(t.Context())
			want := []catalog.Server{{Server: 7, World: registered[0].World, Name: "seven", Own: true, Reserved: registered[0].Reserved}}
			if diff := cmp.Diff(want, servers); diff != "" || err != nil {
				t.Error(diff, err)
			}
			rows := mustCollect(t, s.Scan(t.Context(), by("players", "id")))
			if got, err := gameid.FromBytes(rows[0].order[0]); len(rows) != 1 || err != nil || got != id.ID() {
				t.Errorf("got %d rows, the first with ID %s, %v", len(rows), got, err)
			}
		})
	}
}

// Tables that were begun and never completed are no database to judge.
func TestStoreUnfinished(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t, "CREATE TABLE "+sqldb.SchemaTable+" (application VARCHAR(32) PRIMARY KEY, version INT NOT NULL)",
			"INSERT INTO "+sqldb.SchemaTable+" VALUES ('mergesafe-registry', 0)")
		if c, err := w.open(t).Catalog(t.Context()); err == nil {
			t.Errorf("got %v", c)
		}
	})
}

// A server that is out of range is an error, not another server.
func TestStoreServerOutOfRange(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t, "CREATE TABLE "+worldregistry.Table+" (server_id BIGINT, name VARCHAR(64), world CHAR(32), role VARCHAR(16), reserved_ms BIGINT)",
			"INSERT INTO "+worldregistry.Table+" VALUES (4294967303, '', '', 'own', 0)")
		if servers, err := w.open(t).Servers(t.Context()); err == nil {
			t.Errorf("got %v", servers)
		}
	})
}
