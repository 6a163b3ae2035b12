package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// Mail is a kind of row that this game adds.
type Mail struct {
	ID   gameid.Of[Mail]          `db:"id"`
	To   gameid.Of[entity.Player] `db:"to_id"`
	Text string                   `db:"text"`
}

// Validate is called before a mail is written.
func (m Mail) Validate() error {
	if m.Text == "" {
		return errors.New("the mail is empty")
	}
	return nil
}

// mails is the table, and createMails makes it, in MySQL as in SQLite.
var mails = store.MustTable[Mail, Mail]("mails")

const createMails = `CREATE TABLE IF NOT EXISTS mails (
	id    BINARY(10)   NOT NULL PRIMARY KEY,
	to_id BINARY(10)   NOT NULL,
	text  VARCHAR(500) NOT NULL,
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
	if err := db.CreateSchema(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(ctx, createMails); err != nil {
		log.Fatal(err)
	}
	node, err := db.OpenNode(ctx, 7, gameid.Options{})
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
		if err := store.Players.Insert(ctx, tx, hero); err != nil {
			return err
		}
		return mails.Insert(ctx, tx,
			Mail{ID: ids[0], To: hero.ID, Text: "Welcome!"},
			Mail{ID: ids[1], To: hero.ID, Text: "Your first quest"},
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
		fmt.Println(m.Text)
	}
	// Output:
	// Welcome!
	// Your first quest
}
