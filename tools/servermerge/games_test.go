package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

// realGame is a game that people run.
type realGame struct {
	schema, profile string
	base            string            // the profile that comes before it, if any
	own             string            // a file of the operator's own that the profile's head shows, if any; it comes last
	first           []string          // statements for every world before it is merged
	key             gameworlds.Column // a key that first adds, if any
	above           int64             // what keys of a world begin above, if not 0
	references      int64             // that lead to a row, at least
	inCells         int               // columns and forms of cells with keys
	halves          []keyBySQL
	all             []string // statements for every world in which every statement of the profile is to matter
	damage          []damage
	dropped         []string // tables of which no row comes, since all refer to what stays behind
}

// damage is what is done to a world, and what the plan says of it.
type damage struct{ do, says string }

// keyBySQL is a key that is some bits of a number, or is in several columns.
type keyBySQL struct {
	table   string
	columns []string
	key     string // an expression; NULL where there is none
	rest    string // of what is beside it in these columns
	to      gameworlds.Column
}

// itemCells are the keys in the items of Hercules and rAthena: who made one, which pet is in an egg,
// and whose number one has. Tables with items are given with their keys; egg marks an egg.
func itemCells(egg int, items map[string]string) (first []string, all []keyBySQL) {
	char, pet := gameworlds.Column{Table: "char", Name: "char_id"}, gameworlds.Column{Table: "pet", Name: "pet_id"}
	for table, id := range items {
		// Some of the makers and pets are gone.
		some := func(of gameworlds.Column) string {
			return fmt.Sprintf("UPDATE `%s` i JOIN (SELECT %s AS k, ROW_NUMBER() OVER (ORDER BY %[2]s) AS n FROM `%s`) c ON c.n = 1 + i.%s %% (SELECT COUNT(*) FROM `%[3]s`)", table, of.Name, of.Table, id)
		}
		first = append(first,
			fmt.Sprintf("UPDATE `%s` SET unique_id = 0, card0 = ELT(1 + %s %% 5, 0, 4001, 254, 255, %d)", table, id, egg),
			some(char)+fmt.Sprintf(" SET unique_id = k * 4294967296 + i.%s WHERE i.%[1]s %% 3 > 0", id),
			some(char)+fmt.Sprintf(" SET card2 = IF(i.%[1]s %% 9 = 0, 0, k + IF(k %% 11 = 0, 3000 + i.%[1]s, 0)), card3 = 0 WHERE card0 IN (254, 255)", id), // 0: made without a name
			some(pet)+fmt.Sprintf(" SET card1 = k + IF(k %% 11 = 0, 3000 + i.%s, 0), card2 = 0, card3 = i.%[1]s %% 2 WHERE card0 = %d", id, egg))
		all = append(all,
			keyBySQL{table, []string{"unique_id"}, "IF(unique_id = 0, NULL, unique_id DIV 4294967296)", "unique_id % 4294967296", char},
			keyBySQL{table, []string{"card2", "card3"}, "IF(card0 IN (254, 255), card2 + card3 * 65536, NULL)",
				fmt.Sprintf("IF(card0 IN (254, 255), '', CONCAT(card3, IF(card0 = %d, '', CONCAT(' ', card2))))", egg), char},
			keyBySQL{table, []string{"card1", "card2"}, fmt.Sprintf("IF(card0 = %d, card1 + card2 * 65536, NULL)", egg),
				fmt.Sprintf("IF(card0 = %d, '', card1)", egg), pet})
	}
	return first, all
}

var herculesFirst, herculesHalves = itemCells(-256, map[string]string{"auction": "auction_id", "cart_inventory": "id", "guild_storage": "id",
	"inventory": "id", "mail": "id", "rodex_items": "id", "storage": "id"})

var rathenaFirst, rathenaHalves = itemCells(256, map[string]string{"auction": "auction_id", "cart_inventory": "id", "guild_storage": "id",
	"guild_storage_log": "id", "inventory": "id", "mail_attachments": "id", "storage": "id"})

// linkshellsFirst puts the keys of linkshells, some of them gone, into the pearls of LandSandBoat.
var linkshellsFirst = func() (first []string) {
	for _, table := range []string{"char_inventory", "delivery_box"} {
		first = append(first,
			fmt.Sprintf("UPDATE %s t JOIN (SELECT linkshellid AS k, ROW_NUMBER() OVER (ORDER BY linkshellid) AS n FROM linkshells) l ON l.n = 1 + (t.charid + t.slot) %% 30 SET itemId = 513 + t.slot %% 5, extra = CONCAT(REVERSE(UNHEX(LPAD(HEX(k + IF(k %% 11 = 0, 3000 + t.charid * 256 + t.slot, 0)), 8, '0'))), REPEAT(CHAR(t.slot %% 256), 20)) WHERE t.charid %% 2", table),
			fmt.Sprintf("UPDATE %s SET itemId = 512, extra = REPEAT(CHAR(0), 24) WHERE charid %% 10 = 0", table)) // a new one
	}
	return append(first, "UPDATE chars SET charname = CONCAT('n', charid)", "UPDATE accounts SET login = CONCAT('u', id)") // which no index makes different
}()

// linkshellIn is the key in the pearls of a table of LandSandBoat.
func linkshellIn(table string) keyBySQL {
	return keyBySQL{table, []string{"extra"}, "IF(itemId BETWEEN 512 AND 517, NULLIF(CONV(HEX(REVERSE(SUBSTRING(extra, 1, 4))), 16, 10), 0), NULL)",
		"HEX(IF(itemId BETWEEN 512 AND 517, SUBSTRING(extra, 5), extra))", gameworlds.Column{Table: "linkshells", Name: "linkshellid"}}
}

// noPetition makes charters of AzerothCore and TrinityCore that have no number of a petition: the last ones, since the
// first get the number of one that is gone.
const noPetition = "UPDATE item_instance SET enchantments = CONCAT('0', SUBSTRING(enchantments, LOCATE(' ', enchantments))) WHERE itemEntry IN (5863, 23560, 23561, 23562) ORDER BY guid DESC LIMIT 40"

// moreAuctions makes more mails of the auction house for AzerothCore and TrinityCore. Some name no character.
const moreAuctions = "UPDATE mail m JOIN (SELECT body, subject FROM mail WHERE messageType = 2 ORDER BY id LIMIT 1) x SET m.body = x.body, m.subject = x.subject, m.messageType = 2 " +
	"WHERE m.messageType = 0 AND m.id % 2"

// loginNames makes the names of accounts of several worlds differ.
var loginNames = []string{"UPDATE account SET username = CONCAT(LEFT(SHA2(CONCAT(salt, verifier), 256), 12), id % 10)"}

var realGames = []realGame{
	{schema: "azerothcore_2026", profile: "azerothcore", references: 100_000, inCells: 9,
		// Players' mails about numbers.
		all: []string{"UPDATE mail SET subject = CONCAT(1 + id % 200, ' swords') WHERE messageType = 0", noPetition, moreAuctions,
			"UPDATE spam_reports SET Description = IF(SpamType = 2, 'EventId: 0', 1 + ID % 200) WHERE SpamType <> 2 OR ID % 2"}, damage: []damage{
			{"UPDATE item_soulbound_trade_data SET allowedPlayers = CONCAT(allowedPlayers, ' x') WHERE allowedPlayers <> '' LIMIT 1", `"item_soulbound_trade_data": cell-format: allowedPlayers: 1 cell is wrong`},
			{"UPDATE mail SET body = 'zz' WHERE messageType = 2 AND body <> '' LIMIT 1", `"mail": cell-format: body: 1 cell is wrong`},
			{"UPDATE guild_member SET guid = 4294967295 LIMIT 1", `"guild_member": key-nobody`},
		}},
	{schema: "trinitycore_characters", profile: "trinitycore", base: "azerothcore", references: 100_000, inCells: 11,
		first: []string{"ALTER TABLE characters DROP INDEX idx_name"}, all: []string{noPetition, moreAuctions}, damage: []damage{
			{"UPDATE mail SET body = 'zz' WHERE messageType = 2 AND body <> '' LIMIT 1", `"mail": cell-format: body: 1 cell is wrong`},
		}},
	{schema: "hercules_main", profile: "hercules", references: 50_000, first: herculesFirst, halves: herculesHalves,
		all: []string{"UPDATE `char` SET account_id = 0 LIMIT 3"}, damage: []damage{
			{"UPDATE inventory SET card3 = -1 WHERE card0 = 254 LIMIT 1", `"inventory": cell-format: card2: 1 cell is wrong`},
			{"UPDATE homunculus SET char_id = 2147483647 LIMIT 1", `"homunculus": key-nobody`},
		}},
	{schema: "rathena_main", profile: "rathena", references: 50_000, halves: rathenaHalves,
		first: append(rathenaFirst, "UPDATE login SET userid = CONCAT('u', account_id)"), // which no index makes different
		all:   []string{"UPDATE `char` SET account_id = 0 LIMIT 3"}, damage: []damage{
			{"UPDATE inventory SET card3 = 70000 WHERE card0 = 254 LIMIT 1", `"inventory": cell-format: card2: 1 cell is wrong`},
			{"UPDATE homunculus SET char_id = 4294967295 LIMIT 1", `"homunculus": key-nobody`},
		}},
	{schema: "qcute_erlang_local", profile: "qcute", references: 50_000, dropped: []string{"notice_role"},
		all: []string{"DELETE FROM increment", "INSERT INTO increment SELECT 'item', MAX(item_no) FROM item UNION SELECT 'mail', MAX(mail_id) FROM mail UNION SELECT 'auction', MAX(auction_no) FROM auction" +
			" UNION SELECT 'lucky_money', MAX(lucky_money_no) FROM lucky_money UNION SELECT 'map', 21 UNION SELECT 'monster', 17"}, damage: []damage{
			{"UPDATE mail SET role_id = 18446744073709551615 LIMIT 1", `"mail": key-nobody`},
		}},
	{schema: "l2jmobius", profile: "l2jmobius", references: 20_000,
		above: 268435455, // the first object's number less one
		// Castles and bids stay behind. Some items are in warehouses of clans.
		first: []string{"UPDATE clan_data SET hasCastle = 0, auction_bid_at = 0",
			"ALTER TABLE clan_wars MODIFY clan1 INT NOT NULL, MODIFY clan2 INT NOT NULL",
			"ALTER TABLE character_transmogs MODIFY owner INT UNSIGNED NOT NULL",
			"UPDATE items i JOIN (SELECT clan_id AS k, ROW_NUMBER() OVER (ORDER BY clan_id) AS n FROM clan_data) c ON c.n = 1 + i.object_id % 10 SET owner_id = k, loc = 'CLANWH' WHERE i.object_id % 7 = 0"},
		halves: []keyBySQL{
			{"items", []string{"owner_id"}, "IF(loc = 'CLANWH' OR owner_id < 1, NULL, owner_id)", "IF(owner_id < 1, owner_id, '')", gameworlds.Column{Table: "characters", Name: "charId"}},
			{"items", []string{"owner_id"}, "IF(loc = 'CLANWH' AND owner_id > 0, owner_id, NULL)", "loc", gameworlds.Column{Table: "clan_data", Name: "clan_id"}},
		},
		all: []string{"UPDATE clan_data SET hasCastle = clan_id % 9, auction_bid_at = clan_id % 9, crest_id = IF(clan_id % 3, crest_id, 0)",
			"UPDATE punishments SET `key` = 268435456 + CRC32(reason) % 900 WHERE affect <> 'CHARACTER' LIMIT 9",
			"UPDATE character_quests SET value = 268435456 + CRC32(name) % 900 WHERE var <> 'summonOid' LIMIT 30",
			"UPDATE character_shortcuts SET shortcut_id = 268435456 + shortcut_id % 900 WHERE type <> 1",
			"UPDATE forums SET forum_parent = 1, forum_owner_id = 268435456 + forum_id % 900 LIMIT 3"}, damage: []damage{
			{"UPDATE clan_privs SET clan_id = 2147483647 LIMIT 1", `"clan_privs": key-nobody`},
		}},
	{schema: "landsandboat", profile: "landsandboat", references: 50_000,
		all: []string{"UPDATE char_inventory SET extra = 1 + slot % 200 WHERE itemId NOT BETWEEN 512 AND 517", "UPDATE delivery_box SET extra = 1 + slot % 200 WHERE itemid NOT BETWEEN 512 AND 517"}, first: linkshellsFirst, halves: []keyBySQL{linkshellIn("char_inventory"), linkshellIn("delivery_box")}, damage: []damage{
			{"UPDATE char_inventory SET extra = 'x' WHERE itemId = 515 LIMIT 1", `"char_inventory": cell-format: extra: 1 cell is wrong`},
			{"UPDATE char_blacklist SET charid_target = 4294967295 LIMIT 1", `"char_blacklist": key-nobody`},
		}},
	{schema: "cosmic", profile: "cosmic", references: 50_000, damage: []damage{
		{"UPDATE keymap SET characterid = 2147483647 LIMIT 1", `"keymap": key-nobody`},
	}},
	{schema: "forgottenserver", profile: "tfs", references: 20_000,
		all: []string{"UPDATE ip_bans SET ip = 77, reason = DATABASE(), banned_at = CRC32(DATABASE()), expires_at = CRC32(reason), banned_by = (SELECT CRC32(reason) % 100 + 1) LIMIT 1"}, damage: []damage{
			{"UPDATE player_items SET player_id = 2147483647 LIMIT 1", `"player_items": key-nobody`},
		}},
	{schema: "canary", profile: "canary", base: "tfs", own: "decided.toml", references: 20_000, inCells: 1,
		// The number of a group is one of its account. Others have no group.
		first: []string{
			"UPDATE ip_bans SET ip = CRC32(CONCAT(reason, banned_at, expires_at, ip)) >> 1",
			"INSERT IGNORE INTO account_vipgroups (id, account_id, name) SELECT vipgroup_id, account_id, 'few' FROM account_vipgrouplist",
			"ALTER TABLE kv_store DROP PRIMARY KEY, ADD id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY",
			"INSERT INTO kv_store (key_name, timestamp, value) VALUES ('raids.777', 1, 'x'), ('migrations.a', 2, 'y')"},
		key: gameworlds.Column{Table: "kv_store", Name: "id"},
		damage: []damage{
			{"UPDATE player_stash SET player_id = 2147483647 LIMIT 1", `"player_stash": key-nobody`},
		}},
	{schema: "azerothcore_auth", profile: "azerothcore-auth", references: 400, first: loginNames},
	{schema: "trinitycore_auth", profile: "trinitycore-auth", base: "azerothcore-auth", references: 400, first: loginNames},
}

// load reads the game's schema. If the folder has none, the test is skipped.
func (g realGame) load(t *testing.T, folder string) *gameworlds.Schema {
	t.Helper()
	schema, err := gameworlds.Load(filepath.Join(folder, g.schema+".sql"), filepath.Join("../../merge/propose/testdata", g.schema+".refs"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	schema.Engine = "InnoDB"
	return schema
}

// ruleFiles are the files of the game's rules, in their order.
func (g realGame) ruleFiles(t *testing.T) (files []string) {
	for _, name := range []string{g.base, g.profile} {
		if name != "" {
			files = append(files, filepath.Join("../../profiles", name+".toml"))
		}
	}
	if g.own != "" {
		files = append(files, ownFile(t, g.profile, g.own))
	}
	return files
}

// ownFile writes a file that the head of a profile shows: it is a file of yours.
func ownFile(t *testing.T, profile, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../profiles", profile+".toml"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(text), "# "+name+" is a file of yours")
	_, shown, _ = strings.Cut(shown, "\n#\n")
	var lines []string
	for line := range strings.Lines(shown) {
		line, inside := strings.CutPrefix(line, "#   ")
		if !inside {
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		t.Fatalf("the head of %s shows no %s", profile, name)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// rules are the flags for the game's rules, and for files that come after them.
func (g realGame) rules(t *testing.T, more ...string) (flags []string) {
	for _, file := range append(g.ruleFiles(t), more...) {
		flags = append(flags, "-rules", file)
	}
	return flags
}

// Three worlds of each game, which count all keys from 1, become one with the game's profile
// and nothing else: every reference of the game that led to a row of its world leads to that
// row, every other one leads nowhere, and nothing else is different. MERGESAFE_SCHEMAS is a
// folder with the schemas of public games.
func TestProfiles(t *testing.T) {
	folder := os.Getenv("MERGESAFE_SCHEMAS")
	if folder == "" {
		t.Skip("MERGESAFE_SCHEMAS names no folder with the schemas of public games")
	}
	for _, g := range realGames {
		t.Run(g.profile, func(t *testing.T) { g.merge(t, folder) })
	}
}

// marked makes worlds of the game, each from a seed, whose rows the oracle knows again.
func (g realGame) marked(t *testing.T, folder string, characters int, first []string, seeds ...uint64) (o *oracle, dsns []string) {
	t.Helper()
	schema := g.load(t, folder)
	o = &oracle{refs: schema.Refs, left: leftBehind(t, g.ruleFiles(t), schema.Refs.Tables), inCells: make(map[string]int64), things: make(map[string]string), bySQL: make(map[gameworlds.Column]bool), renamed: make(map[string]bool)}
	for _, table := range g.dropped {
		o.left[table] = true
	}
	for _, k := range g.halves {
		for _, name := range k.columns {
			o.bySQL[gameworlds.Column{Table: k.table, Name: name}] = true
		}
	}
	for _, seed := range seeds {
		opts := gameworlds.Typical(seed)
		opts.Characters, opts.Items, opts.Offset = characters, 5*characters, g.above
		dsn := servertest.DSN(t)
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := schema.Fill(t.Context(), db, sqldb.MySQL, opts); err != nil {
			t.Fatal(err)
		}
		statements(t, db, append(slices.Clone(g.first), first...))
		o.mark(t, db, seed)
		o.dbs, dsns = append(o.dbs, db), append(dsns, "mysql:"+dsn)
	}
	if g.key.Table != "" {
		o.refs.Columns[g.key] = []gameworlds.Meaning{{Kind: gameworlds.Key}}
	}
	return o, dsns
}

func (g realGame) merge(t *testing.T, folder string) {
	began := time.Now()
	o, dsns := g.marked(t, folder, 600, nil, 1, 2, 3)
	var before []map[string]string
	for _, db := range o.dbs {
		before = append(before, o.digests(t, db))
	}
	into, made := newDatabase(t)
	file := filepath.Join(t.TempDir(), "plan.json")
	planned := ran(t, cli.OK, slices.Concat([]string{"plan", "-into", into, "-o", file}, g.rules(t, marksFile(t)), dsns)...)
	if !strings.HasPrefix(planned.stdout, "READY ") {
		t.Fatalf("%.2000s", planned.stdout)
	}
	with := func(command string) []string { return slices.Concat([]string{command, "-json", file, into}, dsns) }
	applied, proof := outcome(t, with("apply")), outcome(t, with("verify"))
	if p := proof.Proof; p.Verdict != verdict.Pass || len(p.Keys) != 6 {
		t.Errorf("%s: %+v", p.Verdict, p.Keys)
	}
	p := plan(t, file)
	for _, r := range p.Renames {
		o.renamed[fmt.Sprintf("%s.%s %q %q", r.Table, r.Column, r.Old, r.New)] = true
	}
	rows, references, dangling := o.compare(t, made)
	for _, k := range g.halves {
		led, not := o.compareHalves(t, made, k)
		references, dangling = references+led, dangling+not
		o.halves += led
	}
	if applied.Applied.Rows < rows {
		t.Errorf("apply tells of %d rows, want %d or more", applied.Applied.Rows, rows)
	}
	o.trace(t, into, p)
	t.Logf("%d tables, %d rows came; %d references lead to a row, %d lead nowhere; of them in cells: %v, in bits and halves: %d; %.0f s", len(o.refs.Tables), rows, references, dangling, o.inCells, o.halves, time.Since(began).Seconds())
	if references < g.references || dangling == 0 || len(o.inCells) != g.inCells {
		t.Error("there was little to compare")
	}
	outcome(t, with("open"))
	if undone := outcome(t, with("undo")); !undone.Undone.Dropped {
		t.Errorf("%+v", undone.Undone)
	}
	for i, db := range o.dbs {
		for table, now := range o.digests(t, db) {
			if before[i][table] != now {
				t.Errorf("%s of world %d is not what it was before the merge", table, i+1)
			}
		}
	}
}

// newDatabase is an empty database, for a merge.
func newDatabase(t *testing.T) (dsn string, db *sql.DB) {
	t.Helper()
	dsn = servertest.DSN(t)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return "mysql:" + dsn, db
}

// What is wrong in a world refuses the plan, by name.
func TestProfilesFindDamage(t *testing.T) {
	folder := os.Getenv("MERGESAFE_SCHEMAS")
	if folder == "" {
		t.Skip("MERGESAFE_SCHEMAS names no folder with the schemas of public games")
	}
	for _, g := range realGames {
		t.Run(g.profile, func(t *testing.T) {
			schema := g.load(t, folder)
			into, _ := newDatabase(t)
			args := append([]string{"plan", "-into", into, "-o", filepath.Join(t.TempDir(), "plan.json")}, g.rules(t)...)
			for seed := range uint64(2) {
				opts := gameworlds.Typical(seed)
				opts.Characters, opts.Items, opts.Offset = 300, 1500, g.above
				dsn := servertest.DSN(t)
				db, err := sql.Open("mysql", dsn)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if _, err := schema.Fill(t.Context(), db, sqldb.MySQL, opts); err != nil {
					t.Fatal(err)
				}
				db.SetMaxOpenConns(1)
				statements(t, db, append(slices.Clone(g.first), "SET SESSION foreign_key_checks = 0"))
				for _, d := range g.damage[:len(g.damage)*int(seed)] {
					statements(t, db, []string{d.do})
				}
				args = append(args, "mysql:"+dsn)
			}
			r := servermerge(t.Context(), args...)
			for _, d := range g.damage {
				if !strings.HasPrefix(r.stdout, "REFUSED") || !strings.Contains(r.stdout, d.says) {
					t.Errorf("%s: want %s in\n%.3000s%s", d.do, d.says, r.stdout, r.stderr)
				}
			}
		})
	}
}

func statements(t *testing.T, db *sql.DB, all []string) {
	t.Helper()
	for _, s := range all {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func outcome(t *testing.T, args []string) (d report.Outcome) {
	t.Helper()
	if err := json.Unmarshal([]byte(ran(t, cli.OK, args...).stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func plan(t *testing.T, file string) *merge.Plan {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := merge.ReadPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// leftBehind are the tables that files of rules leave behind.
func leftBehind(t *testing.T, files, tables []string) map[string]bool {
	t.Helper()
	left := make(map[string]bool)
	for _, file := range files {
		var rules struct {
			Merge struct {
				Table []struct {
					Tables []string
					Policy string
					Set    map[string]string
				}
			}
		}
		if _, err := toml.DecodeFile(file, &rules); err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules.Merge.Table {
			for _, pattern := range rule.Tables {
				for _, table := range tables {
					if match, _ := path.Match(pattern, table); match && (rule.Policy == "skip" || rule.Policy == "same" || rule.Policy == "combine" && rule.Set == nil) {
						left[table] = true
					}
				}
			}
		}
	}
	return left
}

// markColumn is a column that the test adds to every table that is copied: it tells of a
// row which one of which world it is. No key has to do with it.
const markColumn = "mergesafe_row"

// oracle judges a merge by what is true of the columns of the game, and by the marks.
type oracle struct {
	refs *gameworlds.Refs
	left map[string]bool
	dbs  []*sql.DB // the worlds as they were; of the seeds 1, 2, 3

	bySQL   map[gameworlds.Column]bool // columns that compareHalves compares
	renamed map[string]bool            // names that the plan changes
	halves  int64                      // keys that it found
	// accounts says what is wrong with the number of an account that a world has; nil: all worlds share accounts
	accounts func(world int, was, is string) string
	things   map[string]string // what numbers of a world that have no table became, and back
	inCells  map[string]int64  // keys in cells that lead to a row, by column and form

	// keys are, by key column and key, the marks of the rows that have it: of the worlds,
	// and of the merged database at the end.
	keys []map[gameworlds.Column]map[string]string
}

func (o *oracle) copied() (tables []string) {
	for _, table := range o.refs.Tables {
		if !o.left[table] {
			tables = append(tables, table)
		}
	}
	return tables
}

func (o *oracle) mark(t *testing.T, db *sql.DB, world uint64) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET SESSION timestamp = 1700000000"); err != nil { // for columns that keep the time of the last change
		t.Fatal(err)
	}
	for _, table := range o.copied() {
		for _, statement := range []string{
			fmt.Sprintf("ALTER TABLE `%s` ADD COLUMN %s VARCHAR(20) CHARACTER SET ascii NOT NULL DEFAULT ''", table, markColumn),
			"SET @n = 0",
			fmt.Sprintf("UPDATE `%s` SET %s = CONCAT('w%d-', @n := @n + 1)", table, markColumn, world),
		} {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
}

// compare compares the merged database with the worlds, and returns how many rows came, how
// many references lead to a row and how many of those that could lead nowhere.
func (o *oracle) compare(t *testing.T, made *sql.DB) (rows, resolved, dangling int64) {
	t.Helper()
	all := append(slices.Clone(o.dbs), made)
	for _, db := range all {
		keys := make(map[gameworlds.Column]map[string]string)
		for c, meanings := range o.refs.Columns {
			if !o.left[c.Table] && meanings[0].Kind == gameworlds.Key {
				keys[c] = make(map[string]string)
				for _, row := range rowsOf(t, db, fmt.Sprintf("SELECT `%s`, %s FROM `%s`", c.Name, markColumn, c.Table)) {
					if other := keys[c][*row[0]]; other != "" {
						t.Errorf("%s: %s and %s have the key %s", c, other, *row[1], *row[0])
					}
					keys[c][*row[0]] = *row[1]
				}
			}
		}
		o.keys = append(o.keys, keys)
	}
	for _, table := range o.refs.Tables {
		if o.left[table] {
			if was, is := digest(t, o.dbs[0], table), digest(t, made, table); was != is {
				t.Errorf("%s stays behind, and the rows of the first world are others", table)
			}
			continue
		}
		columns := rowsOf(t, made, "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '"+table+"' ORDER BY ordinal_position")
		var names []string
		for _, c := range columns {
			names = append(names, *c[0])
		}
		at := slices.Index(names, markColumn)
		read := func(db *sql.DB) map[string][]*string {
			marked := make(map[string][]*string)
			list := rowsOf(t, db, "SELECT `"+strings.Join(names, "`, `")+"` FROM `"+table+"`")
			for _, row := range list {
				marked[*row[at]] = row
			}
			if len(marked) != len(list) {
				t.Errorf("%s: %d rows, and %d marks", table, len(list), len(marked))
			}
			return marked
		}
		merged, want := read(made), 0
		for world, db := range o.dbs {
			before := read(db)
			want += len(before)
			rows += int64(len(before))
			for mark, was := range before {
				is := merged[mark]
				if is == nil {
					t.Errorf("%s: the row %s did not come", table, mark)
					continue
				}
				for i, name := range names {
					wrong, column := "", gameworlds.Column{Table: table, Name: name}
					form, to := o.cell(column, names, was, i)
					switch ref := o.reference(column, names, was, i); {
					case o.renamed[column.String()+" "+text(was[i])+" "+text(is[i])]:
					case world == 0 && text(was[i]) != text(is[i]):
						wrong = "a row of the first world has changed"
					case form != nil:
						var led, not int64
						led, not, wrong = o.sameInCell(world, form, to, *was[i], *is[i])
						resolved, dangling = resolved+led, dangling+not
						o.inCells[column.String()+" as "+form.String()] += led
					case o.bySQL[column] && world > 0:
					case o.isThing(column) && was[i] != nil && is[i] != nil:
						wrong = o.sameThing(world, column, *was[i], *is[i])
					case o.accounts != nil && o.isAccount(column) && was[i] != nil && is[i] != nil:
						wrong = o.accounts(world, *was[i], *is[i])
					case ref == nil && o.keys[0][column] != nil: // looked at by its mark
					case ref == nil && text(was[i]) != text(is[i]):
						wrong = "it is no reference"
					case ref != nil && is[i] == nil:
						wrong = "it is lost"
					case ref != nil:
						led, leads := o.keys[world][*ref][*was[i]], o.keys[len(o.dbs)][*ref][*is[i]]
						if led != leads {
							wrong = fmt.Sprintf("it led to the row %q of %s, and leads to %q", led, ref, leads)
						} else if led != "" {
							resolved++
						} else {
							dangling++
						}
					}
					if wrong != "" {
						t.Errorf("%s %s: %s was %s and is %s: %s", table, mark, name, text(was[i]), text(is[i]), wrong)
					}
				}
			}
		}
		if len(merged) != want {
			t.Errorf("%s: %d rows, want %d", table, len(merged), want)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	return rows, resolved, dangling
}

// reference returns the key column that a value of a row names, nil if none: of those that
// the list names, the one that is no reference itself.
func (o *oracle) reference(c gameworlds.Column, names []string, row []*string, i int) *gameworlds.Column {
	for _, m := range o.refs.Columns[c] {
		to := slices.IndexFunc(m.To, func(to gameworlds.Column) bool { return o.keys[0][to] != nil })
		if m.Kind != gameworlds.Reference || to < 0 || row[i] == nil {
			continue
		}
		n, err := strconv.ParseInt(*row[i], 10, 64)
		none := err != nil || slices.ContainsFunc(m.None, func(r gameworlds.Range) bool { return r.Min <= n && n <= r.Max })
		if !none && (m.When == nil || slices.Contains(m.When.Is, *row[slices.Index(names, m.When.Column)])) {
			return &m.To[to]
		}
	}
	return nil
}

// compareHalves compares the keys that a database computes of the rows of a table, and what is
// beside them.
func (o *oracle) compareHalves(t *testing.T, made *sql.DB, k keyBySQL) (led, not int64) {
	t.Helper()
	query := fmt.Sprintf("SELECT %s, %s, %s FROM `%s`", markColumn, k.key, k.rest, k.table)
	merged := make(map[string][]*string)
	for _, row := range rowsOf(t, made, query) {
		merged[*row[0]] = row
	}
	for world, db := range o.dbs {
		for _, was := range rowsOf(t, db, query) {
			is := merged[*was[0]]
			if is == nil || text(was[2]) != text(is[2]) || (was[1] == nil) != (is[1] == nil) {
				t.Fatalf("%s %s: %v was %s beside %s, and is another", k.table, *was[0], k.columns, text(was[1]), text(was[2]))
			}
			if was[1] == nil {
				continue
			}
			row, leads := o.keys[world][k.to][*was[1]], o.keys[len(o.dbs)][k.to][*is[1]]
			switch {
			case row != leads:
				t.Fatalf("%s %s: %v led to the row %q of %s, and leads to %q", k.table, *was[0], k.columns, row, k.to, leads)
			case row != "":
				led++
			default:
				not++
			}
		}
	}
	return led, not
}

// isThing reports whether a column names things that have no table, as a party.
func (o *oracle) isThing(c gameworlds.Column) bool {
	return slices.ContainsFunc(o.refs.Columns[c], func(m gameworlds.Meaning) bool { return m.Kind == gameworlds.Thing })
}

// isAccount reports whether a column names accounts of another database.
func (o *oracle) isAccount(c gameworlds.Column) bool {
	return slices.ContainsFunc(o.refs.Columns[c], func(m gameworlds.Meaning) bool { return m.Kind == gameworlds.Account })
}

// sameThing says what is wrong with a number of a thing: each has one new number in all rows,
// which no other world's has, unless all worlds keep theirs.
func (o *oracle) sameThing(world int, c gameworlds.Column, was, is string) string {
	there, back := fmt.Sprint(c, " ", world, " ", was), fmt.Sprint(c, " new ", is)
	if o.things[there] == "" {
		o.things[there] = is
	}
	if was != is && o.things[back] == "" {
		o.things[back] = there
	}
	if o.things[there] != is || was != is && o.things[back] != there {
		return "it was another thing"
	}
	return ""
}

// cell returns how the cell of a row is written and what it names, nil if it names nothing.
func (o *oracle) cell(c gameworlds.Column, names []string, row []*string, i int) (*gameworlds.Form, gameworlds.Column) {
	for _, m := range o.refs.Columns[c] {
		if m.Kind != gameworlds.Cell || m.As == nil || row[i] == nil || m.When != nil && !slices.Contains(m.When.Is, *row[slices.Index(names, m.When.Column)]) {
			continue
		}
		if _, _, ok := m.As.Read(*row[i]); ok {
			return m.As, m.To[0]
		}
	}
	return nil, gameworlds.Column{}
}

// sameInCell says what is wrong with a cell: its keys must lead to the rows that they led
// to, and all else is as it was. It counts the keys that lead to a row, and the others.
func (o *oracle) sameInCell(world int, form *gameworlds.Form, to gameworlds.Column, was, is string) (led, not int64, wrong string) {
	before, rest, _ := form.Read(was)
	after, now, ok := form.Read(is)
	if !ok || rest != now || len(before) != len(after) {
		return 0, 0, "what is no key has changed"
	}
	for k := range before {
		row, leads := o.keys[world][to][before[k]], o.keys[len(o.dbs)][to][after[k]]
		switch {
		case row != leads || (before[k] == "0") != (after[k] == "0"):
			return 0, 0, fmt.Sprintf("it led to the row %q of %s, and leads to %q", row, to, leads)
		case row != "":
			led++
		default:
			not++
		}
	}
	return led, not, ""
}

// trace asks for some keys of every kind where they came from and what became of them.
func (o *oracle) trace(t *testing.T, made string, p *merge.Plan) {
	t.Helper()
	merged := o.keys[len(o.dbs)]
	for c, keys := range merged {
		asked := make(map[string]int) // by world
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			mark := keys[key]
			world, _, _ := strings.Cut(mark, "-")
			if asked[world]++; asked[world] > 2 {
				continue
			}
			if world == "w1" {
				if r := ran(t, cli.Conflicts, "whois", made, c.Table, key); !strings.Contains(r.stdout, "was not copied") {
					t.Errorf("%s %s: %s", c, key, r.stdout)
				}
				continue
			}
			i := int(world[1] - '1')
			old := ""
			for k, m := range o.keys[i][c] {
				if m == mark {
					old = k
				}
			}
			source := p.Worlds[i].Name
			want := fmt.Sprintf("%s %s of %s became %s ", c.Table, old, source, key)
			for _, args := range [][]string{{"whois", made, c.Table, key}, {"whois", made, source, c.Table, old}} {
				if r := ran(t, cli.OK, args...); !strings.HasPrefix(r.stdout, want) {
					t.Errorf("%v: %s, want %s", args[2:], r.stdout, want)
				}
			}
		}
		if len(asked) != len(o.dbs) {
			t.Errorf("%s has keys of %d worlds", c, len(asked))
		}
	}
}

// digests sum up the tables of the game, how they are made included.
func (o *oracle) digests(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, table := range o.refs.Tables {
		all[table] = digest(t, db, table)
	}
	return all
}

func digest(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	var lines []string
	for _, row := range rowsOf(t, db, "SELECT * FROM `"+table+"`") {
		line := ""
		for _, v := range row {
			line += text(v) + "|"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, row := range rowsOf(t, db, "SHOW CREATE TABLE `"+table+"`") {
		for _, word := range strings.Fields(*row[1]) {
			if !strings.HasPrefix(word, "AUTO_INCREMENT=") {
				lines = append(lines, word)
			}
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

func text(v *string) string {
	if v == nil {
		return "NULL"
	}
	return strconv.Quote(*v)
}

func rowsOf(t *testing.T, db *sql.DB, query string) (all [][]*string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, dest := make([]*string, len(columns)), make([]any, len(columns))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
