package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(text, []byte("this is not a database, but it is longer than a header"), 0o600))
	short := filepath.Join(dir, "short")
	must(t, os.WriteFile(short, []byte("SQLite"), 0o600))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	closed.Close()
	type test struct {
		dsn, want string
		readOnly  bool
	}
	tests := []test{
		{"", "the DSN is empty: want", false},
		{"oracle://u:s3cr3t@h/d", "unknown kind of database: want", false},
		{"postgres:u:s3cr3t@h/d", "no // after", false},
		{"postgres://u:s3cr3t@h/d?synchronous_commit=off", "the DSN sets synchronous_commit, but this program needs on", false},
		{"postgres://u@h/d?password=s3cr3t", "user and password belong before the address", false},
		{"postgres://u:s3cr3t@h", "no database named", false},
		{"data/s1.db", "unknown kind of database: want", false},
		{"sqlite://data/s1.db", `no // after "sqlite:"`, false},
		{"sqlite:", `no path after "sqlite:"`, false},
		{"sqlite::memory:", "use a file", false},
		{"sqlite:" + dir + "/x.db?mode=memory", "takes no parameters", false},
		{"sqlite:" + dir + "/x.db?nolock=1", "takes no parameters", false},
		{"sqlite:" + dir + "/x.db?_pragma=synchronous(0)", "takes no parameters", true},
		{"sqlite:" + dir + "/?mode=ro", "takes no parameters", true},
		{"sqlite:file::memory:", "want the path alone", false},
		{"sqlite:file:" + dir + "/x.db", "want the path alone", false},
		{"sqlite:" + dir + "/x\x00.db", "a zero byte", false},
		{"sqlite: ", "begins or ends with a space", false},
		{"sqlite:" + dir + "/x.db ", "begins or ends with a space", true},
		{"sqlite:" + dir, "it is a directory", false},
		{"sqlite:" + os.DevNull, "it is a device or a pipe", false},
		{"sqlite:" + os.DevNull, "it is a device or a pipe", true},
		{"sqlite:" + dir + "/no/s1.db", `no directory "` + dir + `/no": create it first`, false},
		{"sqlite:" + dir + "/no/s1.db", `no directory "` + dir + `/no": create it first`, true},
		{"sqlite:" + dir + "/s1.db", "no such file: check the path", true},
		{"sqlite:" + text, "the file is not an SQLite database", false},
		{"sqlite:" + text, "the file is not an SQLite database", true},
		{"sqlite:" + short, "the file is not an SQLite database", true},
		{"mysql:u:s3cr3t@tcp(127.0.0.1:1)/", "no database named", false},
		{"mysql:u:s3cr3t@tcp(127.0.0.1:1)", "missing the slash", false},
		{"mysql:u:s3cr3t@tcp(127.0.0.1:1)/d?tls=s3cr3t", "tls in the DSN refers to a TLS configuration", false},
		{"mysql:u:s3cr3t@tcp(" + closed.Addr().String() + ")/d", "nothing answers at " + closed.Addr().String() + ": check that the server is running", false},
		{"mysql:u:s3cr3t@tcp(" + closed.Addr().String() + ")/d", "nothing answers at", true},
		{"mysql:u:s3cr3t@tcp(db.invalid:3306)/d", `no address found for the host "db.invalid": check its name`, false},
	}
	if !testing.Short() {
		cfg, err := mysql.ParseDSN(servertest.DSN(t))
		must(t, err)
		wrong, missing := cfg.Clone(), cfg.Clone()
		wrong.Passwd = "s3cr3t"
		missing.DBName = "missing"
		tests = append(tests,
			test{"mysql:" + wrong.FormatDSN(), "user or password is wrong, or the account must use TLS (REQUIRE SSL): then add tls=true to the DSN", false},
			test{"mysql:" + missing.FormatDSN(), "no such database: create it first", false})
	}
	for _, test := range tests {
		open := store.Open
		if test.readOnly {
			open = store.OpenReadOnly
		}
		db, err := open(t.Context(), test.dsn)
		if err == nil {
			db.Close()
			t.Errorf("%s was opened", test.dsn)
			continue
		}
		message := err.Error()
		if !strings.HasPrefix(message, `store: open "`+store.Redact(test.dsn)+`": `) || !strings.Contains(message, test.want) ||
			strings.Contains(message, "\n") || strings.Contains(message, "s3cr3t") {
			t.Errorf("%s: %s\nwant %q", test.dsn, message, test.want)
		}
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 2 {
		t.Errorf("failing to open left %v", left)
	}
}

// A server that takes connections and says nothing does not hold up what connects beyond the limit of the DSN, also
// without a deadline.
func TestSilentServer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // whose connections the system takes
	must(t, err)
	defer silent.Close()
	for _, dsn := range []string{"mysql:u:p@tcp(" + silent.Addr().String() + ")/d?timeout=50ms", "postgres://u:p@" + silent.Addr().String() + "/d?connect_timeout=1"} {
		for name, open := range map[string]func(context.Context, string) (*store.DB, error){"Open": store.Open, "OpenReadOnly": store.OpenReadOnly} {
			_, err := open(t.Context(), dsn)
			if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), silent.Addr().String()) {
				t.Errorf("%s %s: got %v", name, store.Redact(dsn), err)
			}
		}
	}
}

func TestPasswordDoesNotShow(t *testing.T) {
	dsn := servertest.DSN(t)
	cfg, err := mysql.ParseDSN(dsn)
	must(t, err)
	db := open(t, "mysql:"+dsn)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(verb, db); strings.Contains(got, cfg.Passwd) || !strings.Contains(got, cfg.DBName) {
			t.Errorf("%s shows %s", verb, got)
		}
		if want := fmt.Sprintf("store.DB(%q)", db); verb == "%#v" && fmt.Sprintf(verb, db) != want {
			t.Errorf("%s shows %#v, want %s", verb, db, want)
		}
		holder := struct{ DB *store.DB }{db}
		if got := fmt.Sprintf(verb, holder); strings.Contains(got, cfg.Passwd) {
			t.Errorf("%s of a struct with it shows %s", verb, got)
		}
	}
}

// What the package relies on is set, whatever the DSN says.
func TestSettings(t *testing.T) {
	value := func(db *store.DB, query string) (v string) {
		t.Helper()
		must(t, db.Get(t.Context(), &v, query))
		return v
	}
	t.Run("sqlite", func(t *testing.T) {
		db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
		for query, want := range map[string]string{
			"PRAGMA foreign_keys": "1", "PRAGMA journal_mode": "wal", "PRAGMA synchronous": "2", "PRAGMA busy_timeout": "5000",
		} {
			if got := value(db, query); got != want {
				t.Errorf("%s is %s, want %s", query, got, want)
			}
		}
		if _, err := db.Exec(t.Context(), `SELECT "text"`); err == nil {
			t.Error("text in double quotes is taken for a string")
		}
	})
	t.Run("mysql", func(t *testing.T) {
		db := open(t, "mysql:"+servertest.DSN(t)+"?parseTime=false&loc=Local&clientFoundRows=false&columnsWithAlias=true")
		for query, want := range map[string]string{
			"SELECT @@time_zone": "+00:00", "SELECT @@character_set_client": "utf8mb4", "SELECT @@character_set_results": "utf8mb4",
			"SELECT @@sql_mode LIKE '%STRICT_ALL_TABLES%'": "1", "SELECT '🍣'": "🍣",
		} {
			if got := value(db, query); got != want {
				t.Errorf("%s is %s, want %s", query, got, want)
			}
		}
		var at time.Time
		must(t, db.Get(t.Context(), &at, "SELECT CAST('2026-11-21 03:04:05.678' AS DATETIME(3))"))
		if at != born {
			t.Errorf("a time came as %v, want %v", at, born)
		}
		must(t, storetest.Second(storetest.World(db).Durability(t.Context()))) // finds columns by their names
	})
}

func TestOddPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "what?.db", "100%.db", "%41.db", "hash#1.db", "ü世界.db", "a&b=c;d.db", "colon:x.db", "?", "a=b?c"} {
		path := filepath.Join(dir, name)
		withTables(t, "sqlite:"+path).Close()
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		must(t, storetest.Check(t.Context(), openReadOnly(t, "sqlite:"+path)))
	}
	t.Chdir(dir)
	withTables(t, "sqlite:relative.db")
	if _, err := os.Stat(filepath.Join(dir, "relative.db")); err != nil {
		t.Error(err)
	}
}

// contents maps the files of a directory to what is in them.
func contents(t testing.TB, dir string) map[string][32]byte {
	t.Helper()
	files := make(map[string][32]byte)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, err := os.ReadFile(path)
			files[d.Name()] = sha256.Sum256(b)
			return err
		}
		return err
	}))
	return files
}

func names(files map[string][32]byte) []string { return slices.Sorted(maps.Keys(files)) }

// readAll reads in every way there is.
func readAll(t testing.TB, db *store.DB, players int) {
	t.Helper()
	ctx := t.Context()
	must(t, storetest.Check(ctx, db))
	if got := collect(t, starter.Players.Each(ctx, db, "TRUE")); len(got) != players {
		t.Errorf("read %d players, want %d", len(got), players)
	}
	must(t, db.Snapshot(ctx, func(tx *store.Tx) error {
		_, err := starter.Players.ByName(ctx, tx, "player 1")
		return err
	}))
	_, err := db.Registry().Servers(ctx)
	must(t, err)
	_, err = storetest.World(db).Load(ctx, 7)
	must(t, err)
}

func refusesWrites(t testing.TB, db *store.DB) {
	t.Helper()
	ctx := t.Context()
	for what, err := range map[string]error{
		"insert":  starter.Players.Insert(ctx, db, player(99)),
		"delete":  starter.Players.Delete(ctx, db, player(1).ID),
		"exec":    storetest.Second(db.Exec(ctx, "DELETE FROM players")),
		"InTx":    db.InTx(ctx, func(*store.Tx) error { return nil }),
		"name":    db.Registry().SetName(ctx, 7, "x"),
		"reserve": storetest.Second(storetest.World(db).CompareAndSet(ctx, 8, gameid.Record{}, claim)),
		// The database itself refuses too.
		"pool":   store.Translate(storetest.Second(db.Pool().ExecContext(ctx, "DELETE FROM players"))),
		"create": store.Translate(storetest.Second(db.Pool().ExecContext(ctx, "CREATE TABLE x (y INT)"))),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestReadOnlySQLite(t *testing.T) {
	dir := t.TempDir()
	dsn := "sqlite:" + filepath.Join(dir, "s1.db")
	live := withTables(t, dsn)
	must(t, starter.Players.Insert(t.Context(), live, player(1), player(2)))

	t.Run("live", func(t *testing.T) {
		before := contents(t, dir)
		db := openReadOnly(t, dsn)
		readAll(t, db, 2)
		refusesWrites(t, db)
		must(t, starter.Players.Insert(t.Context(), live, player(3)))
		readAll(t, db, 3) // it follows
		must(t, starter.Players.Delete(t.Context(), live, player(3).ID))
		must(t, db.Close())
		if after := contents(t, dir); after["s1.db"] != before["s1.db"] || !slices.Equal(names(before), names(after)) {
			t.Errorf("%v became %v", names(before), names(after))
		}
	})
	t.Run("live, through a link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link.db")
		must(t, os.Symlink(filepath.Join(dir, "s1.db"), link))
		db := openReadOnly(t, "sqlite:"+link)
		must(t, starter.Players.Insert(t.Context(), live, player(3)))
		readAll(t, db, 3)
		must(t, starter.Players.Delete(t.Context(), live, player(3).ID))
	})
	// A copy of all files of a live database is what a crash leaves.
	crashed := t.TempDir()
	for name := range contents(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(crashed, name), b, 0o600))
	}
	must(t, live.Close())
	t.Run("crashed", func(t *testing.T) {
		before := contents(t, crashed)
		if len(before) != 3 {
			t.Fatalf("%v, want the -wal and the -shm file too", names(before))
		}
		db := openReadOnly(t, "sqlite:"+filepath.Join(crashed, "s1.db"))
		readAll(t, db, 2)
		refusesWrites(t, db)
		must(t, db.Close())
		after := contents(t, crashed)
		if after["s1.db"] != before["s1.db"] || after["s1.db-wal"] != before["s1.db-wal"] || len(after) != 3 {
			t.Errorf("%v became %v", before, after)
		}
	})
	t.Run("closed", func(t *testing.T) {
		before := contents(t, dir)
		if len(before) != 1 {
			t.Fatalf("%v, want the database alone", names(before))
		}
		db := openReadOnly(t, dsn)
		readAll(t, db, 2)
		refusesWrites(t, db)
		if during := contents(t, dir); !maps.Equal(before, during) {
			t.Errorf("while open, %v became %v", before, during)
		}
		must(t, db.Close())
		if after := contents(t, dir); !maps.Equal(before, after) {
			t.Errorf("%v became %v", before, after)
		}
	})
	t.Run("not in WAL mode", func(t *testing.T) {
		old := t.TempDir()
		path := filepath.Join(old, "s1.db")
		raw, err := sql.Open("sqlite", path)
		must(t, err)
		_, err = raw.Exec("CREATE TABLE t (id BLOB PRIMARY KEY); INSERT INTO t VALUES (x'01')")
		must(t, err)
		before := contents(t, old)
		db := openReadOnly(t, "sqlite:"+path)
		var n int
		must(t, db.Get(t.Context(), &n, "SELECT COUNT(*) FROM t"))
		if during := contents(t, old); n != 1 || !maps.Equal(before, during) {
			t.Errorf("read %d rows, and %v became %v", n, before, during)
		}
		// Here SQLite's locks keep reader and writer apart, so it may change.
		_, err = raw.Exec("INSERT INTO t VALUES (x'02')")
		must(t, err)
		must(t, raw.Close())
		must(t, db.Get(t.Context(), &n, "SELECT COUNT(*) FROM t"))
		if n != 2 {
			t.Errorf("read %d rows, want the one that was added too", n)
		}
	})
	t.Run("empty file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "empty.db")
		must(t, os.WriteFile(path, nil, 0o600))
		if err := storetest.Check(t.Context(), openReadOnly(t, "sqlite:"+path)); !errors.Is(err, store.ErrSchema) {
			t.Error(err)
		}
	})
	t.Run("changed while read", func(t *testing.T) {
		db := openReadOnly(t, dsn)
		readAll(t, db, 2)
		writer := open(t, dsn)
		must(t, starter.Players.Insert(t.Context(), writer, player(4)))
		readAll(t, db, 2) // still what it was: the change is in the -wal file
		exec(t, writer, "PRAGMA wal_checkpoint(TRUNCATE)")
		for what, err := range map[string]error{
			"get":       storetest.Second(starter.Players.Get(t.Context(), db, player(1).ID)),
			"where":     storetest.Second(starter.Players.Where(t.Context(), db, "level = 1")),
			"select":    db.Select(t.Context(), new([]int), "SELECT level FROM players"),
			"snapshot":  db.Snapshot(t.Context(), func(*store.Tx) error { return nil }),
			"registry":  storetest.Second(db.Registry().Servers(t.Context())),
			"unchanged": db.Unchanged(),
		} {
			if !errors.Is(err, store.ErrChanged) {
				t.Errorf("%s: %v", what, err)
			}
		}
		must(t, writer.Close())
		readAll(t, openReadOnly(t, dsn), 3)
	})
}

func TestReadOnlyMySQL(t *testing.T) {
	dsn := servertest.DSN(t)
	live := withTables(t, "mysql:"+dsn)
	must(t, starter.Players.Insert(t.Context(), live, player(1), player(2)))
	db := openReadOnly(t, "mysql:"+dsn)
	readAll(t, db, 2)
	refusesWrites(t, db)

	selectOnly := "mysql:" + servertest.Grant(t, "SELECT", dsn)
	db = openReadOnly(t, selectOnly)
	readAll(t, db, 2)
	must(t, db.Close())
	// An account without the right to make tables can use those that are there.
	must(t, storetest.Create(t.Context(), open(t, selectOnly)))
}

func TestClosed(t *testing.T) {
	onOne(t, func(t *testing.T, newDSN func() string) {
		db := withTables(t, newDSN())
		must(t, db.Ping(t.Context()))
		must(t, db.Close())
		if err := starter.Players.Insert(t.Context(), db, player(1)); err == nil {
			t.Error("a closed database took a row")
		}
	})
}
