package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/store"
)

func TestCreateSchema(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		refused := func(db *store.DB, reason string) {
			t.Helper()
			for what, err := range map[string]error{"create": db.CreateSchema(ctx), "check": db.CheckSchema(ctx)} {
				s, ok := errors.AsType[*store.SchemaError](err)
				if !ok || !errors.Is(err, store.ErrSchema) || !strings.Contains(s.Reason, reason) {
					t.Errorf("%s: %v, want %q", what, err, reason)
				}
			}
		}
		unfit := func(db *store.DB, reason string) {
			t.Helper()
			if err := db.CheckSchema(ctx); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%v, want %q", err, reason)
			}
			if _, err := db.OpenNode(ctx, 7, nodeOptions); !errors.Is(err, store.ErrSchema) {
				t.Errorf("OpenNode: %v", err)
			}
		}

		db := open(t, newDSN())
		unfit(db, "no tables of a game yet")
		exec(t, db, "CREATE TABLE mails (id BINARY(10) NOT NULL PRIMARY KEY)") // of the game itself
		for range 2 {
			must(t, db.CreateSchema(ctx))
			must(t, db.CheckSchema(ctx))
		}
		if got, want := tableNames(t, db), append(store.Tables(), store.SchemaTable, "mails"); !slices.Equal(got, sorted(want)) {
			t.Errorf("the tables are %v, want %v", got, want)
		}

		// It was interrupted.
		exec(t, db, "DROP TABLE guild_members")
		refused(db, `the table "guild_members" is missing: restore`)
		exec(t, db, "UPDATE "+store.SchemaTable+" SET version = 0")
		unfit(db, "never completed")
		must(t, store.Players.Insert(ctx, db, player(1)))
		must(t, db.CreateSchema(ctx))
		must(t, db.CheckSchema(ctx))
		if _, err := store.Players.Get(ctx, db, player(1).ID); err != nil {
			t.Errorf("finishing the schema lost a row: %v", err)
		}

		exec(t, db, "UPDATE "+store.SchemaTable+" SET version = 99")
		refused(db, "the tables have version 99 and this program knows them up to version 2: use a newer program")
		exec(t, db, "UPDATE "+store.SchemaTable+" SET version = -1")
		refused(db, "this program needs version 2")
		exec(t, db, "UPDATE "+store.SchemaTable+" SET version = 2, application = 'other'")
		refused(db, `belongs to another program, "other"`)

		foreign := open(t, newDSN())
		exec(t, foreign, "CREATE TABLE players (id INTEGER PRIMARY KEY)")
		refused(foreign, `a table "players" that was not made by this program`)
		if got := tableNames(t, foreign); !slices.Equal(got, []string{"players"}) {
			t.Errorf("a foreign database now has %v", got)
		}
	})
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

func tableNames(t testing.TB, db *store.DB) (names []string) {
	t.Helper()
	query := "SELECT name FROM sqlite_schema WHERE type = 'table'"
	if db.Dialect() == store.MySQL {
		query = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
	}
	must(t, db.Select(t.Context(), &names, query))
	return sorted(names)
}

// Whoever reads the catalogue finds all that holds between the rows.
func TestCatalogue(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		unique := `SELECT m.name || '.' || group_concat(c.name) || ' ' || replace(i.origin, 'c', 'u') FROM sqlite_schema m
			JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
			WHERE m.type = 'table' AND i."unique" AND m.name <> 'mergesafe_schema' GROUP BY m.name, i.name`
		primary := `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND c.pk > 0 AND m.name <> 'mergesafe_schema'`
		foreign := `SELECT m.name || '.' || f."from" || '>' || f."table" || '.' || f."to" FROM sqlite_schema m
			JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`
		index := `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
			WHERE m.type = 'table' AND NOT i."unique"`
		if db.Dialect() == store.MySQL {
			statistics := `SELECT CONCAT(table_name, '.', column_name) FROM information_schema.statistics
				WHERE table_schema = DATABASE() AND table_name <> 'mergesafe_schema' AND `
			unique = strings.Replace(statistics, "column_name)", "column_name, ' u')", 1) + "non_unique = 0 AND index_name <> 'PRIMARY'"
			primary = statistics + "index_name = 'PRIMARY'"
			index = statistics + "non_unique = 1"
			foreign = `SELECT CONCAT(table_name, '.', column_name, '>', referenced_table_name, '.', referenced_column_name)
				FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL`
		}
		for _, test := range []struct {
			query string
			want  []string
		}{
			{primary, []string{"gameid_numbers.name", "gameid_numbers.server_id", "gameid_servers.server_id", "guild_members.player_id", "guilds.id", "items.id", "players.id"}},
			{unique, []string{"gameid_servers.world u", "guilds.name u", "players.name u", "players.number u"}},
			{index, []string{"guild_members.guild_id", "guilds.leader_id", "items.owner_id", "players.account"}},
			{foreign, []string{"guild_members.guild_id>guilds.id", "guild_members.player_id>players.id", "guilds.leader_id>players.id", "items.owner_id>players.id"}},
		} {
			var got []string
			must(t, db.Select(t.Context(), &got, test.query))
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasSuffix(s, " pk") })
			if diff := cmp.Diff(test.want, sorted(got)); diff != "" {
				t.Error(diff)
			}
		}
		collation := "SELECT 'NOCASE' FROM sqlite_schema WHERE name IN ('players', 'guilds') AND sql LIKE '%name%COLLATE NOCASE%'"
		want := []string{"NOCASE", "NOCASE"}
		if db.Dialect() == store.MySQL {
			collation = "SELECT collation_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name IN ('players', 'guilds') AND column_name = 'name'"
			want = []string{"utf8mb4_unicode_520_ci", "utf8mb4_unicode_520_ci"}
		}
		var got []string
		must(t, db.Select(t.Context(), &got, collation))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
