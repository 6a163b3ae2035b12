package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// Mail is a kind of row that this game adds.
type Mail struct {
	ID   gameid.Of[Mail]          `db:"id"`
	To   gameid.Of[entity.Player] `db:"to_id"`
	Text string                   `db:"text"`
	Sent time.Time                `db:"sent"` // entity.Time(time.Now()): UTC, in milliseconds
}

// Validate is called before a mail is written.
func (m Mail) Validate() error {
	if m.Text == "" {
		return errors.New("the mail is empty")
	}
	return nil
}

// mails is the table, and createMails makes it, in MySQL as in SQLite.
var mails = store.MustTable[gameid.Of[Mail], Mail]("mails")

const createMails = `CREATE TABLE IF NOT EXISTS mails (
	id    BINARY(10)   NOT NULL PRIMARY KEY,
	to_id BINARY(10)   NOT NULL,
	text  VARCHAR(500) NOT NULL,
	sent  DATETIME(3)  NOT NULL,
	FOREIGN KEY (to_id) REFERENCES players (id)
)`

// A game adds a table of its own: the struct of a row, one line for the
// table, and the statement that makes it.
func Example_ownTable() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "s1.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(db.CreateRegistry(ctx), starter.Create(ctx, db)); err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(ctx, createMails); err != nil {
		log.Fatal(err)
	}
	node, err := db.OpenNode(ctx, 7, store.NodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()

	hero := entity.Player{Account: "acc-1", Name: "Aria", Level: 1, CreatedAt: born, UpdatedAt: born}
	hero.ID, err = gameid.NewGenerator[entity.Player](node).Next()
	if err != nil {
		log.Fatal(err)
	}
	ids := make([]gameid.Of[Mail], 2)
	if err := gameid.NewGenerator[Mail](node).Fill(ids); err != nil {
		log.Fatal(err)
	}
	err = db.InTx(ctx, func(tx *store.Tx) error {
		if err := starter.Players.Insert(ctx, tx, hero); err != nil {
			return err
		}
		return mails.Insert(ctx, tx,
			Mail{ID: ids[0], To: hero.ID, Text: "Welcome!", Sent: born},
			Mail{ID: ids[1], To: hero.ID, Text: "Your first quest", Sent: born},
		)
	})
	if err != nil {
		log.Fatal(err)
	}
	inbox, err := mails.Where(ctx, db, "to_id = ? ORDER BY id", hero.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range inbox {
		fmt.Println(m.Text, m.Sent)
	}
	// Output:
	// Welcome! 2026-11-21 03:04:05.678 +0000 UTC
	// Your first quest 2026-11-21 03:04:05.678 +0000 UTC
}

// A game that exists keeps its database, its pool and its tables. IDs are minted
// beside them, and rows of both are written in the game's own transaction.
func ExampleWrap() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pool, err := sql.Open("sqlite", filepath.Join(dir, "game.db")) // or what the ORM opened
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	for _, statement := range []string{
		"CREATE TABLE players (name TEXT NOT NULL PRIMARY KEY, gold INTEGER NOT NULL)",
		"CREATE TABLE receipts (id BINARY(10) NOT NULL PRIMARY KEY, paid INTEGER NOT NULL)",
		"INSERT INTO players VALUES ('Aria', 100)",
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}

	db, err := store.Wrap(ctx, pool, store.SQLite)
	if err != nil {
		log.Fatal(err)
	}
	if err := db.CreateRegistry(ctx); err != nil {
		log.Fatal(err)
	}
	node, err := db.OpenNode(ctx, 7, store.NodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()

	id, err := gameid.NewGenerator[Receipt](node).Next()
	if err != nil {
		log.Fatal(err)
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Rollback()
	paid, err := purses.UpdateWhere(ctx, db.WithTx(tx), "gold = gold - ?", "name = ? AND gold >= ?", 30, "Aria", 30)
	if err != nil || paid == 0 {
		log.Fatal(paid, err)
	}
	if err := receipts.Insert(ctx, db.WithTx(tx), Receipt{ID: id, Paid: 30}); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	aria, err := purses.Get(ctx, db, "Aria")
	fmt.Println(aria.Gold, err)
	// Output: 70 <nil>
}

// Purse is what the example needs of a player, whose key is the name. A Receipt has an ID.
type (
	Purse struct {
		Name string `db:"name"`
		Gold int64  `db:"gold"`
	}
	Receipt struct {
		ID   gameid.Of[Receipt] `db:"id"`
		Paid int64              `db:"paid"`
	}
)

var purses = store.MustTable[string, Purse]("players")

var receipts = store.MustTable[gameid.Of[Receipt], Receipt]("receipts")
