package worldregistry_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// ofItsOwn is a database of a server without others, whose transactions would be named, too.
func ofItsOwn(t *testing.T) string {
	var args []string
	if !servertest.OnMariaDB(t) { // MySQL tells who waits for whom by its performance schema alone
		args = []string{"--performance-schema=ON"}
	}
	dsn, err := servertest.Private(t, args...).Database(t.Context())
	must(t, err)
	return dsn
}

// A process that is frozen within a transaction with Tx.Guard keeps its successor from
// starting, also after its lease. The error names the connection that has the lock, and after
// that is ended as the error says, the successor starts. Other changes of the row say the same.
func TestRowIsLocked(t *testing.T) {
	ctx := t.Context()
	plain := ofItsOwn(t)
	options := store.NodeOptions{Options: gameid.Options{Window: 4 * time.Second}}
	frozen := withRegistry(t, "mysql:"+plain)
	node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return frozen.OpenNode(ctx, 7, o) }, time.Second)
	defer node.Close()
	tx, err := frozen.Pool().BeginTx(ctx, nil)
	must(t, err)
	defer tx.Rollback()
	must(t, frozen.WithTx(tx).Guard(ctx, node))
	node.Fail(errors.New("frozen")) // it renews its lease no more
	var connection string
	must(t, tx.QueryRow("SELECT CONNECTION_ID()").Scan(&connection))
	db := open(t, "mysql:"+plain)
	storetest.Await(t, "its lease ends", func() bool {
		own, err := storetest.World(db).Server(ctx, 7)
		must(t, err)
		return !own.Leased
	})

	game, err := sql.Open("mysql", plain)
	must(t, err)
	defer game.Close()
	wrapped, err := store.Wrap(ctx, game, store.MySQL)
	must(t, err)
	few := open(t, "mysql:"+servertest.Grant(t, "ALL", plain))
	sees := servertest.Grant(t, "ALL", plain)
	account, _, _ := strings.Cut(sees, ":")
	exec(t, db, "GRANT PROCESS ON *.* TO '"+account+"'@'%'")
	process := open(t, "mysql:"+sees)
	short := func(change func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return change(ctx)
	}
	binary, err := game.Conn(ctx) // bytes that are no text make MySQL's information_schema.PROCESSLIST an error
	must(t, err)
	defer binary.Close()
	running, stop := context.WithCancel(ctx)
	defer stop()
	go binary.ExecContext(running, "SELECT GET_LOCK('binary', 0), SLEEP(60), _binary'\xdd\xce\xff'")
	storetest.Await(t, "the statement runs", func() bool {
		var runs bool
		must(t, game.QueryRow("SELECT IS_USED_LOCK('binary') IS NOT NULL").Scan(&runs))
		return runs
	})
	fence := worldregistry.FenceTo("m", "s1", time.Now())
	named := fmt.Sprintf(`is locked by (the transaction of|one of the following transactions .*) connection %s of "test" at "127.0.0.1:\d+", database "\w+", idle for \d+s.*: KILL (%[1]s|and its number)\b`, connection)
	for _, c := range []struct {
		what string
		try  func() error
		want string
	}{
		{"open", func() error { return storetest.Second(db.OpenNode(ctx, 7, options)) }, named},
		{"game's pool", func() error { return storetest.Second(wrapped.OpenNode(ctx, 7, options)) }, named},
		{"few rights", func() error { return storetest.Second(few.OpenNode(ctx, 7, options)) }, "no right to see.*PROCESS privilege.*INNODB_TRX.*KILL"},
		{"the right PROCESS alone", func() error { return storetest.Second(process.OpenNode(ctx, 7, options)) }, named},
		{"fence", func() error {
			return short(func(ctx context.Context) error { return storetest.World(db).Fence(ctx, 7, fence) })
		}, named},
		{"overwrite", func() error { return short(func(ctx context.Context) error { return take(ctx, db) }) }, named},
	} {
		storetest.Await(t, c.what+" says who has the lock", func() bool {
			err := c.try()
			if err != nil && regexp.MustCompile(c.want).MatchString(err.Error()) {
				return true
			}
			t.Logf("%s: %v, want connection %s", c.what, err, connection) // others on this server, which is busy, had it for a moment
			return false
		})
	}
	if by, err := storetest.World(db).RowLock(ctx, 8); by != "" || err != nil {
		t.Errorf("another row: %q, %v", by, err)
	}
	readOnly := storetest.OpenReadOnly(t, "mysql:"+plain)
	storetest.Await(t, "who has no right to write is told, too", func() bool {
		by, err := storetest.World(readOnly).RowLock(ctx, 7)
		must(t, err)
		return strings.Contains(by, "KILL "+connection)
	})

	exec(t, db, "KILL "+connection)
	storetest.Await(t, "the successor starts", func() bool {
		must(t, storetest.World(db).LiftFence(ctx, 7, "m")) // the fence may come now: its outcome was unknown
		node, err := db.OpenNode(ctx, 7, nodeOptions)
		return err == nil && node.Close() == nil
	})
	if by, err := storetest.World(db).RowLock(ctx, 7); by != "" || err != nil {
		t.Errorf("after that: %q, %v", by, err)
	}
}

// MariaDB gives each transaction without an exclusive lock the number 0: who only reads is never
// named for one that has the lock, and of several that may have it none is named alone.
func TestRowLockNamesNoReader(t *testing.T) {
	ctx := t.Context()
	db := withRegistry(t, "mysql:"+ofItsOwn(t))
	exec(t, db, "CREATE TABLE others (id INT PRIMARY KEY)")
	exec(t, db, "INSERT INTO others VALUES (1), (2)")
	node, err := db.OpenNode(ctx, 7, nodeOptions)
	must(t, err)
	defer node.Close()
	begin := func() (*sqlx.Tx, string) {
		tx, err := sqlx.NewDb(db.Pool(), "mysql").BeginTxx(ctx, nil)
		must(t, err)
		t.Cleanup(func() { tx.Rollback() })
		var connection string
		must(t, tx.Get(&connection, "SELECT CONNECTION_ID()"))
		return tx, connection
	}
	var one int
	reader, reads := begin() // as a backup does, with a snapshot
	must(t, reader.Get(&one, "SELECT MAX(id) FROM others"))
	other, shares := begin()
	must(t, other.Get(&one, "SELECT id FROM others WHERE id = 1 LOCK IN SHARE MODE"))
	frozen, locks := begin()
	must(t, db.WithTx(frozen.Tx).Guard(ctx, node))

	await := func(what string, met func(by string) bool) {
		storetest.Await(t, what, func() bool { // other tests on this server have such transactions, too
			by, err := storetest.World(db).RowLock(ctx, 7)
			must(t, err)
			if names := regexp.MustCompile(`connection ` + reads + ` |KILL (` + reads + `|` + shares + `)\b`).FindString(by); names != "" {
				t.Fatalf("connection %s has the lock, %s and %s have not: %s", locks, reads, shares, by)
			}
			return met(by)
		})
	}
	await("the one or both are named", func(by string) bool {
		alone := strings.HasSuffix(by, "KILL "+locks)
		if !servertest.OnMariaDB(t) {
			return alone
		}
		return !alone && strings.Contains(by, "connection "+locks+" of") && strings.Contains(by, "connection "+shares+" of") &&
			strings.HasSuffix(by, "KILL and its number")
	})
	writer, _ := begin()
	must(t, writer.Get(&one, "SELECT id FROM others WHERE id = 2 FOR UPDATE"))
	waited := make(chan error)
	go func() { waited <- frozen.Get(&one, "SELECT id FROM others WHERE id = 2 LOCK IN SHARE MODE") }()
	await("one that waits itself is named beside the other", func(by string) bool {
		return !servertest.OnMariaDB(t) || strings.Contains(by, "connection "+locks+" of") &&
			strings.HasSuffix(by, "KILL and its number")
	})
	must(t, writer.Rollback())
	must(t, <-waited)
	must(t, other.Rollback())
	await("the one is named", func(by string) bool { return strings.HasSuffix(by, "KILL "+locks) })
	if !servertest.OnMariaDB(t) {
		return
	}

	must(t, frozen.Rollback())
	prepared, err := db.Pool().Conn(ctx)
	must(t, err)
	for _, statement := range []string{"XA START 'game'",
		"UPDATE gameid_servers SET name = 'game' WHERE server_id = 7", "XA END 'game'", "XA PREPARE 'game'"} {
		_, err := prepared.ExecContext(ctx, statement)
		must(t, err)
	}
	must(t, prepared.Raw(func(conn any) error { return conn.(driver.Conn).Close() }))
	await("a prepared transaction is told", func(by string) bool { return strings.Contains(by, "XA RECOVER") })
	storetest.Await(t, "it can be ended", func() bool { _, err := db.Exec(ctx, "XA ROLLBACK 'game'"); return err == nil })
}

func take(ctx context.Context, db *store.DB) error {
	row, err := storetest.World(db).Load(ctx, 7)
	if err != nil {
		return err
	}
	return storetest.World(db).Overwrite(ctx, 7, row, gameid.Claim{Reserved: row.Reserved})
}
