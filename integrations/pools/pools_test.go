package pools

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // "mysql"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // "sqlite3"
	gormmysql "gorm.io/driver/mysql"
	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
)

// Player and Item are rows of a game, as GORM and Table see them.
type Player struct {
	ID    gameid.Of[Player] `db:"id" gorm:"column:id;type:binary(10);primaryKey"`
	Name  string            `db:"name" gorm:"column:name;size:60;uniqueIndex:name"`
	Level int64             `db:"level" gorm:"column:level"`
}

// TableName implements [gorm/schema.Tabler].
func (Player) TableName() string { return "players" }

// Item belongs to a player. The game counts its items itself.
type Item struct {
	Serial int64             `gorm:"column:serial;primaryKey;autoIncrement"`
	Owner  gameid.Of[Player] `gorm:"column:owner_id;type:binary(10)"`
}

// TableName implements [gorm/schema.Tabler].
func (Item) TableName() string { return "items" }

var players = store.MustTable[gameid.Of[Player], Player]("players")

// server is the server that all tests run.
const server gameid.ServerID = 7

// game is a game's own way to its database: the pool, and a transaction in which
// it writes its own rows and lets over write ours.
type game struct {
	pool *sql.DB
	tx   func(ctx context.Context, owner gameid.Of[Player], over func(*sql.Tx) error) error
}

// glebarez/sqlite cannot be here: its driver has the name "sqlite", as that of
// mergesafe has, and a program that registers both panics when it starts.

// kinds are the ways that games have, by name. Each opens one on a database: the
// DSN of MySQL, or the path of a file.
var kinds = map[string]func(dsn string) (game, error){
	"mysql plain": func(dsn string) (game, error) { return plain("mysql", dsn) },
	"mysql sqlx":  func(dsn string) (game, error) { return overSqlx("mysql", dsn) },
	"mysql gorm":  func(dsn string) (game, error) { return overGORM(gormmysql.Open(dsn), false) },
	"mysql gorm prepared": func(dsn string) (game, error) {
		return overGORM(gormmysql.Open(dsn), true)
	},
	"mysql autocommit=0": func(dsn string) (game, error) { return plain("mysql", withParam(dsn, "autocommit=0")) },
	"sqlite mattn plain": func(path string) (game, error) { return plain("sqlite3", mattn(path)) },
	"sqlite mattn sqlx":  func(path string) (game, error) { return overSqlx("sqlite3", mattn(path)) },
	"sqlite mattn gorm":  func(path string) (game, error) { return overGORM(gormsqlite.Open(mattn(path)), false) },
	"sqlite modernc gorm": func(path string) (game, error) {
		dsn := "file:" + path + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate"
		return overGORM(&gormsqlite.Dialector{DriverName: "sqlite", DSN: dsn}, false)
	},
	"sqlite mattn synchronous=OFF": func(path string) (game, error) { return plain("sqlite3", mattn(path)+"&_synchronous=OFF") },
}

func mattn(path string) string {
	return "file:" + path + "?_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate"
}

func withParam(dsn, param string) string {
	if strings.Contains(dsn, "?") {
		return dsn + "&" + param
	}
	return dsn + "?" + param
}

func dialect(kind string) store.Dialect {
	if strings.HasPrefix(kind, "mysql") {
		return store.MySQL
	}
	return store.SQLite
}

const insertItem = "INSERT INTO items (owner_id) VALUES (?)"

func plain(driver, dsn string) (game, error) {
	pool, err := sql.Open(driver, dsn)
	return game{pool, func(ctx context.Context, owner gameid.Of[Player], over func(*sql.Tx) error) error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, insertItem, owner); err != nil {
			return err
		}
		if err := over(tx); err != nil {
			return err
		}
		return tx.Commit()
	}}, err
}

func overSqlx(driver, dsn string) (game, error) {
	db, err := sqlx.Open(driver, dsn)
	if err != nil {
		return game{}, err
	}
	return game{db.DB, func(ctx context.Context, owner gameid.Of[Player], over func(*sql.Tx) error) error {
		tx, err := db.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, insertItem, owner); err != nil {
			return err
		}
		if err := over(tx.Tx); err != nil {
			return err
		}
		return tx.Commit()
	}}, nil
}

func overGORM(dialector gorm.Dialector, prepared bool) (game, error) {
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard, PrepareStmt: prepared})
	if err != nil {
		return game{}, err
	}
	pool, err := db.DB()
	return game{pool, func(ctx context.Context, owner gameid.Of[Player], over func(*sql.Tx) error) error {
		return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&Item{Owner: owner}).Error; err != nil {
				return err
			}
			switch begun := tx.Statement.ConnPool.(type) {
			case *sql.Tx:
				return over(begun)
			case *gorm.PreparedStmtTX:
				return over(begun.Tx.(*sql.Tx))
			default:
				return fmt.Errorf("GORM has a transaction of type %T", begun)
			}
		})
	}}, err
}

// schema makes the game's own tables.
func schema(ctx context.Context, g game, d store.Dialect) error {
	serial := "serial INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
	if d == store.MySQL {
		serial = "serial INTEGER NOT NULL PRIMARY KEY AUTO_INCREMENT"
	}
	for _, statement := range []string{
		"CREATE TABLE players (id BINARY(10) NOT NULL PRIMARY KEY, name VARCHAR(60) NOT NULL UNIQUE, level INTEGER NOT NULL)",
		"CREATE TABLE items (" + serial + ", owner_id BINARY(10) NOT NULL)",
		"CREATE TABLE guilds (tag VARCHAR(10) NOT NULL PRIMARY KEY)",
	} {
		if _, err := g.pool.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// play mints two IDs, and stores them and an item of the game's own in one
// transaction.
func play(ctx context.Context, g game, db *store.DB, next func() (gameid.Of[Player], error)) ([]gameid.Of[Player], error) {
	rows := make([]Player, 2)
	var ids []gameid.Of[Player]
	for i := range rows {
		id, err := next()
		if err != nil {
			return nil, err
		}
		rows[i] = Player{ID: id, Name: id.String(), Level: int64(i)}
		ids = append(ids, id)
	}
	return ids, g.tx(ctx, ids[0], func(tx *sql.Tx) error { return players.Insert(ctx, db.WithTx(tx), rows...) })
}

func TestPools(t *testing.T) {
	onAll(t, func(t *testing.T, kind, dsn string) {
		ctx := t.Context()
		g := openGame(t, kind, dsn)
		must(t, schema(ctx, g, dialect(kind)))
		seen := make(map[gameid.Of[Player]]bool)
		const runs, each = 3, 20
		for range runs {
			db, err := store.Wrap(ctx, g.pool, dialect(kind))
			must(t, err)
			must(t, db.CreateRegistry(ctx))
			node, err := db.OpenNode(ctx, server, store.NodeOptions{})
			must(t, err)
			for range each {
				ids, err := play(ctx, g, db, gameid.NewGenerator[Player](node).Next)
				must(t, err)
				for _, id := range ids {
					if seen[id] {
						t.Errorf("%s was minted twice", id)
					}
					seen[id] = true
				}
			}
			must(t, node.Close())
			must(t, db.Close())
		}
		db, err := store.Wrap(ctx, g.pool, dialect(kind))
		must(t, err)
		rows, err := players.Where(ctx, db, "level IN (?) ORDER BY id", []int{0, 1})
		if err != nil || len(rows) != 2*runs*each {
			t.Errorf("%d players, %v, want %d", len(rows), err, 2*runs*each)
		}
		var n int
		must(t, g.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM items JOIN players ON id = owner_id").Scan(&n))
		if n != runs*each {
			t.Errorf("%d items, want %d", n, runs*each)
		}
		if got, want := tableNames(t, g, dialect(kind)), []string{"gameid_servers", "guilds", "items", "mergesafe_schema", "players"}; !slices.Equal(got, want) {
			t.Errorf("the tables are %v, want %v", got, want)
		}
		errorsAreKnown(t, db, rows[0])
	})
}

// What a driver's error means is known, whichever driver it is.
func errorsAreKnown(t *testing.T, db *store.DB, there Player) {
	t.Helper()
	ctx := t.Context()
	again := there
	again.Name = "another"
	err := players.Insert(ctx, db, again)
	wantError(t, err, store.ErrDuplicate)
	if key, ok := duplicate(err); !ok || key.Table != "players" || key.Key != "PRIMARY" {
		t.Errorf("a key that is there: %#v of %v", key, err)
	}
	other, err := gameid.Make(there.ID.Time(), 8, 1)
	must(t, err)
	again = Player{ID: gameid.As[Player](other), Name: there.Name}
	err = players.Insert(ctx, db, again)
	wantError(t, err, store.ErrDuplicate)
	if key, ok := duplicate(err); !ok || key.Table != "players" || key.Key != "name" {
		t.Errorf("a name that is there: %#v of %v", key, err)
	}
	_, err = players.Get(ctx, db, again.ID)
	wantError(t, err, store.ErrNotFound)
	wantError(t, players.Update(ctx, db, Player{ID: again.ID, Name: "x"}, "name"), store.ErrNotFound)
	must(t, players.Update(ctx, db, there, "name")) // changes nothing
	_, err = db.Exec(ctx, "INSERT INTO players (id, name, level) VALUES (?, NULL, 1)", again.ID)
	wantError(t, err, store.ErrInvalid)
}

func TestBusyIsRetryable(t *testing.T) {
	for _, kind := range []string{"sqlite mattn plain", "sqlite modernc gorm"} {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			path := filepath.Join(t.TempDir(), "game.db")
			g := openGame(t, kind, path)
			must(t, schema(ctx, g, store.SQLite))
			holder := openGame(t, kind, path)
			tx, err := holder.pool.BeginTx(ctx, nil)
			must(t, err)
			defer tx.Rollback()
			_, err = tx.ExecContext(ctx, "INSERT INTO guilds VALUES ('a')")
			must(t, err)
			conn, err := g.pool.Conn(ctx)
			must(t, err)
			defer conn.Close()
			_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = 1")
			must(t, err)
			_, err = conn.ExecContext(ctx, "INSERT INTO guilds VALUES ('b')")
			wantError(t, store.Translate(err), store.ErrRetryable)
		})
	}
}

// SQLite with a pool of one connection, as is usual with mattn's driver.
func TestOneConnection(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "game.db")
	g, second := openGame(t, "sqlite mattn gorm", path), openGame(t, "sqlite mattn plain", path)
	g.pool.SetMaxOpenConns(1)
	must(t, schema(ctx, g, store.SQLite))
	one, err := store.Wrap(ctx, g.pool, store.SQLite)
	must(t, err)
	must(t, one.CreateRegistry(ctx))
	if _, err := one.OpenNode(ctx, server, store.NodeOptions{}); err == nil || !strings.Contains(err.Error(), "store.WrapTwo") {
		t.Errorf("a pool of one connection: %v", err)
	}
	db, err := store.WrapTwo(ctx, g.pool, second.pool, store.SQLite)
	must(t, err)
	node, err := db.OpenNode(ctx, server, store.NodeOptions{})
	must(t, err)
	defer node.Close()
	owner, err := gameid.NewGenerator[Player](node).Next()
	must(t, err)
	must(t, g.tx(ctx, owner, func(tx *sql.Tx) error { // mints inside the transaction
		id, err := gameid.NewGenerator[Player](node).Next()
		if err != nil {
			return err
		}
		return players.Insert(ctx, db.WithTx(tx), Player{ID: id, Name: "inside"})
	}))
}

func onAll(t *testing.T, test func(t *testing.T, kind, dsn string)) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(kind, func(t *testing.T) {
			dsn := filepath.Join(t.TempDir(), "game.db")
			if dialect(kind) == store.MySQL {
				dsn = mysqlDSN(t)
			}
			test(t, kind, dsn)
		})
	}
}

func mysqlDSN(t *testing.T) string {
	t.Helper()
	return servertest.DSN(t) // or skip
}

func openGame(t *testing.T, kind, dsn string) game {
	t.Helper()
	g, err := kinds[kind](dsn)
	must(t, err)
	t.Cleanup(func() { g.pool.Close() })
	return g
}

func tableNames(t *testing.T, g game, d store.Dialect) (names []string) {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence' ORDER BY name"
	if d == store.MySQL {
		query = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name"
	}
	rows, err := g.pool.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		names = append(names, name)
	}
	must(t, rows.Err())
	return names
}
