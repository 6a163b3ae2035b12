package main

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mergesafe/tools/internal/cli"
)

// leavingWorld makes a world of the game that docs/leaving.md has rules for.
func leavingWorld(t *testing.T, file string, heroes int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	numbers := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", heroes)
	for _, s := range []string{
		"CREATE TABLE heroes (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, level INTEGER NOT NULL, gold INTEGER NOT NULL, account INTEGER NOT NULL, seen INTEGER NOT NULL, banned INTEGER NOT NULL)",
		"CREATE TABLE stats (hero INT NOT NULL PRIMARY KEY, wins INTEGER NOT NULL)",
		"CREATE TABLE items (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, template INTEGER NOT NULL)",
		"CREATE TABLE spells (hero INTEGER NOT NULL, spell INTEGER NOT NULL, PRIMARY KEY (hero, spell))",
		"CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, sender INTEGER NOT NULL, receiver INTEGER NOT NULL, item INTEGER NOT NULL)",
		"CREATE TABLE seq (name TEXT NOT NULL PRIMARY KEY, next INTEGER NOT NULL)",
		"INSERT INTO heroes " + numbers + fmt.Sprintf("SELECT i, '%s' || i, 1 + i * 37 %% 60, 100000 + i * 7919 %% 900000, 900000 + i %% 25, strftime('%%s') - 86400 * (i * 7 %% 200) - 40000, i %% 50 = 7 FROM n", filepath.Base(file)),
		"INSERT INTO stats " + numbers + "SELECT i, 1000000 + i FROM n",
		"INSERT INTO items " + numbers + fmt.Sprintf("SELECT i, 1 + i * 3 %% 150, 90000 + i * %d %% 500 FROM n", heroes),
		"INSERT INTO spells " + numbers + "SELECT i, 70133 FROM n",
		"INSERT INTO mail " + numbers + fmt.Sprintf("SELECT i, i %% 2 * 5, 1 + i * 11 %% 150, i, i * %d %% 150 FROM n", heroes-7),
		"INSERT INTO seq VALUES ('item', (SELECT MAX(id) + 1 FROM items))",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err, s)
		}
	}
}

// The rules of docs/leaving.md work as the page says: what should have stayed behind did, with what belongs to it,
// the lists have it, and the proof says PASS.
func TestLeaving(t *testing.T) {
	_, rules, _ := strings.Cut(page(t, "leaving.md"), "```toml\n")
	rules, _, found := strings.Cut(rules, "```")
	if !found {
		t.Fatal("the page has no rules")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("leave.toml", []byte(rules), 0o666); err != nil {
		t.Fatal(err)
	}
	leavingWorld(t, "east.db", 200)
	leavingWorld(t, "west.db", 180)
	ran(t, cli.OK, "plan", "-rules", "leave.toml", "-into", "sqlite:new.db", "-o", "plan.json", "sqlite:east.db", "sqlite:west.db")
	ran(t, cli.OK, "whois", "-csv", "left.csv", "-names", "heroes.name", "plan.json", "sqlite:new.db", "sqlite:east.db", "sqlite:west.db")
	said := ran(t, cli.OK, "whois", "plan.json").stdout
	if list := ran(t, cli.OK, "whois", "-csv", "-", "plan.json").stdout; !strings.Contains(list, "\nsqlite:west.db,,items,,") || !strings.Contains(list, ",refers by owner to heroes\n") {
		t.Errorf("whois -csv lists\n%.2000s", list)
	}
	if !regexp.MustCompile(`heroes +sqlite:west.db +\d+ +\d+  best 3 of account by level desc, seen desc: \d+, such as [\d, ]+; where banned = 1: \d+, such as [\d, ]+; ` +
		`where level <= 30 AND seen < :now - 30\*86400 AND gold < 500000: \d+, such as [\d, ]+\n(?s:.*)sum of gold of heroes of sqlite:west.db: [\d,]+ stays behind, [\d,]+ is copied\n`).MatchString(said) {
		t.Errorf("whois says\n%s", said)
	}
	ran(t, cli.OK, "apply", "-yes", "plan.json")
	ran(t, cli.OK, "verify", "plan.json")
	db, err := sql.Open("sqlite", "new.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, name := range []string{"east", "west"} {
		if _, err := db.Exec("ATTACH '" + name + ".db' AS " + name); err != nil {
			t.Fatal(err)
		}
	}
	const come = `(SELECT name FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY account ORDER BY level DESC, seen DESC, world, id) AS place
		FROM (SELECT *, 1 AS world FROM east.heroes UNION ALL SELECT *, 2 FROM west.heroes)
		WHERE NOT (level <= 30 AND seen < strftime('%s') - 30*86400 AND gold < 500000) AND banned = 0) WHERE place <= 3)`
	for query, want := range map[string]string{
		"SELECT COUNT(*) > 50 FROM main.heroes":                                             "1",
		"SELECT COUNT(*) FROM main.heroes WHERE name NOT IN " + come:                        "0",
		"SELECT COUNT(*) - (SELECT COUNT(*) FROM main.heroes) FROM " + come:                 "0",
		"SELECT COUNT(*) FROM main.items WHERE owner NOT IN (SELECT id FROM main.heroes)":   "0",
		"SELECT COUNT(*) > 0 FROM main.mail WHERE kind = 0 AND sender = 0":                  "1",
		"SELECT COUNT(*) FROM main.mail WHERE receiver NOT IN (SELECT id FROM main.heroes)": "0",
	} {
		var got string
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
	file, err := os.Open("left.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	heroes := 0
	for _, row := range rows[1:] {
		if world, key, stays := row[0], row[4], row[8]; stays != "" {
			heroes++
			if want := regexp.MustCompile(`(east|west)\.db$`).FindString(world) + key; row[6] != want {
				t.Errorf("%q: want the name %s", row, want)
			}
			if got := servermerge(t.Context(), "whois", "sqlite:new.db", world, "heroes", key); heroes < 3 && (got.code != cli.Conflicts || !strings.HasPrefix(got.stdout, "heroes "+key+" of "+world+" stayed behind: "+stays)) {
				t.Errorf("%q: %+v", row, got)
			}
		}
	}
	var came string // the key of spells is of two columns, and of text is seq
	if err := db.QueryRow("SELECT w.id || '/70133|' || m.id || '/70133' FROM west.heroes w JOIN main.heroes m ON m.name = w.name LIMIT 1").Scan(&came); err != nil {
		t.Fatal(err)
	}
	old, now, _ := strings.Cut(came, "|")
	for _, c := range []struct {
		code cli.Code
		args []string
		want string
	}{
		{cli.Conflicts, []string{"spells", "10/70133"}, "spells 10/70133 of sqlite:west.db stayed behind: refers by hero to heroes  (merge "},
		{cli.OK, []string{"spells", old}, "spells " + old + " of sqlite:west.db became " + now + ", if sqlite:west.db had it: for such keys, only the plan is recorded  (merge "},
		{cli.Incomplete, []string{"seq", "item"}, "servermerge: no merge on record brought rows of a table \"seq\" with such keys from \"sqlite:west.db\"\n"},
	} {
		got := servermerge(t.Context(), append([]string{"whois", "sqlite:new.db", "sqlite:west.db"}, c.args...)...)
		if got.code != c.code || !strings.HasPrefix(got.stdout+got.stderr, c.want) {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	if got := servermerge(t.Context(), "whois", "sqlite:new.db", "spells", old); got.code != cli.Incomplete || !strings.Contains(got.stderr, "the KEY is not an integer") {
		t.Errorf("%+v", got)
	}
	var stayed int
	if err := db.QueryRow("SELECT (SELECT COUNT(*) FROM east.heroes) + (SELECT COUNT(*) FROM west.heroes) - (SELECT COUNT(*) FROM main.heroes)").Scan(&stayed); err != nil || heroes != stayed {
		t.Errorf("%d heroes are listed, and %d stayed behind: %v", heroes, stayed, err)
	}
}
