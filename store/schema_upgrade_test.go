package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"mergesafe/number"
	"mergesafe/store"
)

// A database of the first version is brought to the present one, and its rows
// stay, whoever starts and however often that was broken off.
func TestSchemaUpgrade(t *testing.T) {
	const oldRow = "INSERT INTO players (id, account, name, level, gold, created_at, updated_at) VALUES (?, 'a', 'Aria', 1, 0, ?, ?)"
	old := func(t *testing.T, dsn string) *store.DB {
		db := open(t, dsn)
		must(t, db.CreateSchemaVersion(t.Context(), 1))
		exec(t, db, oldRow, player(1).ID, born, born)
		return db
	}
	check := func(t *testing.T, db *store.DB) {
		t.Helper()
		must(t, db.CheckSchema(t.Context()))
		p, err := store.Players.Get(t.Context(), db, player(1).ID)
		must(t, err)
		if p.Name != "Aria" || p.Number != 0 || !p.CreatedAt.Equal(born) {
			t.Errorf("the row of the old version is %+v", p)
		}
		p.Number = 10_084_213
		must(t, store.Players.Update(t.Context(), db, p))
		ran(t, db, 7)
		take(t, share(t, db).open(t, store.NumbersOptions{}), 1)
	}
	onBoth(t, func(t *testing.T, newDSN func() string) {
		t.Run("once", func(t *testing.T) {
			db := old(t, newDSN())
			err := db.CheckSchema(t.Context())
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "the tables have version 1 and this program needs version 2: start a game server of this version") {
				t.Errorf("before: %v", err)
			}
			if _, err := db.OpenNode(t.Context(), 7, nodeOptions); !errors.Is(err, store.ErrSchema) {
				t.Errorf("OpenNode before: %v", err)
			}
			must(t, db.CreateSchema(t.Context()))
			check(t, db)
			must(t, db.CreateSchema(t.Context()))
			fresh := withTables(t, newDSN())
			if got, want := describe(t, db), describe(t, fresh); got != want {
				t.Errorf("the tables are not those of a new database:\n%s\nand\n%s", got, want)
			}
		})
		t.Run("broken off", func(t *testing.T) {
			db := old(t, newDSN())
			if err := db.UpgradeSchema(t.Context()); !errors.Is(err, store.ErrUnavailable) {
				t.Fatal(err)
			}
			if err := db.CheckSchema(t.Context()); !errors.Is(err, store.ErrSchema) {
				t.Errorf("after it was broken off: %v", err)
			}
			exec(t, db, strings.Replace(oldRow, "'Aria'", "'Bea'", 1), player(2).ID, born, born) // an old program runs on
			must(t, db.CreateSchema(t.Context()))
			check(t, db)
		})
		t.Run("by several", func(t *testing.T) {
			dsn := newDSN()
			old(t, dsn)
			var wg sync.WaitGroup
			for range 4 {
				db := open(t, dsn)
				wg.Go(func() {
					if err := db.CreateSchema(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			check(t, open(t, dsn))
		})
	})
}

// describe returns the statements that make the tables.
func describe(t testing.TB, db *store.DB) string {
	t.Helper()
	var all []string
	if db.Dialect() == store.SQLite {
		must(t, db.Select(t.Context(), &all, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"))
		return strings.Join(all, "\n")
	}
	for _, name := range store.Tables() {
		var row struct {
			Table string `db:"Table"`
			SQL   string `db:"Create Table"`
		}
		must(t, db.Get(t.Context(), &row, "SHOW CREATE TABLE "+name))
		all = append(all, row.SQL)
	}
	return strings.Join(all, "\n")
}

func TestPlayerNumbers(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		a, b, c := player(1), player(2), player(3)
		a.Number, b.Number = 10_084_213, number.Max
		must(t, store.Players.Insert(ctx, db, a, b, c, player(4))) // any number of players have none
		for _, p := range []number.Number{a.Number, b.Number} {
			got, err := store.Players.ByNumber(ctx, db, p)
			if err != nil || got.Number != p || got != a && got != b {
				t.Errorf("%d: got %+v, %v", p, got, err)
			}
		}
		for _, none := range []number.Number{10_084_214, 0} {
			if got, err := store.Players.ByNumber(ctx, db, none); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%d: got %+v, %v", none, got, err)
			}
		}
		c.Number = a.Number
		err := store.Players.Update(ctx, db, c)
		if d, ok := errors.AsType[*store.DuplicateError](err); !ok || d.Key != "number" {
			t.Errorf("a number that another has: %v", err)
		}
		for _, bad := range []int64{0, -1, int64(number.Max) + 1} {
			if _, err := db.Exec(ctx, "UPDATE players SET number = ? WHERE id = ?", bad, c.ID); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("the column takes %d: %v", bad, err)
			}
		}
		inUse := store.Players.NumbersIn(db)
		for _, test := range []struct{ first, last, want number.Number }{
			{1, number.Max, number.Max}, {1, number.Max - 1, 10_084_213}, {10_084_213, 10_084_213, 10_084_213}, {10_084_214, 20_000_000, 0},
		} {
			if got, err := inUse(ctx, test.first, test.last); got != test.want || err != nil {
				t.Errorf("%+v: got %d, %v", test, got, err)
			}
		}
	})
}
