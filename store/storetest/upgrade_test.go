package storetest_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/registry"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// The databases in testdata were written by programs that had one mark for all
// tables of a game. The first version had no short numbers. Each has servers 7
// (free), 8 (bound in a fleet registry) and 12 (merged), and rows in all tables.

// older makes the database of an older version.
func older(t *testing.T, version int, dsn string) *store.DB {
	t.Helper()
	db := open(t, dsn)
	if db.Dialect() == store.PostgreSQL {
		t.Skip("its first tables were of the present version")
	}
	fill(t, db, fmt.Sprint("v", version))
	return db
}

// columns returns the columns of all tables, the marks apart.
func columns(t *testing.T, db *store.DB) map[string][]string {
	t.Helper()
	query := "SELECT m.name AS tab, c.name AS col FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' ORDER BY m.name, c.cid"
	if db.Dialect() == store.MySQL {
		query = "SELECT table_name AS tab, column_name AS col FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position"
	}
	var rows []struct{ Tab, Col string }
	must(t, db.Select(t.Context(), &rows, query))
	all := make(map[string][]string)
	for _, row := range rows {
		if row.Tab != sqldb.SchemaTable {
			all[row.Tab] = append(all[row.Tab], row.Col)
		}
	}
	return all
}

// rows returns what is in these columns, byte for byte.
func rows(t *testing.T, db *store.DB, columns map[string][]string) map[string][]string {
	t.Helper()
	exact, join := "TYPEOF(%[1]s) || ' ' || QUOTE(%[1]s)", " || ', ' || "
	if db.Dialect() == store.MySQL {
		exact, join = "COALESCE(HEX(%s), 'NULL')", ", ', ', "
	}
	all := make(map[string][]string)
	for table, names := range columns {
		var parts []string
		for _, name := range names {
			parts = append(parts, fmt.Sprintf(exact, sqldb.Dialect(db.Dialect()).Quote(name)))
		}
		row := strings.Join(parts, join)
		if db.Dialect() == store.MySQL {
			row = "CONCAT(" + row + ")"
		}
		var found []string
		must(t, db.Select(t.Context(), &found, "SELECT "+row+" FROM "+table+" ORDER BY 1"))
		if len(found) == 0 {
			t.Fatalf("%s is empty", table)
		}
		all[table] = found
	}
	return all
}

func marks(t *testing.T, db *store.DB) []string {
	t.Helper()
	var all []string
	query := "SELECT application || ' ' || version FROM " + sqldb.SchemaTable + " ORDER BY application"
	if db.Dialect() == store.MySQL {
		query = "SELECT CONCAT(application, ' ', version) FROM " + sqldb.SchemaTable + " ORDER BY application"
	}
	must(t, db.Select(t.Context(), &all, query))
	return all
}

// files returns the names of all files beside that of a database, with the
// hashes of their contents.
func files(t *testing.T, dsn string) map[string][32]byte {
	t.Helper()
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return nil
	}
	paths, err := filepath.Glob(filepath.Dir(path) + "/*")
	must(t, err)
	all := make(map[string][32]byte)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		must(t, err)
		all[path] = sha256.Sum256(b)
	}
	return all
}

// Databases that have the old mark are read as they are. Their registry is of an
// older version: no node is opened before it is brought to the present one.
func TestOldMarkIsRead(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		db := older(t, 2, dsn)
		before := rows(t, db, columns(t, db))
		must(t, db.Close())
		if name, ok := strings.CutPrefix(dsn, "mysql:"); ok {
			dsn = "mysql:" + servertest.Grant(t, "SELECT", name)
		}
		hashes := files(t, dsn)
		db = storetest.OpenReadOnly(t, dsn)
		for _, p := range parts {
			if err := p.check(t.Context(), db); (err == nil) == (p.mark == sqldb.RegistryMark) || err != nil && !errors.Is(err, store.ErrSchema) {
				t.Errorf("%s: %v", p.name, err)
			}
		}
		if servers, err := db.Registry().Servers(t.Context()); err != nil || len(servers) != 3 {
			t.Errorf("the servers are %+v, %v", servers, err)
		}
		if diff := cmp.Diff(before, rows(t, db, columns(t, db))); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"mergesafe 2"}, marks(t, db)); diff != "" {
			t.Error(diff)
		}
		must(t, db.Close())
		if after := files(t, dsn); !maps.Equal(hashes, after) {
			t.Errorf("%v became %v", hashes, after)
		}
	})
}

// A database of an older version is brought to the present one, and its rows
// stay, whoever starts and however often that was broken off.
func TestSchemaUpgrade(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) { testUpgrade(t, version, newDSN) })
		}
	})
}

func testUpgrade(t *testing.T, version int, newDSN func() string) {
	present := []string{fmt.Sprintf("mergesafe %d", version), "mergesafe-numbers 1", "mergesafe-registry 2", "mergesafe-starter 2"}

	// upgraded checks that all is there, before included, and that it works.
	upgraded := func(t *testing.T, db *store.DB, was map[string][]string, before map[string][]string) {
		t.Helper()
		ctx := t.Context()
		must(t, storetest.Check(ctx, db))
		if diff := cmp.Diff(present, marks(t, db)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, rows(t, db, was)); diff != "" {
			t.Error(diff)
		}
		fresh := withTables(t, newDSN())
		if got, want := describe(t, db), describe(t, fresh); got != want {
			t.Errorf("the tables are not those of a new database:\n%s\nand\n%s", got, want)
		}

		p, err := starter.Players.ByName(ctx, db, "bea")
		must(t, err)
		if want := []number.Number{0, 91120003}[version-1]; p.Number != want || p.Account != "acc-2" {
			t.Errorf("the row of the old version is %+v", p)
		}
		p.Number = 10_084_213
		must(t, starter.Players.Update(ctx, db, p))

		old, err := db.Registry().Server(ctx, 7)
		must(t, err)
		node, err := db.OpenNode(ctx, 7, gameid.Options{})
		must(t, err)
		id, err := gameid.NewGenerator[entity.Player](node).Next()
		must(t, err)
		if old.Name != "Älder 7" || old.Reserved == 0 || id.Millis() <= old.Reserved {
			t.Errorf("%s is not above the mark of %+v", id, old)
		}
		must(t, node.Close())
		if _, err := db.OpenNode(ctx, 8, gameid.Options{}); !errors.Is(err, registry.ErrBound) || !strings.Contains(err.Error(), "0123456789abcdef0123456789abcdef") {
			t.Errorf("a world that is bound in a fleet registry: %v", err)
		}
		n, err := numbers.Open(ctx, db.Registry(), 7, "player", numbers.Options{})
		must(t, err)
		defer n.Close()
		next, err := n.Next(ctx)
		if want := []number.Number{9170000, 9170005}[version-1]; err != nil || next != want {
			t.Errorf("the next number is %d, %v, want %d", next, err, want)
		}
	}

	t.Run("once", func(t *testing.T) {
		db := older(t, version, newDSN())
		was := columns(t, db)
		before := rows(t, db, was)
		if version == 1 {
			err := starter.Check(t.Context(), db)
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "the tables have version 1 and this program needs version 2: start a game server of this version") {
				t.Errorf("before: %v", err)
			}
			if err := numbers.Check(t.Context(), db.Registry()); !errors.Is(err, store.ErrSchema) {
				t.Errorf("numbers before: %v", err)
			}
		}
		for _, p := range parts {
			for range 2 {
				must(t, p.create(t.Context(), db))
				must(t, p.check(t.Context(), db))
			}
			if !slices.Contains(marks(t, db), fmt.Sprintf("%s %d", p.mark, p.version)) {
				t.Errorf("%s has made no mark: %v", p.name, marks(t, db))
			}
		}
		upgraded(t, db, was, before)
		must(t, storetest.Create(t.Context(), db))
	})
	// interrupted is how far an upgrade came.
	for name, interrupted := range map[string]func(*testing.T, *store.DB){
		"broken off at the beginning": func(t *testing.T, db *store.DB) {
			for _, p := range parts {
				exec(t, db, "INSERT INTO "+sqldb.SchemaTable+" (application, version) VALUES (?, 0)", p.mark)
			}
		},
		"broken off at the end": func(t *testing.T, db *store.DB) {
			must(t, storetest.Create(t.Context(), db))
			exec(t, db, "UPDATE "+sqldb.SchemaTable+" SET version = 0 WHERE application <> ?", sqldb.CommonMark)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := older(t, version, newDSN())
			was := columns(t, db)
			interrupted(t, db)
			for _, p := range parts {
				// What the old mark vouches for is complete.
				if err := p.check(t.Context(), db); (err == nil) != (version == 2 && p.mark != sqldb.RegistryMark) || err != nil && !errors.Is(err, store.ErrSchema) {
					t.Errorf("%s after it was broken off: %v", p.name, err)
				}
			}
			// A program of the old version goes on.
			exec(t, db, "INSERT INTO players (id, account, name, level, gold, created_at, updated_at) VALUES (?, 'a', 'Cid', 1, 0, ?, ?)",
				player(1).ID, player(1).CreatedAt, player(1).UpdatedAt)
			before := rows(t, db, was)
			must(t, storetest.Create(t.Context(), db))
			upgraded(t, db, was, before)
		})
	}
	t.Run("by several", func(t *testing.T) {
		dsn := newDSN()
		db := older(t, version, dsn)
		was := columns(t, db)
		before := rows(t, db, was)
		var wg sync.WaitGroup
		for range 4 {
			db := open(t, dsn)
			wg.Go(func() {
				if err := storetest.Create(t.Context(), db); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		upgraded(t, db, was, before)
	})
	t.Run("without the right to make tables", func(t *testing.T) {
		dsn, ok := strings.CutPrefix(newDSN(), "mysql:")
		if !ok || version == 1 {
			t.Skip("only MySQL has rights, and the first version lacks a table")
		}
		db := older(t, version, "mysql:"+dsn)
		was := columns(t, db)
		before := rows(t, db, was)
		must(t, storetest.Create(t.Context(), open(t, "mysql:"+servertest.Grant(t, "SELECT, INSERT, UPDATE, DELETE, ALTER", dsn))))
		upgraded(t, db, was, before)
	})
}

// A mark of all tables that no program made is not taken for one of ours.
func TestOldMarkOfNoVersion(t *testing.T) {
	onEachWithParts(t, func(t *testing.T, p part, newDSN func() string) {
		db := older(t, 2, newDSN())
		exec(t, db, "UPDATE "+sqldb.SchemaTable+" SET version = 99")
		p.refused(t, db, "the tables have version 99 and this program knows them up to version "+fmt.Sprint(p.version)+": use a newer program")
		exec(t, db, "UPDATE "+sqldb.SchemaTable+" SET version = -1")
		p.refused(t, db, "the tables have version -1 and this program needs version "+fmt.Sprint(p.version))
		exec(t, db, "UPDATE "+sqldb.SchemaTable+" SET version = 0")
		if err := p.check(t.Context(), db); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "never completed") {
			t.Errorf("a mark that was not completed: %v", err)
		}
		must(t, p.create(t.Context(), db))
		must(t, p.check(t.Context(), db))
	})
}

// describe returns the statements that make the tables.
func describe(t testing.TB, db *store.DB) string {
	t.Helper()
	var all []string
	if db.Dialect() == store.SQLite {
		must(t, db.Select(t.Context(), &all, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"))
		return strings.Join(all, "\n")
	}
	for _, p := range parts {
		for _, name := range p.tables {
			var row struct {
				Table string `db:"Table"`
				SQL   string `db:"Create Table"`
			}
			must(t, db.Get(t.Context(), &row, "SHOW CREATE TABLE "+name))
			all = append(all, row.SQL)
		}
	}
	return strings.Join(all, "\n")
}
