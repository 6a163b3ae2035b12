package servertest

import (
	"cmp"
	"database/sql"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// onServer gives the test a MariaDB: the one that is there, or a private one.
func onServer(t *testing.T) {
	t.Helper()
	if os.Getenv(EnvMariaDB) == "" {
		t.Setenv(EnvMariaDB, Private(t).DSN())
	}
}

func TestDSN(t *testing.T) {
	onServer(t)
	admin := Admin(t)
	var names []string
	t.Run("fresh and its own", func(t *testing.T) {
		for range 2 {
			db := connect(t, DSN(t))
			var name, charset string
			var tables int
			err := db.QueryRowContext(t.Context(), "SELECT DATABASE(), @@character_set_database, "+
				"(SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE())").Scan(&name, &charset, &tables)
			if err != nil || charset != "utf8mb4" || tables != 0 {
				t.Errorf("database %q: charset %q, %d tables, %v; want utf8mb4 and none", name, charset, tables, err)
			}
			if slices.Contains(names, name) {
				t.Errorf("got the database %q twice", name)
			}
			names = append(names, name)
			mustExec(t, db, "CREATE TABLE t (n INT)")
		}
	})
	for _, name := range names {
		var n int
		err := admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("database %q after the test: found %d, %v; want it dropped", name, n, err)
		}
	}
}

func TestGrant(t *testing.T) {
	onServer(t)
	admin := Admin(t)
	var user string
	t.Run("only what was asked for", func(t *testing.T) {
		dsn := DSN(t)
		mustExec(t, connect(t, dsn), "CREATE TABLE t (n INT)")
		reader := Grant(t, "SELECT", dsn)
		cfg, err := mysql.ParseDSN(reader)
		if err != nil {
			t.Fatal(err)
		}
		user = cfg.User
		db := connect(t, reader)
		mustExec(t, db, "SELECT * FROM t")
		for _, statement := range []string{"INSERT INTO t VALUES (1)", "CREATE TABLE u (n INT)", "DROP TABLE t"} {
			if _, err := db.ExecContext(t.Context(), statement); !denied(err) {
				t.Errorf("%s: %v; want it denied", statement, err)
			}
		}
		// A name with a wildcard in it must not open other databases.
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'mergesafetest%'").Scan(&n); err != nil || n != 1 {
			t.Errorf("the account sees %d databases of tests, %v; want one", n, err)
		}
	})
	var n int
	if err := admin.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM mysql.user WHERE user = ?", user).Scan(&n); err != nil || n != 0 {
		t.Errorf("account %q after the test: found %d, %v; want it dropped", user, n, err)
	}
}

func TestSkips(t *testing.T) {
	onServer(t)
	reader := Grant(t, "SELECT", DSN(t))
	for name, f := range map[string]func(*testing.T){
		"DSN, no server":       func(t *testing.T) { noServer(t); DSN(t) },
		"Admin, no server":     func(t *testing.T) { noServer(t); Admin(t) },
		"Needs another":        func(t *testing.T) { noServer(t); Needs(t, PostgreSQL) },
		"Grant, not permitted": func(t *testing.T) { Grant(t, "SELECT", reader) },
	} {
		var skipped bool
		t.Run(name, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			f(t)
		})
		if !skipped {
			t.Errorf("%s: not skipped", name)
		}
	}
}

// noServer takes all servers away from a test.
func noServer(t *testing.T) {
	for _, name := range []string{EnvMariaDB, EnvMySQL, EnvPostgres, EnvServers, EnvRequired} {
		t.Setenv(name, "")
	}
}

// What a test needs, its subtests use; what is not there is started if TEST_SERVERS names it, and a failure if
// TEST_SERVERS_REQUIRED is set.
func TestNeeds(t *testing.T) {
	NotShort(t)
	t.Run("a subtest", func(t *testing.T) {
		noServer(t)
		t.Setenv(EnvMySQL, "u:p@tcp(one)/")
		t.Setenv(EnvMariaDB, "u:p@tcp(two)/")
		if Kind(t) != MariaDB || ServerDSN(t) != "u:p@tcp(two)/" {
			t.Errorf("by default it is %s", Kind(t))
		}
		Needs(t, MySQL)
		t.Run("below", func(t *testing.T) {
			if Kind(t) != MySQL || ServerDSN(t) != "u:p@tcp(one)/" {
				t.Errorf("got %s at %s", Kind(t), ServerDSN(t))
			}
		})
	})
	t.Run("required", func(t *testing.T) {
		noServer(t)
		t.Setenv(EnvRequired, "1")
		fake := &recorder{TB: t}
		done := make(chan struct{})
		go func() { defer close(done); Needs(fake, MySQL) }()
		<-done
		if !fake.failed || fake.skipped {
			t.Errorf("failed %t, skipped %t", fake.failed, fake.skipped)
		}
	})
	t.Run("started", func(t *testing.T) {
		if _, err := Find(t.Context(), MariaDB); err != nil {
			t.Skip(err)
		}
		noServer(t)
		t.Setenv(EnvServers, "postgres,mariadb")
		if dsn := ServerDSN(t); dsn == "" || dsn != ServerDSN(t) {
			t.Errorf("got %q, then %q", dsn, ServerDSN(t))
		}
		// It is not abandoned, even if only started refers to it.
		runtime.GC()
		runtime.GC() // what has a finalizer goes at the second
		RemoveAbandoned(cmp.Or(memory(), os.TempDir()))
		DSN(t)
	})
}

// A server that should be there and is not must fail the tests: skipping them would hide that.
func TestUnreachableServerIsAFailure(t *testing.T) {
	s := Private(t)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvMariaDB, s.DSN())
	fake := &recorder{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); DSN(fake) }() // in a goroutine, which FailNow ends
	<-done
	if !fake.failed || fake.skipped {
		t.Errorf("failed %t, skipped %t; want a failure", fake.failed, fake.skipped)
	}
	if password := s.cfg.Passwd; strings.Contains(fake.text, password) {
		t.Errorf("the message has the password: %s", fake.text)
	}
}

func connect(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
