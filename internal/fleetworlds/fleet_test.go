package fleetworlds

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
)

var now = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

func small(dir string, seed uint64) Options {
	return Options{Dir: dir, Seed: seed, Worlds: 6, Now: now}
}

func makeFleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	f, err := Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dump is every row of a SQLite file, and how its tables are made.
func dump(t *testing.T, file string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := func(query string) (all []string) {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		for err == nil && rows.Next() {
			values, pointers := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				pointers[i] = &values[i]
			}
			err = rows.Scan(pointers...)
			all = append(all, fmt.Sprint(values...))
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all = texts("SELECT sql FROM sqlite_schema ORDER BY name")
	for _, table := range texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		for _, row := range texts("SELECT * FROM " + strings.Trim(table, "[]") + " ORDER BY 1, 2") {
			all = append(all, table+row)
		}
	}
	return all
}

func number(t *testing.T, driver, dsn, query string) (n int64) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// The same options make the same rows, also where files were; another seed makes others.
func TestSameSeedSameRows(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	makeFleet(t, small(first, 1))
	makeFleet(t, small(second, 2))
	const readable = 5 // the sixth is damaged
	for n := 1; n <= readable; n++ {
		name := filepath.Join("worlds", fmt.Sprintf("w%d.db", n))
		one, two := dump(t, filepath.Join(first, name)), dump(t, filepath.Join(second, name))
		if slices.Equal(one, two) {
			t.Errorf("w%d is the same with another seed", n)
		}
	}
	makeFleet(t, small(second, 1))
	for n := 1; n <= readable; n++ {
		name := filepath.Join("worlds", fmt.Sprintf("w%d.db", n))
		if diff := cmp.Diff(dump(t, filepath.Join(first, name)), dump(t, filepath.Join(second, name))); diff != "" {
			t.Errorf("w%d differs with the same seed:\n%.500s", n, diff)
		}
	}
}

// Worlds are as the package says: keys collide, references lead to rows but for some, and the odd
// worlds are odd.
func TestWorlds(t *testing.T) {
	f := makeFleet(t, small(t.TempDir(), 1))
	var odd []string
	for _, w := range f.Worlds {
		if text := w.Odd(); text != "" {
			odd = append(odd, w.Name+" "+text)
		}
	}
	want := []string{"w3 differs: guild_members has no note", "w4 runs", "w5 differs: items.amount is a text", "w6 is a damaged file", "u1 does not answer"}
	if diff := cmp.Diff(want, odd); diff != "" {
		t.Error(diff)
	}
	for _, w := range f.Worlds[:5] {
		count := func(query string) int64 {
			return number(t, "sqlite", "file:"+strings.TrimPrefix(w.DSN, "sqlite:")+"?mode=ro", "SELECT COUNT(*) FROM "+query)
		}
		for query, want := range map[string]func(int64) bool{
			"pragma_foreign_key_check":                             func(n int64) bool { return n == 0 },
			"pragma_integrity_check WHERE integrity_check <> 'ok'": func(n int64) bool { return n == 0 },
			"characters":                func(n int64) bool { return n >= 50 && n <= 3000 },
			"characters WHERE id <= 30": func(n int64) bool { return n > 15 }, // as in every world
			"items WHERE owner NOT IN (SELECT id FROM characters)":                                      func(n int64) bool { return n == 0 },
			"guilds WHERE leader NOT IN (SELECT member FROM guild_members m WHERE m.guild = guilds.id)": func(n int64) bool { return n == 0 },
			"items, counters WHERE items.id >= counters.next":                                           func(n int64) bool { return n == 0 },
			fmt.Sprintf("characters WHERE logout_time > %d", now.Unix()):                                func(n int64) bool { return n == 0 },
			fmt.Sprintf("gameid_servers WHERE lease_until_ms > %d", now.UnixMilli()):                    func(n int64) bool { return n == 1 == w.Running },
		} {
			if n := count(query); !want(n) {
				t.Errorf("%s: %d %s", w.Name, n, query)
			}
		}
	}
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(f.Worlds[5].DSN, "sqlite:")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var result string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err == nil && result == "ok" {
		t.Error("w6 is not damaged")
	}
}

// A server's databases have the rows that an SQLite file of the same shape has.
func TestDatabasesOfAServer(t *testing.T) {
	dsn := servertest.DSN(t)
	name := dsn[strings.LastIndex(dsn, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	o := Options{Dir: t.TempDir(), Seed: 1, Databases: 1, Server: "mysql:" + dsn, Prefix: name + "_", Now: now}
	t.Cleanup(func() {
		db := servertest.Admin(t)
		if _, err := db.Exec("DROP DATABASE IF EXISTS " + name + "_m1"); err != nil {
			t.Error(err)
		}
	})
	f := makeFleet(t, o)
	makeFleet(t, o) // anew
	w := f.Worlds[0]
	file := w
	file.DSN = "sqlite:" + filepath.Join(t.TempDir(), "m1.db")
	if err := file.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT COUNT(*) FROM accounts", "SELECT SUM(id + account + money + logout_time) FROM characters", "SELECT SUM(id + owner) FROM items",
		"SELECT SUM(member + guild) FROM guild_members", "SELECT SUM(LENGTH(slots)) FROM equipment", "SELECT SUM(id + sender + receiver + item + LENGTH(body)) FROM mail",
		"SELECT SUM(owner + friend) FROM friends", "SELECT SUM(reserved_ms) FROM gameid_servers",
	} {
		got := number(t, "mysql", strings.TrimPrefix(w.DSN, "mysql:"), query)
		if want := number(t, "sqlite", strings.TrimPrefix(file.DSN, "sqlite:"), query); got != want || want == 0 {
			t.Errorf("%s: %d, and in the file %d", query, got, want)
		}
	}
	if text, err := os.ReadFile(f.Config); err != nil || !strings.Contains(string(text), name+"_m1") {
		t.Errorf("config.toml has no %s_m1: %v", name, err)
	}
}

func TestServerIsNoDSN(t *testing.T) {
	for _, dsn := range []string{"", "sqlite:a.db", "root:hunter2@tcp(db)/mysql"} {
		_, err := Make(t.Context(), Options{Dir: t.TempDir(), Databases: 1, Server: dsn, Now: now})
		if err == nil || !strings.Contains(err.Error(), `the DSN of the server: want "mysql:"`) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}
