package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

// A game that exists: its tables have the names of our starter tables and other
// columns.
type character struct {
	ID   gameid.Of[character] `db:"char_id"`
	Name string               `db:"name"`
}

var characters = store.MustTable[gameid.Of[character], character]("players")

var gameTables = []string{
	"CREATE TABLE players (char_id BINARY(10) NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)",
	"CREATE TABLE items (serial INTEGER NOT NULL PRIMARY KEY, what VARCHAR(40) NOT NULL)",
	"CREATE TABLE guilds (tag VARCHAR(10) NOT NULL PRIMARY KEY)",
}

// gamePool is a pool as a game opens it, in a database with tables of its own.
type gamePool struct {
	dialect store.Dialect
	open    func(t *testing.T, params string) *sql.DB
}

func onGamePools(t *testing.T, test func(t *testing.T, game gamePool)) {
	made := func(t *testing.T, game gamePool) {
		pool := game.open(t, "")
		for _, statement := range gameTables {
			storetest.Must(t, storetest.Second(pool.ExecContext(t.Context(), statement)))
		}
		test(t, game)
	}
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "game.db")
		made(t, gamePool{store.SQLite, func(t *testing.T, params string) *sql.DB {
			pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)"+params)
			must(t, err)
			t.Cleanup(func() { pool.Close() })
			return pool
		}})
	})
	t.Run("mysql", func(t *testing.T) {
		dsn := servertest.DSN(t)
		made(t, gamePool{store.MySQL, func(t *testing.T, params string) *sql.DB {
			cfg, err := mysql.ParseDSN(dsn + "?" + strings.TrimPrefix(params, "&"))
			must(t, err)
			connector, err := mysql.NewConnector(cfg)
			must(t, err)
			pool := sql.OpenDB(connector)
			t.Cleanup(func() { pool.Close() })
			return pool
		}})
	})
}

func TestWrap(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		ctx := t.Context()
		pool := game.open(t, "")
		db, err := store.Wrap(ctx, pool, game.dialect)
		must(t, err)
		for range 2 {
			must(t, db.CreateRegistry(ctx))
		}
		if got, want := storetest.TableNames(t, db), []string{"gameid_servers", "guilds", "items", "mergesafe_schema", "players"}; !slices.Equal(got, want) {
			t.Errorf("the tables are %v, want %v", got, want)
		}
		var ids []gameid.Of[character]
		for run := range 3 {
			db, err := store.Wrap(ctx, pool, game.dialect)
			must(t, err)
			node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
			must(t, err)
			if _, err := db.OpenNode(ctx, 7, storetest.NodeOptions); err == nil {
				t.Error("a second node of the server was opened")
			}
			next := gameid.NewGenerator[character](node).Next
			row := func(how string) character {
				id, err := next()
				must(t, err)
				return character{id, fmt.Sprintf("%s %d", how, run)}
			}

			tx, err := pool.BeginTx(ctx, nil)
			must(t, err)
			one := row("sql")
			must(t, storetest.Second(tx.ExecContext(ctx, "INSERT INTO items VALUES (?, 'sword')", run)))
			must(t, characters.Insert(ctx, db.WithTx(tx), one))
			must(t, tx.Commit())

			txx, err := sqlx.NewDb(pool, "x").BeginTxx(ctx, nil)
			must(t, err)
			two := row("sqlx")
			must(t, storetest.Second(txx.ExecContext(ctx, "INSERT INTO guilds VALUES (?)", fmt.Sprint("tag", run))))
			must(t, characters.Insert(ctx, db.WithTx(txx.Tx), two))
			if got, err := characters.Lock(ctx, db.WithTx(txx.Tx), two.ID); err != nil || got[0] != two {
				t.Errorf("within the transaction: %v, %v", got, err)
			}
			must(t, txx.Commit())

			gone, err := pool.BeginTx(ctx, nil)
			must(t, err)
			must(t, characters.Insert(ctx, db.WithTx(gone), row("rolled back")))
			must(t, gone.Rollback())

			ids = append(ids, one.ID, two.ID)
			must(t, node.Close())
			must(t, db.Close())
			must(t, pool.PingContext(ctx)) // still open
		}
		got, err := characters.Where(ctx, db, "char_id IN (?) ORDER BY char_id", ids)
		if err != nil || len(got) != len(ids) {
			t.Errorf("got %v, %v, want %d rows", got, err, len(ids))
		}
		if n, err := characters.Count(ctx, db, "TRUE"); n != int64(len(ids)) || err != nil {
			t.Errorf("%d rows, %v, want %d", n, err, len(ids))
		}
	})
}

// What names the database in messages comes from the server, and has no secret.
func TestWrapName(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		ctx := t.Context()
		db, err := store.Wrap(ctx, game.open(t, ""), game.dialect)
		must(t, err)
		must(t, db.CreateRegistry(ctx))
		want := "mysql:tcp("
		if game.dialect == store.SQLite {
			want = "sqlite:/"
		}
		for _, name := range []string{db.String(), db.Registry().String(), storetest.World(db).Place(), fmt.Sprintf("%#v", db)} {
			if !strings.Contains(name, want) || strings.Contains(name, "@") || strings.Contains(name, "secret") {
				t.Errorf("the name is %q, want %q…", name, want)
			}
		}

		worlds := storetest.NewFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"))
		must(t, storetest.Second(worlds.Claim(ctx, "s7", 1, fleet.Note{})))
		member, err := worlds.Join(ctx, storetest.World(db), 1, worldregistry.NodeOptions(storetest.NodeOptions), fleet.Options{Name: "s7"})
		must(t, err)
		servers, err := worlds.List(ctx)
		must(t, err)
		if len(servers) != 1 || servers[0].Place != storetest.World(db).Place() {
			t.Errorf("the fleet registry has %+v, want the place %q", servers, storetest.World(db).Place())
		}
		must(t, member.Close())

		must(t, numbers.Create(ctx, db.Registry()))
		seq, err := numbers.Open(ctx, db.Registry(), 1, "players", numbers.Options{})
		must(t, err)
		for range 100 {
			must(t, storetest.Second(seq.Next(ctx)))
		}
		must(t, seq.Close())
	})
}

func TestWrapRefuses(t *testing.T) {
	ctx := t.Context()
	wants := func(err error, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want %q", err, part)
			}
		}
	}
	openSQLite := func(dsn string) *sql.DB {
		pool, err := sql.Open("sqlite", dsn)
		must(t, err)
		t.Cleanup(func() { pool.Close() })
		return pool
	}
	path := filepath.Join(t.TempDir(), "a.db")
	one := openSQLite(path)
	one.SetMaxOpenConns(1)
	wants(storetest.Second(store.Wrap(ctx, nil, store.SQLite)), "nil")
	wants(storetest.Second(store.Wrap(ctx, openSQLite(path), "oracle")), `unknown dialect "oracle"`)
	wants(storetest.Second(store.Wrap(ctx, openSQLite(path), store.MySQL)), "not for a mysql database")
	wants(storetest.Second(store.Wrap(ctx, openSQLite(":memory:"), store.SQLite)), "in memory")
	wants(storetest.Second(store.WrapTwo(ctx, one, openSQLite(filepath.Join(t.TempDir(), "b.db")), store.SQLite)), "two databases", "a.db", "b.db")

	noDatabase, err := mysql.ParseDSN(servertest.DSN(t)) // or skip
	must(t, err)
	noDatabase.DBName = ""
	connector, err := mysql.NewConnector(noDatabase)
	must(t, err)
	pool := sql.OpenDB(connector)
	defer pool.Close()
	wants(storetest.Second(store.Wrap(ctx, pool, store.MySQL)), "no database selected")
	wants(storetest.Second(store.Wrap(ctx, pool, store.SQLite)), "not for a sqlite database")
}

// The pool of one connection that is usual for SQLite, beside one of the
// registry: minting inside a transaction waits for nothing.
func TestWrapTwo(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		ctx := t.Context()
		pool, second := game.open(t, ""), game.open(t, "")
		pool.SetMaxOpenConns(1)
		db, err := store.WrapTwo(ctx, pool, second, game.dialect)
		must(t, err)
		must(t, db.CreateRegistry(ctx))
		node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
		must(t, err)
		next := gameid.NewGenerator[character](node).Next
		must(t, db.InTx(ctx, func(tx *store.Tx) error {
			for i := range 100 {
				id, err := next()
				if err != nil {
					return err
				}
				if err := characters.Insert(ctx, tx, character{id, fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		}))
		if n, err := characters.Count(ctx, db, "TRUE"); n != 100 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
		must(t, node.Close())
		must(t, db.Close())
		must(t, errors.Join(pool.PingContext(ctx), second.PingContext(ctx)))
	})
}

// Whatever a pool's sessions are set to, the registry works, and they are the
// same after it.
func TestWrapKeepsSettings(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		settings := map[string]string{
			"durable":        "&_pragma=synchronous(OFF)",
			"does not wait":  "&_pragma=busy_timeout(0)",
			"both":           "&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(7)",
			"as they should": "&_pragma=synchronous(EXTRA)",
		}
		onMariaDB := game.dialect == store.MySQL && servertest.OnMariaDB(t)
		if game.dialect == store.MySQL {
			settings = map[string]string{
				"autocommit":       "&autocommit=0",
				"sql_mode":         "&sql_mode=%27ANSI_QUOTES,NO_BACKSLASH_ESCAPES%27",
				"no sql_mode":      "&sql_mode=%27%27",
				"time_zone":        "&time_zone=%27%2B09:30%27",
				"no rows":          "&sql_select_limit=0",
				"one row":          "&sql_select_limit=1",
				"collation":        "&charset=latin1&collation=latin1_german2_ci",
				"results":          "&character_set_results=NULL",
				"isolation":        "&" + servertest.Settings(onMariaDB, "tx_isolation") + "=%27READ-UNCOMMITTED%27",
				"safe updates":     "&sql_safe_updates=1",
				"unchecked":        "&foreign_key_checks=0&unique_checks=0",
				"no time":          "&" + servertest.Settings(onMariaDB, "max_statement_time") + "=7",
				"clientFoundRows":  "&clientFoundRows=true&parseTime=true&interpolateParams=true",
				"many of them":     "&autocommit=0&time_zone=%27-03:00%27&sql_select_limit=2&sql_mode=%27PIPES_AS_CONCAT%27",
				"as they should":   "",
				"multi statements": "&multiStatements=true",
			}
		}
		for i, name := range slices.Sorted(maps.Keys(settings)) {
			t.Run(name, func(t *testing.T) {
				ctx := t.Context()
				pool := game.open(t, settings[name])
				pool.SetMaxOpenConns(2)
				pool.SetMaxIdleConns(2)
				before := sessions(t, pool, game.dialect, onMariaDB)
				db, err := store.Wrap(ctx, pool, game.dialect)
				must(t, err)
				must(t, db.CreateRegistry(ctx))
				server := gameid.ServerID(i + 1)
				node, err := db.OpenNode(ctx, server, storetest.NodeOptions)
				if err != nil {
					t.Fatal(err)
				}
				var last gameid.Of[character]
				for range 1000 {
					last, err = gameid.NewGenerator[character](node).Next()
					must(t, err)
				}
				// In a session of autocommit=0 as well, and with no row to see.
				must(t, characters.Insert(ctx, db, character{last, name}))
				must(t, node.Close())
				if after := sessions(t, pool, game.dialect, onMariaDB); !slices.EqualFunc(before, after, maps.Equal) {
					t.Errorf("the settings were\n%v\nand are\n%v", before, after)
				}
				pool.Close()

				other, err := store.Wrap(ctx, game.open(t, ""), game.dialect)
				must(t, err)
				if got, err := characters.Get(ctx, other, last); got.Name != name || err != nil {
					t.Errorf("another pool sees %v, %v", got, err)
				}
				row, err := storetest.World(other).Server(ctx, server)
				if err != nil || row.Epoch < 2 || row.Leased || row.Reserved == 0 {
					t.Errorf("another pool sees the row %+v, %v", row, err)
				}
			})
		}
	})
}

// sessions returns the settings of both connections of a pool, and which
// connections they are.
func sessions(t *testing.T, pool *sql.DB, d store.Dialect, onMariaDB bool) (all []map[string]string) {
	t.Helper()
	ctx := t.Context()
	for range 2 {
		conn, err := pool.Conn(ctx)
		must(t, err)
		defer conn.Close()
		has := make(map[string]string)
		names := []string{"busy_timeout", "synchronous", "foreign_keys", "journal_mode"}
		prefix, suffix := "PRAGMA ", ""
		if d == store.MySQL {
			prefix, suffix = "SELECT @@session.", " LIMIT 1"
			names = []string{"autocommit", "completion_type", "foreign_key_checks", "unique_checks", "sql_safe_updates", "sql_select_limit", "time_zone", "sql_mode",
				"character_set_client", "character_set_connection", "collation_connection", "character_set_results",
				servertest.Settings(onMariaDB, "tx_isolation"), servertest.Settings(onMariaDB, "max_statement_time"), "pseudo_thread_id"}
		}
		for _, name := range names {
			var value sql.NullString
			must(t, conn.QueryRowContext(ctx, prefix+name+suffix).Scan(&value))
			has[name] = fmt.Sprint(value)
		}
		all = append(all, has)
	}
	slices.SortFunc(all, func(a, b map[string]string) int { return strings.Compare(a["pseudo_thread_id"], b["pseudo_thread_id"]) })
	return all
}

// In a pool that chains transactions, what the game writes after one would be lost.
func TestWrapRefusesChains(t *testing.T) {
	ctx := t.Context()
	for value, name := range map[string]string{"1": "CHAIN", "2": "RELEASE"} {
		pool, err := sql.Open("mysql", servertest.DSN(t)+"?completion_type="+value)
		must(t, err)
		defer pool.Close()
		_, err = store.Wrap(ctx, pool, store.MySQL)
		if err == nil || !strings.Contains(err.Error(), "completion_type = "+name+",") ||
			!strings.Contains(err.Error(), "SET GLOBAL completion_type = 'NO_CHAIN'") {
			t.Errorf("%s: %v", name, err)
		}
		reg, err := registry.Open(ctx, pool, store.MySQL) // sets what it needs
		must(t, err)
		must(t, reg.Create(ctx))
		node, err := reg.OpenNode(ctx, 7, storetest.NodeOptions)
		must(t, err)
		must(t, node.Close())
	}
}

// An update that changes nothing finds its row, although MySQL does not count it.
func TestWrapUpdate(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		ctx := t.Context()
		db, err := store.Wrap(ctx, game.open(t, ""), game.dialect)
		must(t, err)
		row := character{storetest.ID[character](1), "Aria"}
		must(t, characters.Insert(ctx, db, row))
		must(t, characters.Update(ctx, db, row, "name"))
		must(t, db.InTx(ctx, func(tx *store.Tx) error { return characters.Update(ctx, tx, row, "name") }))
		change := func(s store.Session) error {
			n, err := characters.UpdateWhere(ctx, s, "name = CONCAT(?, '')", "char_id IN (?) AND name <> ? OR name = ?",
				row.Name, []gameid.Of[character]{row.ID}, "?", row.Name)
			if n != 1 || err != nil {
				t.Errorf("changed %d rows, %v, want 1", n, err)
			}
			return nil
		}
		must(t, change(db))
		must(t, db.InTx(ctx, func(tx *store.Tx) error { return change(tx) }))
		must(t, db.InTxOnce(ctx, func(tx *store.Tx) error {
			if game.dialect != store.MySQL {
				return nil // a transaction that has read cannot write what others changed
			}
			must(t, storetest.Second(characters.Get(ctx, tx, row.ID)))
			must(t, characters.Delete(ctx, db, row.ID))
			must(t, storetest.Second(characters.Get(ctx, tx, row.ID))) // as its snapshot has it
			err := characters.Update(ctx, tx, row, "name")
			if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRetryable) { // MariaDB from 11.6 on
				t.Errorf("of a row that is gone: %v", err)
			}
			return nil
		}))
		row.ID = storetest.ID[character](2)
		is(t, characters.Update(ctx, db, row, "name"), []error{store.ErrNotFound})
		is(t, characters.Delete(ctx, db, row.ID), []error{store.ErrNotFound})
	})
}

// A transaction that a pool of the game's own begins without the lock of the file has it when a row is locked.
func TestWrapLockSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.db")
	type row struct {
		ID   int64 `db:"id"`
		Gold int64 `db:"gold"`
	}
	rows := store.MustTable[int64, row]("rows")
	open := func() *store.DB {
		pool, err := sql.Open("sqlite", "file:"+path)
		must(t, err)
		t.Cleanup(func() { pool.Close() })
		db, err := store.Wrap(t.Context(), pool, store.SQLite)
		must(t, err)
		return db
	}
	db, other := open(), open()
	exec(t, db, "CREATE TABLE rows (id BIGINT NOT NULL PRIMARY KEY, gold BIGINT NOT NULL)")
	must(t, rows.Insert(t.Context(), db, row{1, 100}))
	must(t, db.InTx(t.Context(), func(tx *store.Tx) error {
		if _, err := rows.Lock(t.Context(), tx, 1); err != nil {
			return err
		}
		if _, err := rows.UpdateWhere(t.Context(), other, "gold = 0", "id = ?", 1); err == nil {
			t.Error("another connection changed the row that is locked")
		}
		return nil
	}))
}
