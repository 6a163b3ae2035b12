package world

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/store"
)

// grant makes an account for the world's database with some privileges only
// and returns its DSN for the driver.
func grant(t *testing.T, privileges string, w *world) string {
	t.Helper()
	return servertest.Grant(t, privileges, strings.TrimPrefix(w.dsn, "mysql:"))
}

// readAll uses every method of a source.
func readAll(t *testing.T, w *world) {
	t.Helper()
	s, err := Open(t.Context(), "w", w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range c.Tables {
		scan := by(table.Name, table.Primary...)
		scan.Carry = table.Primary
		for _, r := range mustCollect(t, s.Scan(t.Context(), scan)) {
			if fields, err := s.Row(t.Context(), table.Name, table.Primary, r.carry); err != nil || fields == nil {
				t.Fatalf("%v, %v", fields, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Not a byte of an SQLite database changes, and no file appears beside it.
func TestSQLiteIsNotChanged(t *testing.T) {
	t.Parallel()
	const create, insert = "CREATE TABLE k (id BLOB PRIMARY KEY, name TEXT UNIQUE)", "INSERT INTO k VALUES (randomblob(10), hex(randomblob(5)))"
	for _, tt := range []struct {
		name, journal string
		open          bool // while it is read
	}{
		{"closed WAL", "WAL", false},
		{"closed rollback journal", "DELETE", false},
		{"open WAL", "WAL", true},
		{"open rollback journal", "DELETE", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			w := sqliteWorld(t, filepath.Join(dir, "a b?c#.db"), tt.journal)
			w.exec(t, create, insert, insert, insert)
			if !tt.open {
				w.db.Close()
			}
			before := dirState(t, dir)
			readAll(t, w)
			after := dirState(t, dir)
			if tt.open { // the table of locks is not part of the data
				delete(before, "a b?c#.db-shm")
				delete(after, "a b?c#.db-shm")
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("files changed: %d before, %d after", len(before), len(after))
			}
		})
	}
}

// A database in WAL mode that was opened, written and closed again while we
// read is noticed: nothing that was read since can be trusted.
func TestSQLiteChangedWhileRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w.db")
	w := sqliteWorld(t, path, "WAL")
	w.exec(t, "CREATE TABLE k (id BLOB PRIMARY KEY)", "INSERT INTO k VALUES (randomblob(10))")
	w.db.Close()
	s := w.open(t)
	mustCollect(t, s.Scan(t.Context(), by("k", "id")))
	again := sqliteWorld(t, path, "WAL")
	again.exec(t, "INSERT INTO k VALUES (randomblob(10))")
	again.db.Close()
	if _, err := collect(s.Scan(t.Context(), by("k", "id"))); !errors.Is(err, store.ErrChanged) {
		t.Errorf("Scan: %v", err)
	}
	if _, err := s.Row(t.Context(), "k", []string{"id"}, [][]byte{nil}); !errors.Is(err, store.ErrChanged) {
		t.Errorf("Row: %v", err)
	}
}

// SQLite itself refuses to write through the connection.
func TestSQLiteRefusesWrites(t *testing.T) {
	t.Parallel()
	w := newSQLiteWorld(t)
	w.exec(t, "CREATE TABLE k (id BLOB PRIMARY KEY)")
	s := w.open(t)
	for _, statement := range []string{"INSERT INTO k VALUES (x'00')", "PRAGMA user_version = 3", "VACUUM", "CREATE TEMP TABLE x (a)"} {
		if _, err := s.conn.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s was carried out", statement)
		}
	}
}

// Nothing but SELECT is needed on MariaDB, and the transaction refuses to
// write even where the account might.
func TestMariaDBIsNotChanged(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE k (id BINARY(10) PRIMARY KEY, name VARCHAR(20) UNIQUE)", "INSERT INTO k VALUES (RANDOM_BYTES(10), 'a'), (RANDOM_BYTES(10), 'b')")
	checksum := fmt.Sprint(w.query(t, "CHECKSUM TABLE k EXTENDED"))
	readAll(t, &world{dsn: "mysql:" + grant(t, "SELECT", w)})

	s := w.open(t) // an account with all rights
	for _, statement := range []string{"INSERT INTO k VALUES (RANDOM_BYTES(10), 'c')", "DELETE FROM k", "UPDATE k SET name = 'x'"} {
		if _, err := s.conn.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s was carried out", statement)
		}
	}
	s.Close()
	if after := fmt.Sprint(w.query(t, "CHECKSUM TABLE k EXTENDED")); after != checksum {
		t.Errorf("the table changed: %s, then %s", checksum, after)
	}
}

// An account that may read some tables only would not see the others: a check
// would pass without them.
func TestOpenNeedsAllTables(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
	dsn := grant(t, "SELECT", w)
	user, _, _ := strings.Cut(dsn, ":")
	var database string
	if err := w.db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	w.exec(t, fmt.Sprintf("REVOKE SELECT ON `%s`.* FROM '%s'@'%%'", database, user), fmt.Sprintf("GRANT SELECT ON `%s`.a TO '%s'@'%%'", database, user))
	_, err := Open(t.Context(), "w", "mysql:"+dsn)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("GRANT SELECT ON `%s`.* TO '%s'@'%%'", database, user)) {
		t.Errorf("got %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text.db"), bytes.Repeat([]byte("no database "), 100), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dsn := range []string{
		"sqlite:" + filepath.Join(dir, "missing.db"),
		"sqlite:" + filepath.Join(dir, "text.db"),
		"mysql:reader:s3cret@tcp(127.0.0.1:1)/game",
		"postgres://reader:s3cret@db/game",
	} {
		s, err := Open(t.Context(), "w", dsn)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", dsn)
			continue
		}
		for _, text := range []string{err.Error(), fmt.Sprintf("%#v", err), fmt.Sprintf("%+v", err)} {
			if strings.Contains(text, "s3cret") {
				t.Errorf("the password is in %q", text)
			}
		}
	}
	if len(dirState(t, dir)) != 1 {
		t.Error("a file was made")
	}
}

func TestGrant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		database, account string
		literal           bool
		want              string
	}{
		{"game_s1", "ops@10.0.%", false, "GRANT SELECT ON `game\\_s1`.* TO 'ops'@'10.0.%'"},
		{"game_s1", "ops@10.0.%", true, "GRANT SELECT ON `game_s1`.* TO 'ops'@'10.0.%'"},
		{"a`b", "o'x@home@host", false, "GRANT SELECT ON `a``b`.* TO 'o''x@home'@'host'"},
	} {
		if got := Grant("SELECT", tt.database, tt.account, tt.literal); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
