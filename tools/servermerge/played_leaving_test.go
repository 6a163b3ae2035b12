package main

import (
	"database/sql"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/tools/internal/cli"
)

var playedLeaving = flag.Bool("played-leaving", servertest.Scale(0, 1) == 1, "merge the played worlds with rules by which characters stay behind")

// Of two played worlds, characters below level 20 stay behind with all that is theirs, and guilds of fewer than five
// members who come, whose key has two columns; everything else is as
// without the rule: the merge without it, from which plain statements delete the same, is the same database.
func TestPlayedLeaving(t *testing.T) {
	if !*playedLeaving {
		t.Skip("no -played-leaving")
	}
	if _, err := os.Stat(playedWorlds); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("NOT TESTED: there are no played worlds in %s", playedWorlds)
	}
	servertest.OnlyMariaDB(t, "the worlds were dumped by MariaDB")
	profile, rules := filepath.Join("../../profiles", "hercules.toml"), filepath.Join("testdata", "hercules-leave.toml")
	first, second, whole, some := playedWorld(t, profile, "w1"), playedWorld(t, profile, "w2"), servertest.DSN(t), servertest.DSN(t)
	making := func(code cli.Code, into, file string, more ...string) string {
		t.Helper()
		args := append([]string{"plan", "-rules", profile, "-into", "mysql:" + into, "-o", file}, more...)
		return ran(t, code, append(args, "mysql:"+first, "mysql:"+second)...).stdout
	}
	merge := func(into, file string) {
		t.Helper()
		for _, command := range []string{"apply", "verify"} {
			ran(t, 0, command, file, "mysql:"+into, "mysql:"+first, "mysql:"+second)
		}
	}
	all, few := filepath.Join(t.TempDir(), "all.json"), filepath.Join(t.TempDir(), "few.json")
	making(0, whole, all)
	said := making(0, some, few, "-rules", rules)
	if want := " (where base_level < 20): 45 rows: 28 of char_achievements, 9 of inventory, 3 of char_reg_num_db, 2 of charlog, 2 of sc_data, 1 of char_reg_str_db\n"; strings.Count(said, want) != 4 {
		t.Errorf("no %q in\n%s", want, said)
	}
	merge(whole, all)
	merge(some, few)
	db, err := sql.Open("mysql", whole)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	statements(t, db, []string{
		"CREATE TEMPORARY TABLE low AS SELECT char_id FROM `char` WHERE base_level < 20",
		"CREATE TEMPORARY TABLE egg AS SELECT (card1 & 65535) + (card2 & 65535) * 65536 AS pet_id FROM inventory WHERE card0 = -256 AND char_id IN (SELECT char_id FROM low)"})
	deleted := make(map[string]int64)
	for _, at := range []string{"auction.seller_id", "charlog.char_id", "autotrade_data.char_id", "cart_inventory.char_id", "inventory.char_id",
		"char_achievements.char_id", "char_reg_num_db.char_id", "char_reg_str_db.char_id", "elemental.char_id",
		"friends.char_id", "hotkey.char_id", "memo.char_id", "skill.char_id", "guild_member.char_id", "homunculus.char_id",
		"mail.dest_id", "mercenary.char_id", "pet.char_id", "pet.pet_id", "quest.char_id", "sc_data.char_id", "rodex_mail.receiver_id", "char.char_id"} {
		table, column, _ := strings.Cut(at, ".")
		set := "SELECT char_id FROM low"
		if column == "pet_id" {
			set = "SELECT pet_id FROM egg"
		}
		result, err := db.Exec("DELETE FROM `" + table + "` WHERE `" + column + "` IN (" + set + ")")
		if err != nil {
			t.Fatal(err)
		}
		n, _ := result.RowsAffected()
		deleted[table] += n
	}
	statements(t, db, []string{"CREATE TEMPORARY TABLE small AS SELECT guild_id FROM guild WHERE (SELECT COUNT(*) FROM guild_member WHERE guild_member.guild_id = guild.guild_id) < 5",
		"UPDATE `char` SET guild_id = 0 WHERE guild_id IN (SELECT guild_id FROM small)", "DELETE FROM guild_castle",
		"DELETE FROM guild_alliance WHERE alliance_id IN (SELECT guild_id FROM small)"})
	for _, table := range []string{"guild_alliance", "guild_expulsion", "guild_member", "guild_position", "guild_skill", "guild_storage", "guild"} {
		result, err := db.Exec("DELETE FROM " + table + " WHERE guild_id IN (SELECT guild_id FROM small)")
		if err != nil {
			t.Fatal(err)
		}
		n, _ := result.RowsAffected()
		deleted[table] += n
	}
	t.Logf("deleted %v", deleted)
	if deleted["guild"] != 2 || deleted["guild_member"] != 8 || deleted["guild_position"] != 40 {
		t.Errorf("deleted %v", deleted)
	}
	if deleted["char"] != 4 || deleted["pet"] != 4 || deleted["inventory"] != 36 || deleted["char_achievements"] != 112 {
		t.Errorf("deleted %v", deleted)
	}
	want, got := checksums(t, whole), checksums(t, some)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-deleted from all +merged without):\n%s", diff)
	}
	// Below level 80 there are smiths and masters of guilds: items of others have their key inside a cell. So have the
	// eggs of pets that were sent by mail.
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	higher := filepath.Join(t.TempDir(), "higher.toml")
	more := strings.ReplaceAll(string(text), "base_level < 20", "base_level < 80") + `
[[check.reference]]
to   = "char.char_id"
at   = ["guild.char_id"]
gone = "drop"

[[check.reference]]
to     = "pet.pet_id"
at     = ["rodex_items.card1"]
when   = { column = "card0", is = [-256] }
others = "plain"
format = "words [card1, card2]"
none   = [0]
gone   = "none"
`
	if err := os.WriteFile(higher, []byte(more), 0o666); err != nil {
		t.Fatal(err)
	}
	cleared, file := servertest.DSN(t), filepath.Join(t.TempDir(), "cleared.json")
	making(0, cleared, file, "-rules", higher)
	merge(cleared, file)
	rows := make(map[string]int64)
	for _, s := range plan(t, file).Severed {
		for _, n := range s.Counts {
			rows[s.Format] += n
		}
	}
	for _, format := range []string{"bits 32..63", "words [card2, card3]", "words [card1, card2]"} {
		if rows[format] == 0 {
			t.Errorf("no key in %s was cleared: %v", format, rows)
		}
	}
}
