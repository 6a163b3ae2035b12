package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/odddsn"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

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
	for _, around := range []string{"", "@", "/", ":", "(", ")", "?", "&", "=", "%", "#", "'", "\"", "\\", "\n",
		"\x00", "@tcp", "//", "/../", " ", "-p", "sqlite:", "\xff"} {
		f.Add(around, "")
		f.Add("", around)
		f.Add(around, around)
	}
	ended, cancel := context.WithCancel(f.Context())
	cancel()
	f.Fuzz(func(t *testing.T, before, after string) {
		if around := before + after; len(around) > 200 || strings.Contains(around, "tcp(") ||
			strings.Contains(around, "unix(") {
			t.Skip() // a password that itself ends a DSN is one address or another
		}
		t.Chdir(t.TempDir())
		for _, dsn := range odddsn.With(before, after) {
			if strings.HasPrefix(dsn, "mysql:g"+before) && strings.Contains(before+after, ":") {
				continue // no one can tell where the name of the account ends
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
			_, err := sqldb.Dial(t.Context(), "mysql:"+dsn, true)
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
	for _, readOnly := range []bool{true, false} {
		_, err := sqldb.Dial(ctx, dsn, readOnly)
		shown += fmt.Sprintf("%v %+v %#v\n", err, err, err)
		if db, err := sqldb.Open(dsn, readOnly); err == nil {
			pool := db.Pool()
			shown += fmt.Sprintf("%v %+v %#v %s %v %+v %#v %#v", db, db, db, db.Place(), pool, pool, pool,
				pool.DB) + fmt.Sprint(db.Ping(ctx))
			db.Close()
		}
	}
	return shown
}
