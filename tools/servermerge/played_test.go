package main

import (
	"cmp"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// playedWorlds is a folder beside the repository with dumps of worlds of Hercules in which
// people played.
const playedWorlds = "../../../shared/played/hercules"

// Worlds come into one that was played, one after the other: no merge is refused for lack of
// room, and every counter ends just above its keys. Of accounts, which end at 100,000,000,
// no number is lost; other counters continue at the next round number of what a world has, a
// thousand for most. From the second on, a world that is already in comes once more, which has to
// be allowed.
func TestMergesInARow(t *testing.T) {
	if _, err := os.Stat(playedWorlds); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("NOT TESTED: there are no played worlds in %s", playedWorlds)
	}
	servertest.OnlyMariaDB(t, "the worlds were dumped by MariaDB")
	profile := filepath.Join("../../profiles", "hercules.toml")
	merged := "mysql:" + playedWorld(t, profile, "w1")
	for i := range servertest.Scale(2, 10) {
		into, db := newDatabase(t)
		worlds := []string{merged, "mysql:" + playedWorld(t, profile, []string{"w2", "w1"}[i%2])}
		file := filepath.Join(t.TempDir(), fmt.Sprintf("plan%d.json", i))
		args := []string{"plan", "-into", into, "-allow", "world-merged,world-copied", "-rules", profile, "-o", file}
		planned := ran(t, 0, append(args, worlds...)...)
		if !strings.HasPrefix(planned.stdout, "READY ") {
			t.Fatalf("merge %d: %.2000s", i+1, planned.stdout)
		}
		for _, command := range []string{"apply", "open"} {
			ran(t, 0, append([]string{command, file, into}, worlds...)...)
		}
		merged = into
		for _, s := range plan(t, file).Rekey.Spaces {
			table, column, ok := strings.Cut(s.Name, ".")
			if !ok || len(s.Keys) != 1 {
				t.Fatalf("the profile has the space %+v", s)
			}
			var last, next uint64
			counted := fmt.Sprintf("SELECT COALESCE(MAX(`%s`), 0), (SELECT AUTO_INCREMENT FROM information_schema.TABLES"+
				" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s') FROM `%[2]s`", column, table)
			if err := db.QueryRow(counted).Scan(&last, &next); err != nil {
				t.Fatal(err)
			}
			above := cmp.Or(map[string]uint64{"login.account_id": 1, "char.char_id": 1_000_000}[s.Name], 1000)
			if next <= last || next > last+above {
				t.Errorf("merge %d: the last key of %s is %d, and its counter is at %d", i+1, s.Name, last, next)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// playedWorld makes a database with a copy of a played world, without the tables that the
// profile does not know. The game's logs are among those that it knows.
func playedWorld(t *testing.T, profile, name string) (dsn string) {
	t.Helper()
	f, err := os.Open(filepath.Join(playedWorlds, name+".sql.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Schema struct{ Tables map[string]string }
	}
	if _, err := toml.DecodeFile(profile, &rules); err != nil {
		t.Fatal(err)
	}
	dsn = servertest.DSN(t)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MultiStatements = true
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	statements(t, db, []string{string(dump)})
	rows, err := db.QueryContext(t.Context(), "SHOW TABLES")
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		if _, known := rules.Schema.Tables[table]; !known {
			unknown = append(unknown, "DROP TABLE `"+table+"`")
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	statements(t, db, unknown)
	return dsn
}

// checksums are those of the tables of the game, by the server.
func checksums(t *testing.T, dsn string) map[string]string {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var names []string
	rows, err := db.Query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND TABLE_NAME NOT LIKE 'mergesafe%'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	all := make(map[string]string)
	for _, name := range names {
		var table, sum string
		if err := db.QueryRow("CHECKSUM TABLE `"+name+"` EXTENDED").Scan(&table, &sum); err != nil {
			t.Fatal(err)
		}
		all[name] = sum
	}
	if len(all) < 20 {
		t.Fatalf("%d tables only", len(all))
	}
	return all
}
