package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// part is a part of a game's tables, as a program uses it.
type part struct {
	name, mark    string
	version       int
	absent        string // what is said of a database without it
	tables        []string
	create, check func(context.Context, *store.DB) error
	insert        func(context.Context, *store.DB) error // a row of the first table
}

var parts = []part{
	{
		"registry", sqldb.RegistryMark, 1, "no registry of servers yet", []string{worldregistry.Table},
		func(ctx context.Context, db *store.DB) error { return db.CreateRegistry(ctx) },
		func(ctx context.Context, db *store.DB) error { return storetest.World(db).Check(ctx) },
		func(ctx context.Context, db *store.DB) error {
			return storetest.Second(storetest.World(db).CompareAndSet(ctx, 7, gameid.Record{}, storetest.Claim))
		},
	},
	{
		"numbers", sqldb.NumbersMark, 1, "no table of short numbers yet", []string{sqldb.NumbersTable},
		func(ctx context.Context, db *store.DB) error { return numbers.Create(ctx, db.Registry()) },
		func(ctx context.Context, db *store.DB) error { return numbers.Check(ctx, db.Registry()) },
		func(ctx context.Context, db *store.DB) error {
			return storetest.Second(db.Exec(ctx, "INSERT INTO gameid_numbers VALUES (7, 'player', 9170005, '', 0)"))
		},
	},
	{
		"starter", sqldb.StarterMark, 1, "no starter tables yet", []string{"players", "items", "guilds", "guild_members"},
		starter.Create, starter.Check,
		func(ctx context.Context, db *store.DB) error { return starter.Players.Insert(ctx, db, player(1)) },
	},
}

// onEachWithParts runs a test for each part on SQLite and on MariaDB.
func onEachWithParts(t *testing.T, test func(t *testing.T, p part, newDSN func() string)) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) { test(t, p, newDSN) })
		}
	})
}

// refused checks that a part is neither made nor used, and why.
func (p part) refused(t *testing.T, db *store.DB, reason string) {
	t.Helper()
	for what, f := range map[string]func(context.Context, *store.DB) error{"create": p.create, "check": p.check} {
		err := f(t.Context(), db)
		s, ok := errors.AsType[*store.SchemaError](err)
		if !ok || !errors.Is(err, store.ErrSchema) || !strings.Contains(s.Reason, reason) {
			t.Errorf("%s: %v, want %q", what, err, reason)
		}
	}
}

// unfit checks that a part cannot be used until it is created.
func (p part) unfit(t *testing.T, db *store.DB, reason string) {
	t.Helper()
	if err := p.check(t.Context(), db); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), reason) {
		t.Errorf("%v, want %q", err, reason)
	}
	if p.mark != sqldb.RegistryMark {
		return
	}
	if _, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions); !errors.Is(err, store.ErrSchema) {
		t.Errorf("OpenNode: %v", err)
	}
}

func TestCreateSchema(t *testing.T) {
	onEachWithParts(t, func(t *testing.T, p part, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		p.unfit(t, db, p.absent)
		exec(t, db, "CREATE TABLE mails (id BINARY(10) NOT NULL PRIMARY KEY)") // of the game itself
		for range 2 {
			must(t, p.create(ctx, db))
			must(t, p.check(ctx, db))
		}
		want := append(slices.Clone(p.tables), sqldb.SchemaTable, "mails")
		slices.Sort(want)
		if got := storetest.TableNames(t, db); !slices.Equal(got, want) {
			t.Errorf("the tables are %v, want %v", got, want)
		}

		// It was interrupted.
		last := p.tables[len(p.tables)-1]
		exec(t, db, "DROP TABLE "+last)
		p.refused(t, db, `the table "`+last+`" is missing: if it was dropped, restore`)
		unfinished := "UPDATE " + sqldb.SchemaTable + " SET version = 0"
		exec(t, db, unfinished)
		p.unfit(t, db, "never completed")
		if last == p.tables[0] {
			must(t, p.create(ctx, db))
			exec(t, db, unfinished)
		}
		must(t, p.insert(ctx, db))
		must(t, p.create(ctx, db))
		must(t, p.check(ctx, db))
		var rows int
		if must(t, db.Get(ctx, &rows, "SELECT COUNT(*) FROM "+p.tables[0])); rows != 1 {
			t.Errorf("finishing the schema left %d rows, want the one that was there", rows)
		}

		for _, version := range []int{-1, p.version + 1, 99} {
			exec(t, db, "UPDATE "+sqldb.SchemaTable+" SET version = ?", version)
			p.refused(t, db, fmt.Sprintf("the tables have version %d but this program knows version %d: use the program that made them, or a new database", version, p.version))
		}
		exec(t, db, "UPDATE "+sqldb.SchemaTable+" SET version = ?, application = 'other'", p.version)
		p.refused(t, db, `belongs to another program, "other"`)

		foreign := open(t, newDSN())
		exec(t, foreign, "CREATE TABLE "+p.tables[0]+" (id INTEGER PRIMARY KEY)")
		p.refused(t, foreign, `a table "`+p.tables[0]+`" that was not made by this program`)
		if got := storetest.TableNames(t, foreign); !slices.Equal(got, p.tables[:1]) {
			t.Errorf("a foreign database now has %v", got)
		}
	})
}

// Several processes may open a new database and make the tables at once, and an account without the right to make
// tables may ask for those that are there.
func TestCreateSchemaAtOnce(t *testing.T) {
	onEachWithParts(t, func(t *testing.T, p part, newDSN func() string) {
		dsn := newDSN()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				db, err := store.Open(t.Context(), dsn)
				if err == nil {
					defer db.Close()
					err = p.create(t.Context(), db)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		must(t, p.check(t.Context(), open(t, dsn)))
		if name, ok := strings.CutPrefix(dsn, "mysql:"); ok {
			must(t, p.create(t.Context(), open(t, "mysql:"+servertest.Grant(t, "SELECT, INSERT, UPDATE, DELETE", name))))
		}
	})
}

// MySQL knows the name of a CHECK once in a database. One of the game's own is not
// taken for one of ours, or the tables would lack what comes with it.
func TestCheckOfTheGame(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		db := open(t, newDSN())
		exec(t, db, "CREATE TABLE mails (number BIGINT, CONSTRAINT players_number CHECK (number > 0))")
		err := starter.Create(t.Context(), db)
		if err == nil {
			must(t, starter.Check(t.Context(), db)) // MariaDB and SQLite know it once in a table
			must(t, starter.Players.Insert(t.Context(), db, player(1)))
			return
		}
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), `the table "mails", which was not made by this program, has a CHECK "players_number": rename it`) {
			t.Error(err)
		}
		exec(t, db, "DROP TABLE mails")
		must(t, starter.Create(t.Context(), db))
		must(t, starter.Check(t.Context(), db))
	})
}

// A part is made and used whatever tables the other parts would have: they may
// be the game's own.
func TestPartsAreIndependent(t *testing.T) {
	onEachWithParts(t, func(t *testing.T, p part, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		for _, other := range parts {
			if other.mark != p.mark {
				exec(t, db, "CREATE TABLE "+other.tables[0]+" (id INTEGER PRIMARY KEY)")
				exec(t, db, "INSERT INTO "+other.tables[0]+" VALUES (42)")
			}
		}
		must(t, p.create(ctx, db))
		must(t, p.check(ctx, db))
		for _, other := range parts {
			if other.mark == p.mark {
				continue
			}
			other.refused(t, db, `a table "`+other.tables[0]+`" that was not made by this program: use another database`)
			var id int
			if must(t, db.Get(ctx, &id, "SELECT id FROM "+other.tables[0])); id != 42 {
				t.Errorf("the row of %s is %d now", other.tables[0], id)
			}
		}
	})
}

// The database of a fleet registry takes no part of a game, nor the other way
// round.
func TestPartsAndFleet(t *testing.T) {
	onEachWithParts(t, func(t *testing.T, p part, newDSN func() string) {
		dsn := newDSN()
		f, err := fleet.Open(dsn)
		must(t, err)
		defer f.Close()
		must(t, f.Create(t.Context()))
		before := storetest.TableNames(t, open(t, dsn))
		p.refused(t, open(t, dsn), "it is the database of a fleet registry, want that of a game")
		if after := storetest.TableNames(t, open(t, dsn)); !slices.Equal(before, after) {
			t.Errorf("the fleet registry now has %v, had %v", after, before)
		}

		game := newDSN()
		must(t, p.create(t.Context(), open(t, game)))
		other, err := fleet.Open(game)
		must(t, err)
		defer other.Close()
		const want = "it is the database of a game, want that of a fleet registry"
		for what, err := range map[string]error{"create": other.Create(t.Context()), "list": storetest.Second(other.List(t.Context()))} {
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
	})
}
