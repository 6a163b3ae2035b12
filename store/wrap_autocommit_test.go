package store_test

import (
	"fmt"
	"testing"

	"mergesafe/store"
	"mergesafe/store/storetest"
)

// In a pool of autocommit=0 each read sees what others have committed, and leaves
// no transaction open that would hold locks.
func TestWrapReadsWithoutAutocommit(t *testing.T) {
	onGamePools(t, func(t *testing.T, game gamePool) {
		if game.dialect != store.MySQL {
			return // it has no such setting
		}
		ctx := t.Context()
		other := game.open(t, "&lock_wait_timeout=2")
		pool := game.open(t, "&autocommit=0")
		pool.SetMaxOpenConns(1)
		db, err := store.WrapTwo(ctx, pool, game.open(t, ""), game.dialect)
		must(t, err)
		for i, read := range []func(character) error{
			func(c character) error { return storetest.Second(characters.Get(ctx, db, c.ID)) },
			func(c character) error { return storetest.Second(characters.One(ctx, db, "name = ?", c.Name)) },
			func(c character) error {
				var name string
				return db.Get(ctx, &name, "SELECT name FROM players WHERE char_id = ?", c.ID)
			},
			func(c character) error {
				var names []string
				err := db.Select(ctx, &names, "SELECT name FROM players WHERE char_id = ?", c.ID)
				if err == nil && len(names) == 0 {
					err = store.ErrNotFound
				}
				return err
			},
			func(c character) error {
				for row, err := range characters.Each(ctx, db, "TRUE") {
					if err != nil || row == c {
						return err
					}
				}
				return store.ErrNotFound
			},
		} {
			row := character{storetest.ID[character](i + 1), string(rune('a' + i))}
			is(t, read(row), []error{store.ErrNotFound})
			must(t, storetest.Second(other.ExecContext(ctx, "INSERT INTO players VALUES (?, ?)", row.ID, row.Name)))
			if err := read(row); err != nil {
				t.Errorf("read %d does not see what was committed: %v", i, err)
			}
			if _, err := other.ExecContext(ctx, fmt.Sprintf("ALTER TABLE players COMMENT = '%d'", i)); err != nil {
				t.Errorf("read %d holds a lock: %v", i, err)
			}
		}
	})
}
