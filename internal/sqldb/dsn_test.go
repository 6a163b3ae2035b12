package sqldb_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

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
		if _, err := sqldb.Dial(ctx, dsn, false); err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
			t.Errorf("Dial(%q): %v", dsn, err)
		}
	}
}

// Whatever the password, wherever it stands in what is meant to be a DSN, and
// whatever of the DSN is missing: it does not show, neither in what is printed of
// the DSN and the pool, nor in an error of opening it.
func FuzzRedact(f *testing.F) {
	for _, around := range []string{"", "@", "/", ":", "(", ")", "?", "&", "=", "%", "%zz", "#", "'", "\"", "\\", "\n", "\x00", "@tcp", "(127.0.0.1:1)/a", "//", "tcp(h)/", "?charset=", "/?sql_mode=", "?x=/", "sqlite:", "\xff"} {
		f.Add(around, "")
		f.Add("", around)
		f.Add(around, around)
	}
	ended, cancel := context.WithCancel(f.Context())
	cancel()
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hUnt3r2Zq"
		password := before + secret + after
		whole := []string{
			"mysql:u:" + password + "@tcp(127.0.0.1:1)/d", "mysql:u:" + password + "@unix(/no/such.sock)/d", "mysql:u:" + password + "@tcp(127.0.0.1:1)/d?timeout=1s",
		}
		broken := []string{
			"mysql:u:" + password, "mysql:u:" + password + "@tcp(127.0.0.1:1)", "mysql:u:" + password + "@/d", "mysql:u:" + password + "@127.0.0.1/d", "mysql:u:x@" + password + "(127.0.0.1:1)/d",
			"mysql://u:" + password + "@127.0.0.1:1/d", "u:" + password + "@tcp(127.0.0.1:1)/d", "postgres://u:" + password + "@h/d", "sqlite://u:" + password + "@h/d",
			"sqlite:u:" + password + "@tcp(127.0.0.1:1)/d", "sqlite:u:" + password + "@h/d", "sqlite:u:" + password, "sqlite:" + password + "@tcp(127.0.0.1:1)/d",
		}
		// A password that itself ends a DSN is one address or another.
		if !strings.Contains(before, "tcp(") && !strings.Contains(before, "unix(") {
			whole = append(whole, broken...)
		}
		for _, dsn := range whole {
			shown := []string{sqldb.Redact(dsn)}
			if _, err := sqldb.Dial(ended, dsn, false); err != nil {
				shown = append(shown, fmt.Sprintf("%v %+v %#v", err, err, err))
			}
			if db, err := sqldb.Open(dsn, true); err == nil {
				pool := db.Pool()
				shown = append(shown, fmt.Sprintf("%v %+v %#v %s %v %+v %#v %#v", db, db, db, db.Place(), pool, pool, pool, pool.DB), fmt.Sprint(db.Ping(ended)))
				db.Close()
			}
			for _, text := range shown {
				if strings.Contains(text, secret) {
					t.Errorf("%q shows the password: %s", dsn, text)
				}
			}
		}
	})
}

// A parameter that is named like a part of the account is refused before the
// server could quote it. Its value is not shown, nor is the rest of its name.
func TestSecretParameters(t *testing.T) {
	for _, name := range []string{"password", "Passwd", "pwd", "PASS", "user", "uid", "@@session.password", "s3cr3t_password", "token", "secret"} {
		_, err := sqldb.Open("mysql:tcp(db1:3306)/s1?"+name+"=s3cr3t", false)
		if err == nil || !strings.Contains(err.Error(), "belong before the address") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An address of IPv6 without brackets is told from a host and its port: the driver would take it for the name of a host.
func TestBareIPv6(t *testing.T) {
	for address, want := range map[string]string{"::1:34500": "[::1]:34500", "fe80::2:3306": "[fe80::2]:3306"} {
		_, err := sqldb.Open("mysql:g:s3cr3t@tcp("+address+")/s1", false)
		if err == nil || !strings.HasSuffix(err.Error(), "the port of an IPv6 address comes after brackets: want tcp("+want+")") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if db, err := sqldb.Open("mysql:g:s3cr3t@tcp([::1]:34500)/s1", false); err != nil {
		t.Error(err)
	} else {
		db.Close()
	}
}
