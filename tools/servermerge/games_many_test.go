package main

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/gameworlds"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

var manyWorlds = flag.Int("profiles.worlds", 0, "how many worlds of a game TestManyWorlds merges; 0: it is skipped")

// sameNames gives the first rows of a table, in the order of their keys, the same names in every world.
func sameNames(table, key, column string, names ...string) (all []string) {
	for i, name := range names {
		all = append(all, fmt.Sprintf("UPDATE `%s` SET `%s` = '%s' WHERE `%s` = "+
			"(SELECT k FROM (SELECT `%[4]s` AS k FROM `%[1]s` ORDER BY 1 LIMIT 1 OFFSET %[5]d) AS x)",
			table, column, name, key, i))
	}
	return all
}

// worldsOfWarcraft is what AzerothCore and TrinityCore are given: names, and the flag that a new one sets.
var worldsOfWarcraft = slices.Concat([]string{"UPDATE characters SET at_login = at_login | 1"},
	sameNames("characters", "guid", "name", "Aria", "Aria.", "Aria.2", "Abcdefghijkl"),
	sameNames("guild", "guildid", "name", "Wolves", "Wolves II", "Wolves II.2", strings.Repeat("w", 24)))

// ragnarok is the same of Hercules and rAthena, whose names have 23 characters at most.
var ragnarok = slices.Concat([]string{"UPDATE `char` SET `rename` = `rename` | 1"},
	sameNames("char", "char_id", "name", "Aria", "Aria.m", "Aria.m.2", strings.Repeat("a", 23)),
	sameNames("guild", "guild_id", "name", "Wolves", "Wolves.m", strings.Repeat("w", 23)),
	sameNames("party", "party_id", "name", "Few", "Few.m", strings.Repeat("f", 23)),
	sameNames("login", "account_id", "userid", "aria", "aria.m", "aria.m.2", strings.Repeat("a", 23)))

// tibia is the same of The Forgotten Server and Canary.
var tibia = slices.Concat(sameNames("players", "id", "name", "Aria", "Aria II", "Aria II.2", strings.Repeat("a", 255)),
	sameNames("accounts", "id", "name", "aria", "ariax", "ariax.2", strings.Repeat("a", 32)),
	sameNames("guilds", "id", "name", "Wolves", "Wolves II", strings.Repeat("w", 255)))

// named are columns of names that many worlds share, names of names among them, and names as long as the column takes.
var named = map[string][]string{
	"azerothcore": worldsOfWarcraft,
	"trinitycore": worldsOfWarcraft,
	"hercules":    ragnarok,
	"rathena":     ragnarok,
	"tfs":         tibia,
	"canary":      tibia,
	"l2jmobius": slices.Concat(
		sameNames("characters", "charId", "char_name", "Aria", "Aria.m", "Aria.m.2", strings.Repeat("a", 16)),
		sameNames("clan_data", "clan_id", "clan_name", "Wolves", "Wolves.m", strings.Repeat("w", 16))),
	"landsandboat": slices.Concat(
		sameNames("chars", "charid", "charname", "Aria", "Ariax", "Ariax.2", strings.Repeat("a", 15)),
		sameNames("accounts", "id", "login", "aria", "ariax", "ariax.2", strings.Repeat("a", 16))),
	"cosmic": slices.Concat(sameNames("characters", "id", "name", "Aria", "Ariax", "Ariax.2", strings.Repeat("a", 12)),
		sameNames("accounts", "id", "name", "aria", "ariax", "ariax.2", strings.Repeat("a", 13)),
		sameNames("guilds", "guildid", "name", "Wolves", "Wolvesx", strings.Repeat("w", 12)),
		sameNames("alliance", "id", "name", "Allies", "Alliesx", strings.Repeat("w", 12))),
	"qcute": slices.Concat([]string{"UPDATE increment SET value = value + 1000000"}, // else it may be a table's largest key
		sameNames("role", "role_id", "role_name", "Aria", "Aria.m", "Aria.m.2"),
		sameNames("role", "role_id", "account_name", "aria", "aria.m", "aria.m.2"),
		sameNames("guild", "guild_id", "guild_name", "Wolves", "Wolves.m")),
}

// Many worlds of a game become one, all at once and one after the other: every reference leads to the row that it led
// to, no merge lacks room below what the game takes, every counter ends above its keys, and no two rows have one name.
func TestManyWorlds(t *testing.T) {
	folder := os.Getenv(gameworlds.EnvSchemas)
	if folder == "" || *manyWorlds < 2 {
		t.Skipf("NOT TESTED: many worlds: %s and -profiles.worlds", gameworlds.EnvSchemas)
	}
	for _, g := range realGames {
		if named[g.profile] != nil {
			t.Run(g.profile+"/at once", func(t *testing.T) { g.mergeMany(t, folder, *manyWorlds-1) })
			t.Run(g.profile+"/in a row", func(t *testing.T) { g.mergeMany(t, folder, 1) })
		}
	}
}

// mergeMany merges some more worlds at a time into what was merged before.
func (g realGame) mergeMany(t *testing.T, folder string, atATime int) {
	var seeds []uint64
	for seed := range uint64(*manyWorlds) {
		seeds = append(seeds, seed+1)
	}
	o, dsns := g.marked(t, folder, 60, named[g.profile], seeds...)
	merged, made := dsns[0], o.dbs[0]
	dir, marks := t.TempDir(), marksFile(t)
	var first, names = make(map[string][]string), 0 // what each name was, in the worlds
	for more := range slices.Chunk(dsns[1:], atATime) {
		file := filepath.Join(dir, fmt.Sprintf("plan%d.json", len(first)))
		into, db := newDatabase(t)
		worlds := append([]string{merged}, more...)
		planned := ran(t, cli.OK, slices.Concat([]string{"plan", "-into", into, "-o", file}, g.rules(t, marks), worlds)...)
		if !strings.HasPrefix(planned.stdout, "READY ") {
			t.Fatalf("%.2000s", planned.stdout)
		}
		with := func(command string) []string { return slices.Concat([]string{command, "-json", file, into}, worlds) }
		outcome(t, with("apply"))
		if p := outcome(t, with("verify")).Proof; p.Verdict != verdict.Pass {
			t.Errorf("%s: %+v", p.Verdict, p.Keys)
		}
		outcome(t, with("open"))
		merged, made = into, db
		p := plan(t, file)
		for _, r := range p.Renames {
			names++
			column, old, now := fmt.Sprintf("%s.%s ", r.Table, r.Column), fmt.Sprintf("%q", r.Old), fmt.Sprintf("%q", r.New)
			first[column+now] = append(append(first[column+now], first[column+old]...), old)
			for _, was := range first[column+now] {
				o.renamed[column+was+" "+now] = true
			}
		}
		g.room(t, made, p.Rekey.Spaces)
	}
	rows, references, dangling := o.compare(t, made)
	for _, k := range g.halves {
		led, not := o.compareHalves(t, made, k)
		references, dangling = references+led, dangling+not
	}
	for _, statement := range named[g.profile] {
		words := strings.Split(statement, "`")
		if !strings.Contains(statement, "LIMIT 1 OFFSET 0") { // once for each column
			continue
		}
		twice := fmt.Sprintf("SELECT `%s`, COUNT(*) FROM `%s` WHERE `%[1]s` IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 1",
			words[3], words[1])
		for _, row := range rowsOf(t, made, twice) {
			t.Errorf("%s rows of %s have the name %q", *row[1], words[1], *row[0])
		}
	}
	t.Logf("%d worlds: %d rows came, %d references lead to a row, %d lead nowhere; %d new names",
		*manyWorlds, rows, references, dangling, names)
}

// room looks whether the keys of a merged database are below what the game and the columns take, and the counters above them.
func (g realGame) room(t *testing.T, made *sql.DB, spaces []verdict.RekeyedSpace) {
	t.Helper()
	conn, err := made.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Otherwise MySQL tells of the counter of yesterday.
	if _, err := conn.ExecContext(t.Context(), "/*!80000 SET SESSION information_schema_stats_expiry = 0 */"); err != nil {
		t.Fatal(err)
	}
	for _, s := range spaces {
		for _, key := range s.Keys {
			table, column, _ := strings.Cut(key, ".")
			var last, next uint64
			query := fmt.Sprintf("SELECT COALESCE(MAX(`%s`), 0), COALESCE((SELECT AUTO_INCREMENT FROM information_schema.TABLES"+
				" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s'), 0) FROM `%[2]s`", column, table)
			if err := conn.QueryRowContext(t.Context(), query).Scan(&last, &next); err != nil {
				t.Fatal(err)
			}
			if s.Most > 0 && last > s.Most {
				t.Errorf("the last key of %s is %d, above %d", key, last, s.Most)
			}
			if next != 0 && (next <= last || next > last+max(1_000_000, s.Step)) {
				t.Errorf("the last key of %s is %d, and its counter is at %d", key, last, next)
			}
		}
	}
}
