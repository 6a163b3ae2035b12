package gameworlds

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
)

var now = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

func makeFleet(t *testing.T, o FleetOptions) *Fleet {
	t.Helper()
	o.Now = now
	f, err := MakeFleet(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// openFile opens a SQLite world.
func (w FleetWorld) openFile(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(w.DSN, "sqlite:")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// allOf returns the values of a column, a line for each.
func allOf(t *testing.T, db *sql.DB, table, column string) (all string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT group_concat(%s, char(10)) FROM %s", column, table)).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

var gameTables = []string{"accounts", "characters", "guilds", "guild_members", "items", "equipment", "mail", "friends", "item_templates", "counters"}

// The same options make the same rows, also where files were; another seed makes others.
func TestFleetOfOneSeed(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	one := makeFleet(t, FleetOptions{Dir: first, Seed: 1, Worlds: 2})
	makeFleet(t, FleetOptions{Dir: second, Seed: 2, Worlds: 2})
	for _, same := range []bool{false, true} {
		two := makeFleet(t, FleetOptions{Dir: second, Seed: map[bool]uint64{false: 2, true: 1}[same], Worlds: 2})
		for i, w := range one.Worlds[:2] {
			a, b := w.openFile(t), two.Worlds[i].openFile(t)
			for _, table := range append(gameTables[:8:8], "gameid_servers") {
				if (dump(t, a, table) == dump(t, b, table)) != same {
					t.Errorf("%s of %s: want the same %v", table, w.Name, same)
				}
			}
			b.Close()
		}
	}
}

// Worlds are as the package says: keys collide, references lead to rows but for some, names are taken in several
// worlds, and the odd worlds are odd.
func TestFleetWorlds(t *testing.T) {
	f := makeFleet(t, FleetOptions{Dir: t.TempDir(), Seed: 1, Worlds: 6})
	var odd []string
	for _, w := range f.Worlds {
		if w.Odd != "" {
			odd = append(odd, w.Name+" "+w.Odd)
		}
	}
	want := []string{"w3 guild_members has no note", "w4 runs", "w5 items.amount is a text", "w6 is a damaged file", "u1 does not answer"}
	if diff := cmp.Diff(want, odd); diff != "" {
		t.Error(diff)
	}
	for _, w := range f.Worlds[:5] {
		db := w.openFile(t)
		for query, right := range map[string]func(int64) bool{
			"pragma_foreign_key_check":                             func(n int64) bool { return n == 0 },
			"pragma_integrity_check WHERE integrity_check <> 'ok'": func(n int64) bool { return n == 0 },
			"characters":                func(n int64) bool { return n >= 50 && n <= 3000 },
			"characters WHERE id <= 30": func(n int64) bool { return n > 10 }, // as in every world
			"items, counters WHERE items.id >= counters.next":                               func(n int64) bool { return n == 0 },
			fmt.Sprintf("characters WHERE logout_time > %d", now.Unix()):                    func(n int64) bool { return n == 0 },
			fmt.Sprintf("characters WHERE logout_time > %d", now.AddDate(0, 0, -30).Unix()): func(n int64) bool { return n > 0 },
			fmt.Sprintf("gameid_servers WHERE lease_until_ms > %d", now.UnixMilli()):        func(n int64) bool { return n == 1 == (w.Odd == running) },
			"pragma_table_info('guild_members') WHERE name = 'note'":                        func(n int64) bool { return n == 0 == (w.Odd == missingColumn) },
			"pragma_table_info('items') WHERE type LIKE 'VARCHAR%'":                         func(n int64) bool { return n == 1 == (w.Odd == otherType) },
		} {
			if n := count(t, db, "SELECT COUNT(*) FROM "+query); !right(n) {
				t.Errorf("%s: %d %s", w.Name, n, query)
			}
		}
	}
	for _, at := range []string{"accounts.login", "characters.name"} {
		table, column, _ := strings.Cut(at, ".")
		taken, twice := make(map[string]bool), 0
		for _, w := range f.Worlds[:5] {
			for name := range strings.SplitSeq(allOf(t, w.openFile(t), table, column), "\n") {
				if taken[name] {
					twice++
				}
				taken[name] = true
			}
		}
		if twice == 0 || twice > len(taken)/5 {
			t.Errorf("%d of %d values of %s are in several worlds", twice, len(taken), at)
		}
	}
	var result string
	if err := f.Worlds[5].openFile(t).QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err == nil && result == "ok" {
		t.Error("w6 is not damaged")
	}
}

// A server's databases have the rows that a SQLite file of the same world has.
func TestFleetOnAServer(t *testing.T) {
	dsn := servertest.DSN(t)
	name, _, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?")
	o := FleetOptions{Dir: t.TempDir(), Seed: 1, Databases: 1, Server: "mysql:" + dsn, Prefix: name + "_"}
	t.Cleanup(func() {
		if _, err := servertest.Admin(t).Exec("DROP DATABASE IF EXISTS " + name + "_m1"); err != nil {
			t.Error(err)
		}
	})
	makeFleet(t, o)
	w := makeFleet(t, o).Worlds[0] // anew
	db, err := sql.Open("mysql", strings.TrimPrefix(w.DSN, "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	file := w
	file.DSN = "sqlite:" + filepath.Join(t.TempDir(), "m1.db")
	if err := file.fill(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, table := range append(gameTables, "gameid_servers") {
		if got, want := dump(t, db, table), dump(t, file.openFile(t), table); got != want {
			t.Errorf("%s: %.200s and in the file %.200s", table, got, want)
		}
	}
}

func TestServerIsNoDSN(t *testing.T) {
	for _, dsn := range []string{"", "sqlite:a.db", "root:hunter2@tcp(db)/mysql"} {
		_, err := MakeFleet(t.Context(), FleetOptions{Dir: t.TempDir(), Databases: 1, Server: dsn, Now: now})
		if err == nil || !strings.Contains(err.Error(), `the DSN of the server: want "mysql:"`) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}
