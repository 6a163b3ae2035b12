package sqldb_test

import (
	"context"
	"database/sql"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

// A parameter of a DSN that would have a session otherwise than this program
// needs it is an error that names it, without its value. One that says the same, or is about
// something else, is none.
func TestParametersThatFight(t *testing.T) {
	for parameter, name := range map[string]string{
		"autocommit=0": "autocommit", "autocommit=OFF": "autocommit", "@@autocommit=0": "autocommit", "@@session.autocommit=0": "autocommit",
		"SESSION autocommit=0": "autocommit", "AutoCommit=0": "autocommit",
		"transaction_read_only=1": "transaction_read_only", "tx_read_only=ON": "tx_read_only", "completion_type=1": "completion_type", "completion_type=%27CHAIN%27": "completion_type",
		"foreign_key_checks=0": "foreign_key_checks", "unique_checks=0": "unique_checks",
		"sql_mode=%27%27": "sql_mode", "sql_mode=%27STRICT_ALL_TABLES%27": "sql_mode",
		"time_zone=%27%2B05%3A00%27": "time_zone", "time_zone=SYSTEM": "time_zone",
		"tx_isolation=%27SERIALIZABLE%27": "tx_isolation", "transaction_isolation=%27READ-COMMITTED%27": "transaction_isolation",
		"sql_safe_updates=1": "sql_safe_updates", "max_statement_time=1": "max_statement_time", "max_execution_time=1000": "max_execution_time",
		"sql_select_limit=10": "sql_select_limit", "charset=gbk": "charset", "charset=utf8mb4,gbk": "charset", "charset=utf8mb4&charset=latin1": "charset",
		"collation=gbk_chinese_ci": "collation", "character_set_client=gbk": "character_set_client",
		"character_set_results=latin1": "character_set_results", "character_set_connection=gbk": "character_set_connection",
	} {
		_, err := sqldb.Open("mysql:game:s3cr3t@tcp(db1:3306)/s1?"+parameter, sqldb.ReadWrite)
		if err == nil || !strings.Contains(err.Error(), "the DSN sets "+name+", but this program needs ") || !strings.Contains(err.Error(), "remove it from the DSN") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", parameter, err)
		}
	}
	readOnly, err := sqldb.Open("mysql:game:s3cr3t@tcp(db1:3306)/s1?transaction_read_only=1", sqldb.ReadOnly)
	if err != nil {
		t.Errorf("a pool that is read-only may be told so: %v", err)
	} else {
		readOnly.Close()
	}
	for _, parameter := range []string{
		"autocommit=1", "autocommit=ON", "time_zone=%27%2B00:00%27", "charset=utf8mb4", "charset=utf8mb4,utf8", "collation=utf8mb4_bin", "max_statement_time=0",
		"tx_isolation=%27REPEATABLE-READ%27", "timeout=5s&tls=true", "wait_timeout=100", "parseTime=true&loc=UTC",
	} {
		db, err := sqldb.Open("mysql:game:s3cr3t@tcp(db1:3306)/s1?"+parameter, sqldb.ReadWrite)
		if err != nil {
			t.Errorf("%s: %v", parameter, err)
			continue
		}
		db.Close()
	}
}

// settingsOf reads all settings of one connection.
func settingsOf(t *testing.T, d sqldb.Dialect, q interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}) map[string]string {
	t.Helper()
	has := make(map[string]string)
	query := "SELECT 'busy_timeout', timeout FROM pragma_busy_timeout UNION SELECT 'synchronous', synchronous FROM pragma_synchronous"
	if d == sqldb.MySQL {
		query = "SHOW SESSION VARIABLES"
	}
	rows, err := q.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name, value string
		must(t, rows.Scan(&name, &value))
		if name != "timestamp" && !strings.HasPrefix(name, "last_") && name != "rand_seed1" && name != "rand_seed2" && name != "error_count" && name != "pseudo_thread_id" {
			has[name] = value
		}
	}
	must(t, rows.Err())
	return has
}

// On a pool of the game's own, what uniqueness rests on has the right settings,
// and the game has its own again, whatever happened between.
func TestGuardedPool(t *testing.T) {
	t.Run("mysql", func(t *testing.T) {
		onMariaDB := servertest.OnMariaDB(t)
		pool, err := sql.Open("mysql", servertest.DSN(t)+servertest.Settings(onMariaDB, "?autocommit=0&completion_type=2&sql_mode=%27ANSI_QUOTES%27&time_zone=%27%2B05:00%27&tx_isolation=%27READ-UNCOMMITTED%27&"+
			"sql_safe_updates=1&sql_select_limit=3&sql_big_selects=0&max_statement_time=100&tx_read_only=1&foreign_key_checks=0&unique_checks=0"))
		must(t, err)
		testGuarded(t, pool, sqldb.MySQL, map[string]string{
			"autocommit": "ON", "completion_type": "NO_CHAIN", "time_zone": "+00:00", servertest.Settings(onMariaDB, "tx_isolation"): "REPEATABLE-READ", "sql_safe_updates": "OFF",
			"sql_select_limit": "18446744073709551615", servertest.Settings(onMariaDB, "max_statement_time"): map[bool]string{true: "0.000000", false: "0"}[onMariaDB], "foreign_key_checks": "ON", "unique_checks": "ON", "sql_big_selects": "ON",
			servertest.Settings(onMariaDB, "tx_read_only"): "OFF",
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "game.db")+"?_pragma=synchronous(OFF)&_pragma=busy_timeout(0)")
		must(t, err)
		testGuarded(t, pool, sqldb.SQLite, map[string]string{"synchronous": "2", "busy_timeout": "5000"})
	})
}

// A session of the game's pool may be in another database: the game, a proxy or
// init_connect led it there. What uniqueness rests on stays in that of the pool.
func TestGuardedPoolStaysInItsDatabase(t *testing.T) {
	ctx := t.Context()
	pool, err := sql.Open("mysql", servertest.DSN(t))
	must(t, err)
	defer pool.Close()
	pool.SetMaxOpenConns(1) // so it is the same connection
	adopted, err := sqldb.Adopt(ctx, pool, sqldb.MySQL)
	must(t, err)
	db := adopted.Guarded()
	place, other := db.String(), dial(t, "mysql:"+servertest.DSN(t)).String()
	other = other[strings.LastIndex(other, "/")+1:]
	for _, in := range []string{place[strings.LastIndex(place, "/")+1:], other} {
		_, err = pool.ExecContext(ctx, "USE "+in)
		must(t, err)
		_, err := db.Exec(ctx, "CREATE TABLE IF NOT EXISTS guarded (id INT PRIMARY KEY)")
		must(t, err)
		must(t, db.Change(ctx, "test", func(tx *sqldb.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO guarded SELECT COUNT(*) FROM guarded")
			return err
		}))
		var rows int
		must(t, db.Get(ctx, &rows, "SELECT COUNT(*) FROM guarded"))
		var now string
		must(t, pool.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&now))
		if want := map[bool]int{false: 1, true: 2}[in == other]; rows != want || now != in {
			t.Errorf("from %s: %d rows, want %d; the game is in %s", in, rows, want, now)
		}
	}
}

func testGuarded(t *testing.T, pool *sql.DB, d sqldb.Dialect, want map[string]string) {
	defer pool.Close()
	pool.SetMaxOpenConns(1) // so it is the same connection
	ctx := t.Context()
	before := settingsOf(t, d, pool)
	adopted, err := sqldb.Adopt(ctx, pool, d)
	must(t, err)
	db := adopted.Guarded()
	unchanged := func(after string) {
		t.Helper()
		if now := settingsOf(t, d, pool); !maps.Equal(before, now) {
			for name, was := range before {
				if now[name] != was {
					t.Errorf("after %s the game has %s = %s, had %s", after, name, now[name], was)
				}
			}
		}
	}
	check := func(on interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}) {
		t.Helper()
		has := settingsOf(t, d, on)
		for name, value := range want {
			if has[name] != value {
				t.Errorf("guarded: %s is %s, want %s", name, has[name], value)
			}
		}
	}
	must(t, db.Change(ctx, "test", func(tx *sqldb.Tx) error {
		check(tx.Begun())
		_, err := tx.Exec(ctx, "CREATE TABLE guarded (id INT PRIMARY KEY)")
		return err
	}))
	unchanged("a change")
	for i := range 5 {
		_, err := db.Exec(ctx, "INSERT INTO guarded VALUES (?)", i)
		must(t, err)
	}
	unchanged("statements")
	var all []int
	must(t, db.Select(ctx, &all, "SELECT id FROM guarded"))
	if len(all) != 5 {
		t.Errorf("%d rows of 5: the limit of the game's session holds", len(all))
	}
	unchanged("a query")
	if err := db.Change(ctx, "test", func(tx *sqldb.Tx) error { return context.Canceled }); err == nil {
		t.Error("no error")
	}
	unchanged("an error")
	func() {
		defer func() { recover() }()
		db.Change(ctx, "test", func(*sqldb.Tx) error { panic("a bug") })
	}()
	unchanged("a panic")
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	db.Change(short, "test", func(tx *sqldb.Tx) error { <-short.Done(); return short.Err() })
	unchanged("a context that ended")
}

// A statement of a tool does not wait a day for whoever has locked a table: it fails with an error that is tried again, and
// told. A limit of the DSN that is shorter stays, and a game's sessions are as the server has them.
func TestLockWaitEnds(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		dsn := "mysql:" + servertest.DSN(t)
		more := "&"
		if !strings.Contains(dsn, "?") {
			more = "?"
		}
		for _, test := range []struct {
			dial func(ctx context.Context, dsn string, access sqldb.Access) (*sqldb.DB, error)
			dsn  string
			want string
		}{
			{sqldb.Dial, dsn, "10 10"},
			{sqldb.Dial, dsn + more + "lock_wait_timeout=3&innodb_lock_wait_timeout=4", "3 4"},
			{sqldb.DialGame, dsn, "as the server"},
		} {
			for _, access := range []sqldb.Access{sqldb.ReadWrite, sqldb.ReadOnly, sqldb.WriteExisting} {
				db, err := test.dial(t.Context(), test.dsn, access)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				var got, server string
				err = db.Get(t.Context(), &got, "SELECT CONCAT(@@SESSION.lock_wait_timeout, ' ', @@SESSION.innodb_lock_wait_timeout)")
				if err == nil {
					err = db.Get(t.Context(), &server, "SELECT CONCAT(@@GLOBAL.lock_wait_timeout, ' ', @@GLOBAL.innodb_lock_wait_timeout)")
				}
				if err != nil {
					t.Fatal(err)
				}
				want := strings.Replace(test.want, "as the server", server, 1)
				if got != want {
					t.Errorf("access %d: a session waits %s s for a table and a row, want %s", access, got, want)
				}
			}
		}
	})
}
