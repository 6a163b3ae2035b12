package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/odddsn"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

func TestRedact(t *testing.T) {
	const secret = "s3cr3t"
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("data/day=1/anna@corp", 0o700); err != nil {
		t.Fatal(err)
	}
	for dsn, want := range map[string]string{
		"sqlite:data/s1.db":                                  "sqlite:data/s1.db",
		"sqlite:data/My World #2 - old.db":                   "sqlite:data/My World #2 - old.db",
		"sqlite:data/世界.db":                                  "sqlite:data/世界.db",
		"sqlite:data/day=1/anna@corp/none/s1.db":             "sqlite:data/day=1/anna@corp/none/s1.db", // the folder exists
		"sqlite:data/2026-01-01T03:10.db":                    "sqlite:***",
		"sqlite:/home/anna@corp/s1.db":                       "sqlite:***", // does not exist
		"sqlite:x.db?password=s3cr3t":                        "sqlite:***",
		"sqlite:x.db token s3cr3t":                           "sqlite:***",
		"sqlite:game:s3cr3t@tcp(db1:3306)/s1":                "sqlite:***",
		"sqlite:game:s3cr3t":                                 "sqlite:***",
		"sqlite:s3cr3t@tcp(db1)/s1":                          "sqlite:***",
		"mysql:g:x@s3cr3t(127.0.0.1:1)/a":                    "mysql:***",
		"mysql:g:x@tcp(y)/?s3cr3t@tcp(h)":                    "mysql:***",
		"mysql:g:s3\ncr3t@tcp(h)/d":                          "mysql:g:***@tcp(h:3306)/d",
		"mysql:game:s3cr3t@tcp(db1:3306)/s1":                 "mysql:game:***@tcp(db1:3306)/s1",
		"mysql:game:s3cr3t@tcp(db1)/s1?tls=true&x=s3cr3t":    "mysql:game:***@tcp(db1:3306)/s1",
		"mysql:game:p@ss/s3cr3t:@unix(/run/mysqld.sock)/s1":  "mysql:game:***@unix(/run/mysqld.sock)/s1",
		"mysql:game:@tcp(db1:3306)/s1":                       "mysql:game:***@tcp(db1:3306)/s1",
		"mysql:games3cr3t@tcp(db1:3306)/s1":                  "mysql:***@tcp(db1:3306)/s1",
		"mysql:g;password=s3cr3t:x@tcp(db1:3306)/s1":         "mysql:***@tcp(db1:3306)/s1",
		"mysql:g@tcp(h:1)/a:s3cr3t":                          "mysql:***",
		"mysql:g:pw@tcp(h:1)/a;password=s3cr3t":              "mysql:***",
		"mysql:g tcp(h:1)/a password=s3cr3t":                 "mysql:***",
		"mysql:g:pw@tcp(h:1)/a g s3cr3t":                     "mysql:***",
		"mysql:g:pw@tcp(h:34200:s3cr3t)/a":                   "mysql:***",
		"mysql:g:pw@tcp(h:1)/my%20game":                      "mysql:g:***@tcp(h:1)/my game",
		"mysql:tcp(db1:3306)/s1":                             "mysql:tcp(db1:3306)/s1",
		"mysql:game:s3cr3t@tcp(db1:3306)":                    "mysql:***",
		"mysql:game:s3cr3t@tcp(db1:3306)/s1?parseTime=maybe": "mysql:***",
		"mysql:game:s3cr3t@tcp(db1:3306)/s%zz":               "mysql:***",
		"mysql://game:s3cr3t@db1:3306/s1":                    "mysql:***",
		"mysql:s3cr3t":                                       "mysql:***",
		"mysql:game:/s3cr3t":                                 "mysql:***", // the address is missing
		"mysql:game:p@tcp/s3cr3t":                            "mysql:***",
		"mysql:game:s3cr3t@/s1":                              "mysql:***",
		"mysql:tcp(127.0.0.1:3306)/game:s3cr3t":              "mysql:***",
		"mysql:tcp(127.0.0.1:3306)/game;Pwd=s3cr3t":          "mysql:***",
		"mysql:tcp(game:s3cr3t)/s1":                          "mysql:***",
		"mysql:tcp(db1:3306,game:s3cr3t)/s1":                 "mysql:***",
		"mysql:game:s3cr3t@tcp(db1,[::1]:3307)/s1":           "mysql:game:***@tcp(db1:3306,[::1]:3307)/s1",
		"sqlite:Server=h;Uid=u;Pwd=s3cr3t":                   "sqlite:***",
		"sqlite:data/day=1/s1.db":                            "sqlite:data/day=1/s1.db",
		"sqlite:data/day=2/s1.db":                            "sqlite:***",
		"-ps3cr3t":                                           "***",
		"--password s3cr3t":                                  "***",
		"PW=s3cr3t":                                          "***",
		"plans/-x/s1.json":                                   "***",
		"plans/s1.json":                                      "plans/s1.json",
		"Server=h;Uid=u;Pwd=s3cr3t":                          "***",
		"host=h password=s3cr3t":                             "***",
		"game:s3cr3t@tcp(db1:3306)/s1":                       "***",
		"postgres://game:s3cr3t@db1/s1":                      "postgres://game:***@db1/s1",
		"postgres://s3cr3t@db1/s1":                           "postgres://***@db1/s1",
		"postgres://game:s3/cr3t@db1/s1":                     "postgres:***",
		"postgres://game:s3@cr3t@db1/s1":                     "postgres:***",
		"postgres://db1:5432,db2:5432/s1?password=s3cr3t":    "postgres://db1:5432,db2:5432/s1",
		"s3cr3t@db1":                                         "***",
		"s1":                                                 "s1",
		"":                                                   "",
	} {
		if got := sqldb.Redact(dsn); got != want {
			t.Errorf("Redact(%q) = %q, want %q", dsn, got, want)
		}
		// Nor does it show in what Dial says, if Dial fails.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sqldb.Dial(ctx, dsn, sqldb.ReadWrite); err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
			t.Errorf("Dial(%q): %v", dsn, err)
		}
	}
}

// A parameter that is named like a part of the account is refused before the
// server could quote it. Its value is not shown, nor is the rest of its name.
func TestSecretParameters(t *testing.T) {
	for _, name := range []string{"password", "Passwd", "pwd", "PASS", "user", "uid", "@@session.password", "s3cr3t_password", "token", "secret"} {
		_, err := sqldb.Open("mysql:tcp(db1:3306)/s1?"+name+"=s3cr3t", sqldb.ReadWrite)
		if err == nil || !strings.Contains(err.Error(), "belong before the address") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An address of IPv6 without brackets is told from a host and its port: the driver would take it for the name of a host.
func TestBareIPv6(t *testing.T) {
	for address, want := range map[string]string{"::1:34500": "[::1]:34500", "fe80::2:3306": "[fe80::2]:3306"} {
		_, err := sqldb.Open("mysql:g:s3cr3t@tcp("+address+")/s1", sqldb.ReadWrite)
		if err == nil || !strings.HasSuffix(err.Error(), "an IPv6 address with a port needs brackets: want tcp("+want+")") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if db, err := sqldb.Open("mysql:g:s3cr3t@tcp([::1]:34500)/s1", sqldb.ReadWrite); err != nil {
		t.Error(err)
	} else {
		db.Close()
	}
}

// Of a DSN that is written wrongly in any of a thousand ways nothing shows its password.
func TestOddDSNs(t *testing.T) {
	t.Chdir(t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, dsn := range odddsn.Each() {
		shown := shownOf(ended, dsn)
		if part := odddsn.Shown(shown); part != "" {
			t.Errorf("%q is shown: ...%s...", dsn, part)
		}
	}
}

// The same with any password.
func FuzzOddDSNs(f *testing.F) {
	for i, around := range []string{"", "@", "/", ":", "(", ")", "?", "&", "=", "%", "%zz", "#", "'", "\"", "\\", "\n",
		"\x00", "@tcp", "(127.0.0.1:1)/a", "tcp(h)/", "?charset=", "/?sql_mode=", "?x=/", "//", "/../", " ", "-p", "sqlite:", "\xff"} {
		for k, seed := range [][2]string{{around, ""}, {"", around}, {around, around}} {
			if servertest.Scale(i%3, k) == k {
				f.Add(seed[0], seed[1])
			}
		}
	}
	ended, cancel := context.WithCancel(f.Context())
	cancel()
	f.Fuzz(func(t *testing.T, before, after string) {
		around := before + after
		if len(around) > 200 {
			t.Skip()
		}
		t.Chdir(t.TempDir())
		for _, dsn := range odddsn.With(before, after) {
			if strings.HasPrefix(dsn, "mysql:g"+before+odddsn.Password) && strings.Contains(around, ":") {
				continue // no one can tell where the name of the account ends
			}
			whole := dsn == "mysql:g:"+before+odddsn.Password+after+"@tcp(127.0.0.1:1)/a"
			if !whole && (strings.Contains(around, "tcp(") || strings.Contains(around, "unix(")) {
				continue // a password that itself ends a DSN is one address or another
			}
			if part := odddsn.Shown(shownOf(ended, dsn)); part != "" {
				t.Errorf("%q is shown: ...%s...", dsn, part)
			}
		}
	})
}

// Nor does it show in what a server says of the account, the database or a parameter.
func TestServersQuoteNoSecrets(t *testing.T) {
	cfg, err := mysql.ParseDSN(servertest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	account, rest := cfg.User+":"+cfg.Passwd, "@tcp("+cfg.Addr+")/"
	asked := 0
	for _, password := range []string{odddsn.Password, "'" + odddsn.Password + "'", odddsn.Password + " x", "(" +
		odddsn.Password, odddsn.Password + strings.Repeat("x", 200)} {
		for _, dsn := range []string{
			password + rest + cfg.DBName, "g;password=" + password + ":x" + rest + cfg.DBName, account + "x" +
				rest + cfg.DBName + "?a=" + url.QueryEscape(password),
			account + rest + cfg.DBName + "?wait_timeout=" + url.QueryEscape(password), account + rest +
				cfg.DBName + "?unknown=" + url.QueryEscape(password),
			account + rest + cfg.DBName + "?max_error_count=" + url.QueryEscape(password), account + rest +
				cfg.DBName + "?character_set_filesystem=" + url.QueryEscape(password),
			account + rest + cfg.DBName + "?lc_messages=" + url.QueryEscape(password), account + rest + cfg.DBName +
				"?default_storage_engine=" + url.QueryEscape(password),
			account + rest + cfg.DBName + " " + password,
			account + "@tcp/" + password,
		} {
			_, err := sqldb.Dial(t.Context(), "mysql:"+dsn, sqldb.ReadOnly)
			if part := odddsn.Shown(fmt.Sprintf("%v %+v %#v", err, err, err)); part != "" || err == nil {
				t.Errorf("%q is shown: ...%s... (%v)", dsn, part, err)
			}
			if _, ok := errors.AsType[*mysql.MySQLError](err); ok {
				asked++
			}
		}
	}
	if asked < 40 {
		t.Errorf("the server was asked only %d times", asked)
	}
}

// shownOf is everything that this package shows of a DSN.
func shownOf(ctx context.Context, dsn string) string {
	server, _ := sqldb.ParseServer(dsn)
	shown := fmt.Sprintln(sqldb.Redact(dsn), server)
	for _, access := range []sqldb.Access{sqldb.ReadOnly, sqldb.ReadWrite} {
		_, err := sqldb.Dial(ctx, dsn, access)
		shown += fmt.Sprintf("%v %+v %#v\n", err, err, err)
		if db, err := sqldb.Open(dsn, access); err == nil {
			pool := db.Pool()
			shown += fmt.Sprintf("%v %+v %#v %s %v %+v %#v %#v", db, db, db, db.Place(), pool, pool, pool,
				pool.DB) + fmt.Sprint(db.Ping(ctx))
			db.Close()
		}
	}
	return shown
}

// Whoever names a dialect that there is not is told which there are.
func TestUnknownDialect(t *testing.T) {
	const want = `store: unknown dialect "oracle": want store.MySQL (also for MariaDB), store.SQLite or store.PostgreSQL`
	if err := sqldb.Dialect("oracle").Linked(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
