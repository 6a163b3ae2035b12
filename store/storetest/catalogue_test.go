package storetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/store"
)

// Whoever reads the catalogue finds all that holds between the rows.
func TestCatalogue(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		unique := `SELECT m.name || '.' || group_concat(c.name) || ' ' || replace(i.origin, 'c', 'u') FROM sqlite_schema m
			JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
			WHERE m.type = 'table' AND i."unique" AND m.name <> 'mergesafe_schema' GROUP BY m.name, i.name`
		primary := `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND c.pk > 0 AND m.name <> 'mergesafe_schema'`
		foreign := `SELECT m.name || '.' || f."from" || '>' || f."table" || '.' || f."to" FROM sqlite_schema m
			JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`
		index := `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c
			WHERE m.type = 'table' AND NOT i."unique"`
		switch db.Dialect() {
		case store.PostgreSQL:
			indexes := `SELECT i.indrelid::regclass || '.' || a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid
				JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = current_schema()::regnamespace AND c.relname <> 'mergesafe_schema' AND `
			unique = strings.Replace(indexes, "a.attname", "a.attname || ' u'", 1) + "i.indisunique AND NOT i.indisprimary"
			primary = indexes + "i.indisprimary"
			index = indexes + "NOT i.indisunique"
			foreign = `SELECT conrelid::regclass || '.' || a.attname || '>' || confrelid::regclass || '.' || f.attname FROM pg_constraint
				JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = conkey[1] JOIN pg_attribute f ON f.attrelid = confrelid AND f.attnum = confkey[1]
				WHERE contype = 'f'`
		case store.MySQL:
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
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		}
		collation := "SELECT 'NOCASE' FROM sqlite_schema WHERE name IN ('players', 'guilds') AND sql LIKE '%name%COLLATE NOCASE%'"
		want := []string{"NOCASE", "NOCASE"}
		switch db.Dialect() {
		case store.PostgreSQL:
			collation = "SELECT collation_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name IN ('players', 'guilds') AND column_name = 'name'"
			want = []string{"mergesafe_names", "mergesafe_names"}
		case store.MySQL:
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
