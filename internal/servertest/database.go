package servertest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// adminTimeout bounds what this package itself does on the server, a cleanup that waits for a forgotten transaction
// in particular.
const adminTimeout = 5 * time.Minute

// DSN makes a fresh, empty database (utf8mb4, a random name) for this test on the test's server (see [Needs]), drops
// it at the test's end, and returns its DSN in the form of go-sql-driver/mysql. Where there is no server, the test is
// skipped. It may be called several times for several databases.
//
// Transactions must have ended by then: the drop would wait for them, give up, and fail the test.
func DSN(t testing.TB) string {
	t.Helper()
	cfg := parse(t, ServerDSN(t))
	cfg.DBName = randomName()
	if err := execute(t, cfg, createSQL(cfg.DBName)); err != nil {
		t.FailNow()
	}
	t.Cleanup(func() { execute(t, cfg, "DROP DATABASE `"+cfg.DBName+"`") })
	return cfg.FormatDSN()
}

// Grant makes an account that has only the given privileges, e.g. "SELECT" or "SELECT, INSERT", on the
// database that the DSN names, and returns the DSN with that account in it. The account is dropped at
// the test's end. The DSN's own account must be allowed to create users, or the test is skipped.
func Grant(t testing.TB, privileges, dsn string) string {
	t.Helper()
	cfg := parse(t, dsn)
	user, password := randomName(), rand.Text()
	db := open(t, cfg)
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), adminTimeout)
	defer cancel()
	if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", user, password)); err != nil {
		if denied(err) {
			t.Skipf("the account %q may not create users: %v", cfg.User, err)
		}
		t.Fatalf("create an account: %v", err)
	}
	t.Cleanup(func() { execute(t, cfg, fmt.Sprintf("DROP USER '%s'@'%%'", user)) })
	// In GRANT, unlike elsewhere, _ and % in the name of a database are wildcards.
	name := strings.NewReplacer("`", "``", "_", `\_`, "%", `\%`).Replace(cfg.DBName)
	if _, err := db.ExecContext(ctx, fmt.Sprintf("GRANT %s ON `%s`.* TO '%s'@'%%'", privileges, name, user)); err != nil {
		if denied(err) {
			t.Skipf("the account %q may not grant %q: %v", cfg.User, privileges, err)
		}
		t.Fatalf("grant %q: %v", privileges, err)
	}
	granted := cfg.Clone()
	granted.User, granted.Passwd = user, password
	return granted.FormatDSN()
}

// Admin opens the test's server (see [Needs]) with the account given there and no database selected, closed at the
// test's end. Where there is no server, the test is skipped.
func Admin(t testing.TB) *sql.DB {
	t.Helper()
	cfg := parse(t, ServerDSN(t))
	cfg.DBName = ""
	db := open(t, cfg)
	t.Cleanup(func() { db.Close() })
	return db
}

// Private starts a server of the test's kind (see [Needs]) for this test alone, which it may kill and restart, and
// stops it at the test's end. Where this machine has no server program, the test is skipped. Starting takes a
// second or two: share one where tests can.
func Private(t testing.TB, args ...string) *Server {
	t.Helper()
	return private(t, Options{Name: Kind(t), Args: args})
}

func private(t testing.TB, opts Options) *Server {
	t.Helper()
	NotShort(t)
	s, err := Start(t.Context(), opts)
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Database makes a fresh, empty database (utf8mb4, a random name) on the server and returns its DSN. It goes away with
// the server.
func (s *Server) Database(ctx context.Context) (dsn string, err error) {
	cfg := s.cfg.Clone()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	cfg.DBName = randomName()
	_, err = db.ExecContext(ctx, createSQL(cfg.DBName))
	return cfg.FormatDSN(), err
}

func createSQL(name string) string {
	return "CREATE DATABASE `" + name + "` CHARACTER SET utf8mb4"
}

// execute runs one statement outside any database, also in a cleanup, and fails the test where it fails.
func execute(t testing.TB, cfg *mysql.Config, statement string) error {
	t.Helper()
	cfg = cfg.Clone()
	cfg.DBName = ""
	db := open(t, cfg)
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	_, err := db.ExecContext(ctx, statement)
	if err != nil {
		t.Errorf("on the server for tests: %v", err)
	}
	return err
}

func open(t testing.TB, cfg *mysql.Config) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatalf("on the server for tests: %v", err)
	}
	return sql.OpenDB(connector)
}

func parse(t testing.TB, dsn string) *mysql.Config {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err) // names the place that is wrong, not the DSN
	}
	return cfg
}

// randomName returns a name for a database or an account that can't be mistaken for somebody's own.
func randomName() string { return "mergesafetest" + strings.ToLower(rand.Text()[:16]) }

// denied reports whether the server refused a statement for want of a privilege.
func denied(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && slices.Contains([]uint16{
		1044, // no access to the database
		1142, // no such right on the table
		1227, // needs a global privilege
		1410, // may not create a user by GRANT
	}, my.Number)
}
