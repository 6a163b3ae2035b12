// Package world is the game of the story: it makes a world whose keys count from 1, and plays on in the merged one.
package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Today is the day on which the story happens: heroes were seen up to 200 days before.
var Today = time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)

// The tables of a game as they are found: AUTOINCREMENT keys, one table that continues
// another's key, references that nothing declares, a column that means nobody by 0, a
// number that means a hero only in mails of kind 0, and a counter kept in a row.
var schema = []string{
	`CREATE TABLE heroes (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, level INTEGER NOT NULL, gold INTEGER NOT NULL,
		account INTEGER NOT NULL, seen INTEGER NOT NULL, banned INTEGER NOT NULL)`,
	"CREATE TABLE stats (hero INT NOT NULL PRIMARY KEY, wins INTEGER NOT NULL)",
	"CREATE TABLE items (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, template INTEGER NOT NULL)",
	"CREATE TABLE spells (hero INTEGER NOT NULL, spell INTEGER NOT NULL, PRIMARY KEY (hero, spell))",
	"CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, sender INTEGER NOT NULL, receiver INTEGER NOT NULL, item INTEGER NOT NULL)",
	"CREATE TABLE seq (name TEXT NOT NULL PRIMARY KEY, next INTEGER NOT NULL)",
}

// Remove deletes the file of a database, if it exists, with the -wal and -shm of it.
func Remove(file string) error {
	for _, old := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Make makes a world in which players came and went, by what its name sows.
func Make(ctx context.Context, file, name string, heroes int) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := Remove(file); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, query, args...)
		}
	}
	for _, s := range schema {
		exec(s)
	}
	random := rand.New(rand.NewPCG(uint64(heroes), 1))
	for id := range heroes {
		exec("INSERT INTO heroes VALUES (?, ?, ?, ?, ?, ?, ?)", id+1, fmt.Sprintf("%s%c%c", name, 'a'+id/26%26, 'a'+id%26), 1+random.IntN(60), 100_000+random.IntN(900_000),
			900_000+id%60, Today.Unix()-86400*int64(id*7%200), id%50/49)
		exec("INSERT INTO stats VALUES (?, ?)", id+1, 1_000_000+random.IntN(1000))
		exec("INSERT INTO spells VALUES (?, ?), (?, ?)", id+1, 70_133, id+1, 70_200+random.IntN(50))
		for range 3 {
			exec("INSERT INTO items (owner, template) VALUES (?, ?)", id+1, 90_000+random.IntN(500))
		}
		exec("INSERT INTO mail (kind, sender, receiver, item) VALUES (0, ?, ?, ?), (5, ?, ?, 0)", 1+random.IntN(heroes), id+1, 3*id+1, 1+random.IntN(90), id+1)
	}
	// Heroes who left, with what belongs to them, but for mails that they had written.
	exec("DELETE FROM heroes WHERE id % 10 = 3")
	exec("DELETE FROM stats WHERE hero NOT IN (SELECT id FROM heroes)")
	exec("DELETE FROM spells WHERE hero NOT IN (SELECT id FROM heroes)")
	exec("DELETE FROM items WHERE owner NOT IN (SELECT id FROM heroes) OR id % 7 = 5")
	exec("DELETE FROM mail WHERE receiver NOT IN (SELECT id FROM heroes)")
	exec("INSERT INTO seq VALUES ('item', (SELECT MAX(id) + 1 FROM items))")
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Play lets a hero be born in the merged world, find an item whose number comes from the
// game's own counter, and send it to the hero who was once somebody else's first.
func Play(ctx context.Context, file string, friend int64) (hero, item int64, err error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback()
	ask := func(to *int64, query string, args ...any) {
		if err == nil {
			err = tx.QueryRowContext(ctx, query, args...).Scan(to)
		}
	}
	var mail int64
	ask(&hero, "INSERT INTO heroes (name, level, gold, account, seen, banned) VALUES ('newborn', 1, 0, 900001, 0, 0) RETURNING id")
	ask(&item, "UPDATE seq SET next = next + 1 WHERE name = 'item' RETURNING next - 1")
	ask(&item, "INSERT INTO items VALUES (?, ?, 90001) RETURNING id", item, hero)
	ask(&mail, "INSERT INTO mail (kind, sender, receiver, item) VALUES (0, ?, ?, ?) RETURNING id", hero, friend, item)
	if err != nil {
		return 0, 0, err
	}
	return hero, item, tx.Commit()
}
