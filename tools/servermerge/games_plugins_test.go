package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

// pluginGame is a game of which the profile is short: what makes it hard to merge, in some of its tables.
type pluginGame struct {
	profile string
	tables  []string // %d is the number of the world
	asked   map[string][]string
}

var pluginGames = []pluginGame{
	// Plates are keys that are names; a trunk has the plate of its vehicle. Money of one account is added up.
	{"esx", []string{
		"CREATE TABLE owned_vehicles (owner VARCHAR(60), plate VARCHAR(12) NOT NULL PRIMARY KEY, vehicle TEXT, type VARCHAR(20), job VARCHAR(20), `stored` INTEGER, parking VARCHAR(60), pound VARCHAR(60))",
		"INSERT INTO owned_vehicles VALUES ('license:%d', 'ABC 123', '{}', 'car', NULL, 1, 'A', NULL), ('license:x', 'OWN %d', '{}', 'car', NULL, 0, 'A', NULL)",
		"CREATE TABLE trunk_inventory (id INTEGER NOT NULL PRIMARY KEY, plate VARCHAR(8) NOT NULL UNIQUE, data TEXT, owned INTEGER)",
		"INSERT INTO trunk_inventory VALUES (1, 'ABC 123', 'trunk %d', 1), (2, 'OWN %d', 'own %d', 1)",
		"CREATE TABLE addon_account_data (id INTEGER NOT NULL PRIMARY KEY, account_name VARCHAR(100), money INTEGER NOT NULL, owner VARCHAR(60))",
		"INSERT INTO addon_account_data VALUES (%d, 'bank', 10 + %d, 'license:x')",
	}, map[string][]string{
		"SELECT v.plate, v.owner, t.data, v.parking FROM owned_vehicles v JOIN trunk_inventory t ON t.plate = v.plate ORDER BY v.plate": {
			"ABC 123|license:1|trunk 1|A", "ABC 1232|license:2|trunk 2|A", "OWN 1|license:x|own 1|A", "OWN 2|license:x|own 2|A"},
		"SELECT account_name, owner, money FROM addon_account_data": {"bank|license:x|23"},
	}},
	// Friends are known by name alone, and names are bytes.
	{"metin2", []string{
		"CREATE TABLE player_index (id INTEGER NOT NULL PRIMARY KEY, pid1 INTEGER NOT NULL, pid2 INTEGER NOT NULL, pid3 INTEGER NOT NULL, pid4 INTEGER NOT NULL, empire INTEGER NOT NULL)",
		"INSERT INTO player_index VALUES (1, 1, 2, 0, 0, 1)",
		"CREATE TABLE player (id INTEGER NOT NULL PRIMARY KEY, account_id INTEGER NOT NULL, name VARBINARY(24) NOT NULL, change_name INTEGER NOT NULL, level INTEGER NOT NULL)",
		"INSERT INTO player VALUES (1, 1, CAST('bob' AS BLOB), 0, 9), (2, 1, CAST('only%d' AS BLOB), 0, 9)",
		"CREATE TABLE messenger_list (account VARBINARY(24) NOT NULL, companion VARBINARY(24) NOT NULL, PRIMARY KEY (account, companion))",
		"INSERT INTO messenger_list VALUES (CAST('bob' AS BLOB), CAST('only%d' AS BLOB)), (CAST('only%d' AS BLOB), CAST('bob' AS BLOB))",
	}, map[string][]string{
		"SELECT id, account_id, CAST(name AS TEXT), change_name FROM player ORDER BY id": {"1|1|bob|0", "2|1|only1|0", "1001|1001|bobw2|1", "1002|1001|only2|0"},
		"SELECT CAST(account AS TEXT), CAST(companion AS TEXT) FROM messenger_list ORDER BY 1, 2": {
			"bob|only1", "bobw2|only2", "only1|bob", "only2|bobw2"},
		"SELECT id, pid1, pid2, pid3 FROM player_index ORDER BY id": {"1|1|2|0", "1001|1001|1002|0"},
	}},
	// The log of blocks names what its dictionaries number, each world its own way; a player is the same by his UUID.
	{"coreprotect", []string{
		"CREATE TABLE co_user (rowid INTEGER NOT NULL PRIMARY KEY, time INTEGER, user VARCHAR(100), uuid VARCHAR(64))",
		"INSERT INTO co_user VALUES (1, 5, 'both', 'uuid-x'), (2, 5, 'own %d', 'uuid-%d')",
		"CREATE TABLE co_world (rowid INTEGER NOT NULL PRIMARY KEY, id INTEGER, world VARCHAR(255))",
		"INSERT INTO co_world VALUES (1, 1, 'world')",
		"CREATE TABLE co_material_map (rowid INTEGER NOT NULL PRIMARY KEY, id INTEGER, material VARCHAR(255))",
		"INSERT INTO co_material_map VALUES (1, 3 - %d, 'stone'), (2, %d, 'dirt')",
		"CREATE TABLE co_entity_map (rowid INTEGER NOT NULL PRIMARY KEY, id INTEGER, entity VARCHAR(255))",
		"INSERT INTO co_entity_map VALUES (1, 1, 'cow')",
		"CREATE TABLE co_block (rowid INTEGER NOT NULL PRIMARY KEY, time INTEGER, user INTEGER, wid INTEGER, x INTEGER, y INTEGER, z INTEGER, type INTEGER, data INTEGER, meta BLOB, blockdata BLOB, action INTEGER, rolled_back INTEGER)",
		"INSERT INTO co_block VALUES (1, %d, 1, 1, 0, 0, 0, 1, 0, NULL, NULL, 0, 0), (2, %d, 2, 1, 0, 0, 0, 2, 0, NULL, NULL, 1, 0), (3, %d, 2, 1, 0, 0, 0, 1, 0, NULL, NULL, 3, 0)",
	}, map[string][]string{
		"SELECT b.time, u.uuid, w.world, COALESCE(m.material, e.entity) FROM co_block b JOIN co_user u ON u.rowid = b.user JOIN co_world w ON w.id = b.wid LEFT JOIN co_material_map m ON m.id = b.type AND b.action <> 3 LEFT JOIN co_entity_map e ON e.id = b.type AND b.action = 3 ORDER BY b.rowid": {
			"1|uuid-x|world|dirt", "1|uuid-1|world|stone", "1|uuid-1|world|cow", "2|uuid-x|world_w2|stone", "2|uuid-2|world_w2|dirt", "2|uuid-2|world_w2|cow"},
	}},
	// A player is the same by his UUID, in three plugins; another one of his name gets a new name in all of them.
	{"minecraft", []string{
		"CREATE TABLE authme (id INTEGER NOT NULL PRIMARY KEY, username VARCHAR(255) NOT NULL UNIQUE, realname VARCHAR(255) NOT NULL, playerUUID VARCHAR(36))",
		"INSERT INTO authme VALUES (1, 'both', 'both', 'uuid-x'), (2, 'bob', 'bob', 'uuid-%d')",
		"CREATE TABLE mcmmo_users (id INTEGER NOT NULL PRIMARY KEY, user VARCHAR(40) NOT NULL, uuid VARCHAR(36), lastlogin INTEGER NOT NULL)",
		"INSERT INTO mcmmo_users VALUES (1, 'both', 'uuid-x', %d), (2, 'bob', 'uuid-%d', 5)",
		"CREATE TABLE luckperms_players (uuid VARCHAR(36) NOT NULL PRIMARY KEY, username VARCHAR(16) NOT NULL, primary_group VARCHAR(36) NOT NULL)",
		"INSERT INTO luckperms_players VALUES ('uuid-x', 'both', 'g%d'), ('uuid-%d', 'bob', 'default')",
	}, map[string][]string{
		"SELECT username, realname, playerUUID FROM authme ORDER BY playerUUID":         {"bob|bob|uuid-1", "bob_w2|bob_w2|uuid-2", "both|both|uuid-x"},
		"SELECT user, uuid, lastlogin FROM mcmmo_users ORDER BY uuid":                   {"bob|uuid-1|5", "bob_w2|uuid-2|5", "both|uuid-x|2"},
		"SELECT uuid, username, primary_group FROM luckperms_players ORDER BY username": {"uuid-1|bob|default", "uuid-2|bob_w2|default", "uuid-x|both|g1"},
	}},
}

// What was hard in games of plugins comes out right by their profiles: names that are keys or bytes, dictionaries, and players who are
// the same by a UUID.
func TestPluginGames(t *testing.T) {
	mergePluginGames(t, strings.NewReplacer(), func(t *testing.T) (string, *sql.DB) {
		file := filepath.Join(t.TempDir(), "world")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return "sqlite:" + file, db
	})
}

// The same on servers: ESX and Metin2 run only there, the plugins of Minecraft there as well.
func TestPluginGamesOnServers(t *testing.T) {
	servertest.Long(t)
	inMySQL := strings.NewReplacer("INTEGER NOT NULL PRIMARY KEY", "INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY", "AS BLOB)", "AS BINARY)", "AS TEXT)", "AS CHAR)")
	servertest.OnMySQLToo(t, func(t *testing.T) { mergePluginGames(t, inMySQL, newDatabase) })
}

// mergePluginGames merges two worlds of each game, in databases that are made for it.
func mergePluginGames(t *testing.T, dialect *strings.Replacer, create func(t *testing.T) (dsn string, db *sql.DB)) {
	for _, g := range pluginGames {
		t.Run(g.profile, func(t *testing.T) {
			config := ""
			var dbs []*sql.DB
			for w, name := range []string{"new", "w1", "w2"} {
				dsn, db := create(t)
				config += fmt.Sprintf("[[source]]\nname = %q\ndsn = %q\n", name, dsn)
				if dbs = append(dbs, db); w > 0 {
					for _, s := range g.tables {
						statements(t, db, []string{dialect.Replace(strings.ReplaceAll(s, "%d", fmt.Sprint(w)))})
					}
				}
			}
			folder := t.TempDir()
			names, file := filepath.Join(folder, "config.toml"), filepath.Join(folder, "plan.json")
			if err := os.WriteFile(names, []byte(config), 0o666); err != nil {
				t.Fatal(err)
			}
			ran(t, 0, "plan", "-config", names, "-rules", filepath.Join("../../profiles", g.profile+".toml"), "-into", "new", "-o", file, "w1", "w2")
			for _, command := range []string{"apply", "verify", "open"} {
				ran(t, 0, command, "-config", names, file)
			}
			for query, want := range g.asked {
				if got := askedRows(t, dbs[0], dialect.Replace(query)); !slices.Equal(got, want) {
					t.Errorf("%s:\n%q, want\n%q", query, got, want)
				}
			}
		})
	}
}

func askedRows(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, v := range values {
			row = append(row, v.String)
		}
		all = append(all, strings.Join(row, "|"))
	}
	return all
}
