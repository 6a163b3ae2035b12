package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

func TestRowsComeBackAsTheyWere(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		for i, p := range []entity.Player{
			{Account: "a", Name: "x", Level: 1},
			{Account: strings.Repeat("𠮷", entity.MaxAccount), Name: strings.Repeat("𠮷", entity.MaxName), Level: math.MaxInt32, Gold: math.MaxInt64},
			{Account: `'; DROP TABLE players; --`, Name: `Robert'); "\%_` + "`?", Level: 2},
			{Account: "Ünïcode", Name: "👩‍🚀 Śrī", Level: 3},
		} {
			p.ID = id[entity.Player](i)
			for _, at := range []time.Time{
				time.UnixMilli(1).UTC(),
				time.Date(2001, 9, 9, 1, 46, 39, 999e6, time.UTC),
				time.Date(2026, 10, 25, 0, 30, 0, 1e6, time.UTC), // an hour that many local times have twice
				time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
			} {
				p.CreatedAt, p.UpdatedAt = at, at
				must(t, store.Players.Insert(ctx, db, p))
				for name, get := range map[string]func() (entity.Player, error){
					"Get":    func() (entity.Player, error) { return store.Players.Get(ctx, db, p.ID) },
					"ByName": func() (entity.Player, error) { return store.Players.ByName(ctx, db, p.Name) },
					"sqlx": func() (got entity.Player, err error) {
						return got, db.Get(ctx, &got, "SELECT * FROM players WHERE id = ?", p.ID)
					},
				} {
					if got, err := get(); err != nil || got != p {
						t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, p)
					}
				}
				must(t, store.Players.Delete(ctx, db, p.ID))
			}
		}
	})
}

func TestUpdateAndDelete(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		p, other := player(1), player(2)
		must(t, store.Players.Insert(ctx, db, p, other))
		p.Name, p.Level, p.Gold, p.Account = "New", 9, 99, "else"
		must(t, store.Players.Update(ctx, db, p))
		must(t, store.Players.Update(ctx, db, p)) // changes nothing, but finds the row
		if got, err := store.Players.Get(ctx, db, p.ID); err != nil || got != p {
			t.Errorf("got %+v, %v, want %+v", got, err, p)
		}
		if got, err := store.Players.Get(ctx, db, other.ID); err != nil || got != other {
			t.Errorf("the other player became %+v, %v", got, err)
		}
		must(t, store.Players.Delete(ctx, db, p.ID))
		for what, err := range map[string]error{
			"update": store.Players.Update(ctx, db, p),
			"delete": store.Players.Delete(ctx, db, p.ID),
			"get":    second(store.Players.Get(ctx, db, p.ID)),
			"name":   second(store.Players.ByName(ctx, db, p.Name)),
			"guild":  second(store.Guilds.ByName(ctx, db, "none")),
			"one":    second(store.Items.One(ctx, db, "count > ?", 1)),
			"value":  db.Get(ctx, new(int), "SELECT level FROM players WHERE id = ?", p.ID),
		} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of what is not there: %v", what, err)
			}
		}
		if n, err := store.Players.Count(ctx, db); n != 1 || err != nil {
			t.Errorf("Count = %d, %v, want the other player", n, err)
		}
		_, err := store.Players.Get(ctx, db, p.ID)
		if want := "store: players " + p.ID.String() + ": not found"; err.Error() != want {
			t.Errorf("the message is %q, want %q", err, want)
		}
	})
}

func second[A any](_ A, err error) error { return err }

func TestLookups(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		ann, bob, cat := player(1), player(2), player(3)
		ann.Account, bob.Account, cat.Account = "x", "y", "x"
		must(t, store.Players.Insert(ctx, db, ann, bob, cat))
		must(t, store.Items.Insert(ctx, db, item(3, ann), item(1, ann), item(2, bob)))
		dawn, dusk := guild(1, ann), guild(2, bob)
		must(t, store.Guilds.Insert(ctx, db, dawn, dusk))
		must(t, store.GuildMembers.Insert(ctx, db, member(cat, dawn), member(ann, dawn), member(bob, dusk)))
		check := func(what string, got any, err error, want any) {
			t.Helper()
			if diff := cmp.Diff(want, got, compareIDs); err != nil || diff != "" {
				t.Errorf("%s: %v\n%s", what, err, diff)
			}
		}
		players, err := store.Players.ByAccount(ctx, db, "x")
		check("ByAccount", players, err, []entity.Player{ann, cat})
		players, err = store.Players.ByAccount(ctx, db, "X")
		check("ByAccount of another case", players, err, []entity.Player(nil))
		got, err := store.Items.OfPlayer(ctx, db, ann.ID)
		check("Items.OfPlayer", got, err, []entity.Item{item(1, ann), item(3, ann)})
		g, err := store.Guilds.ByName(ctx, db, "gUILD 2")
		check("Guilds.ByName", g, err, dusk)
		g, err = store.Guilds.OfPlayer(ctx, db, cat.ID)
		check("Guilds.OfPlayer", g, err, dawn)
		members, err := store.GuildMembers.OfGuild(ctx, db, dawn.ID)
		check("OfGuild", members, err, []entity.GuildMember{member(ann, dawn), member(cat, dawn)})
		m, err := store.GuildMembers.Get(ctx, db, bob.ID)
		check("GuildMembers.Get", m, err, member(bob, dusk))
	})
}

// compareIDs lets cmp look at IDs.
var compareIDs = cmp.Options{
	cmp.Comparer(func(a, b gameid.Of[entity.Player]) bool { return a == b }),
	cmp.Comparer(func(a, b gameid.Of[entity.Item]) bool { return a == b }),
	cmp.Comparer(func(a, b gameid.Of[entity.Guild]) bool { return a == b }),
}

func TestInsertMany(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, store.Players.Insert(ctx, db, owner))
		for _, n := range []int{0, 1, 2, store.MaxRows - 1, store.MaxRows, store.MaxRows + 1, 3*store.MaxRows + 7} {
			want := items(n, owner)
			given := slices.Clone(want)
			rand.Shuffle(n, func(i, j int) { given[i], given[j] = given[j], given[i] })
			shuffled := slices.Clone(given)
			must(t, store.Items.Insert(ctx, db, given...))
			if !slices.Equal(given, shuffled) {
				t.Errorf("%d rows: Insert changed its arguments", n)
			}
			if got := collect(t, store.Items.All(ctx, db)); !slices.Equal(got, want) {
				t.Errorf("%d rows: got %d others", n, len(got))
			}
			exec(t, db, "DELETE FROM items")
		}
	})
}

// An Insert is all or nothing, however many statements it takes.
func TestInsertIsAtomic(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, store.Players.Insert(ctx, db, owner))
		for _, n := range []int{2, store.MaxRows + 1, 3 * store.MaxRows} {
			rows := items(n, owner)
			last := rows[n-1]
			must(t, store.Items.Insert(ctx, db, last))
			err := store.Items.Insert(ctx, db, rows...)
			if d, ok := errors.AsType[*store.DuplicateError](err); !ok || d.Table != "items" || d.Key != "PRIMARY" {
				t.Errorf("%d rows: %v", n, err)
			}
			if left, err := store.Items.Count(ctx, db); left != 1 || err != nil {
				t.Errorf("%d rows: %d are there after the error, %v, want the one from before", n, left, err)
			}
			must(t, store.Items.Delete(ctx, db, last.ID))
		}
	})
}

func TestInsertValidates(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		bad := player(2)
		bad.Gold = -1
		for what, err := range map[string]error{
			"insert": store.Players.Insert(t.Context(), db, player(1), bad),
			"update": store.Players.Update(t.Context(), db, bad),
		} {
			if f, ok := errors.AsType[*entity.FieldError](err); !ok || f.Field != "gold" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n, _ := store.Players.Count(t.Context(), db); n != 0 {
			t.Errorf("%d players were written", n)
		}
	})
}

func TestGetMany(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, store.Players.Insert(ctx, db, owner))
		rows := items(1200, owner)
		must(t, store.Items.Insert(ctx, db, rows...))
		keys := []gameid.Of[entity.Item]{id[entity.Item](5000), rows[3].ID, rows[3].ID}
		for _, row := range rows[100:] {
			keys = append(keys, row.ID)
		}
		got, err := store.Items.GetMany(ctx, db, keys)
		if err != nil || len(got) != 1101 {
			t.Fatalf("got %d rows, %v, want 1101", len(got), err)
		}
		for _, row := range append(rows[100:], rows[3]) {
			if got[row.ID] != row {
				t.Fatalf("got %+v, want %+v", got[row.ID], row)
			}
		}
		if got, err := store.Items.GetMany(ctx, db, nil); len(got) != 0 || err != nil {
			t.Errorf("of no keys: %v, %v", got, err)
		}
	})
}

func collect[R any](t testing.TB, seq func(func(R, error) bool)) (rows []R) {
	t.Helper()
	for row, err := range seq {
		must(t, err)
		rows = append(rows, row)
	}
	return rows
}

func TestStream(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, store.Players.Insert(ctx, db, owner))
		var rows []entity.Item
		// The first page has 100 rows and the second 1000.
		for _, n := range []int{0, 1, 99, 100, 101, 1099, 1100, 1101} {
			more := items(n, owner)[len(rows):]
			must(t, store.Items.Insert(ctx, db, more...))
			rows = append(rows, more...)
			if got := collect(t, store.Items.All(ctx, db)); !slices.Equal(got, rows) {
				t.Errorf("All of %d rows gave %d", n, len(got))
			}
			if n == 0 {
				continue
			}
			i := rand.IntN(n)
			if got := collect(t, store.Items.After(ctx, db, rows[i].ID)); !slices.Equal(got, rows[i+1:]) {
				t.Errorf("After row %d of %d gave %d rows", i, n, len(got))
			}
		}
		// A loop may end, and use the session that it reads from.
		must(t, db.InTx(ctx, func(tx *store.Tx) error {
			seen := 0
			for row, err := range store.Items.All(ctx, tx) {
				if err != nil {
					return err
				}
				row.Count = -row.Count + 10_000
				if err := store.Items.Update(ctx, tx, row); err != nil {
					return err
				}
				if seen++; seen == 500 {
					break
				}
			}
			return nil
		}))
		changed, err := store.Items.Where(ctx, db, "count > ?", 9000)
		if len(changed) != 500 || err != nil {
			t.Errorf("%d rows were changed, %v, want 500", len(changed), err)
		}
		// An error ends it.
		gone, cancel := context.WithCancel(ctx)
		defer cancel()
		seen := 0
		for _, err := range store.Items.All(gone, db) {
			if seen++; seen == 50 {
				cancel()
			}
			if err != nil && (!errors.Is(err, context.Canceled) || seen != 101) {
				t.Errorf("row %d: %v", seen, err)
			}
		}
		if seen != 101 {
			t.Errorf("the loop ran %d times, want 100 rows and an error", seen)
		}
	})
}

func TestNames(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		n := 0
		insert := func(name string) error {
			p := player(n)
			n++
			p.Name = name
			return store.Players.Insert(ctx, db, p)
		}
		for _, name := range []string{"Aria", "Äria2", "🍣", "🍺", "𠮷", "𠮶", strings.Repeat("𠮷", entity.MaxName)} {
			if err := insert(name); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		same := []string{"Aria", "ARIA", "aRiA", "🍣"}
		if db.Dialect() == store.MySQL { // SQLite folds A to Z only, as documented
			same = append(same, "äria2", "Ária", "Ａria")
		}
		for _, name := range same {
			err := insert(name)
			if d, ok := errors.AsType[*store.DuplicateError](err); !ok || d.Table != "players" || d.Key != "name" {
				t.Errorf("%q was not refused as a duplicate of players.name: %v", name, err)
			}
		}
		p, leader := player(0), player(1)
		must(t, store.Guilds.Insert(ctx, db, guild(1, p)))
		again := guild(2, leader)
		again.Name = "GUILD 1"
		if err := store.Guilds.Insert(ctx, db, again); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("a second guild of the same name: %v", err)
		}
	})
}

func TestReferences(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		p, nobody := player(1), player(99)
		must(t, store.Players.Insert(ctx, db, p))
		must(t, store.Items.Insert(ctx, db, item(1, p)))
		must(t, store.Guilds.Insert(ctx, db, guild(1, p)))
		stray := member(p, guild(99, p))
		for what, err := range map[string]error{
			"item of nobody":      store.Items.Insert(ctx, db, item(2, nobody)),
			"guild led by nobody": store.Guilds.Insert(ctx, db, guild(2, nobody)),
			"member of nothing":   store.GuildMembers.Insert(ctx, db, stray),
			"owner deleted":       store.Players.Delete(ctx, db, p.ID),
		} {
			if !errors.Is(err, store.ErrForeignKey) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// What goes past Validate is refused by the database.
func TestConstraints(t *testing.T) {
	onBothWithTables(t, func(t *testing.T, db *store.DB) {
		p := player(1)
		must(t, store.Players.Insert(t.Context(), db, p))
		must(t, store.Guilds.Insert(t.Context(), db, guild(1, p)))
		must(t, store.GuildMembers.Insert(t.Context(), db, member(p, guild(1, p))))
		must(t, store.Items.Insert(t.Context(), db, item(1, p)))
		for _, set := range []string{
			"players SET level = 0", "players SET level = 3000000000", "players SET gold = -1", "players SET gold = NULL",
			"players SET name = ''", "players SET name = '" + strings.Repeat("x", entity.MaxName+1) + "'",
			"players SET account = '" + strings.Repeat("x", entity.MaxAccount+1) + "'",
			"players SET level = 'many'", "players SET created_at = 'yesterday'",
			"items SET count = -1", "items SET template = 0", "guild_members SET `rank` = 'king'", "guilds SET name = NULL",
			"players SET id = x'0102030405060708090a0b'",
		} {
			if _, err := db.Exec(t.Context(), "UPDATE "+set); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s: %v", set, err)
			}
		}
	})
}

// A game's own table, with all kinds of columns.
type parcel struct {
	ID      gameid.Of[parcel]           `db:"id"`
	From    *gameid.Of[entity.Player]   `db:"from_id"`
	To      sql.Null[gameid.Of[parcel]] `db:"to_id"`
	Note    *string                     `db:"note"`
	Raw     []byte                      `db:"raw"`
	Tags    tags                        `db:"tags"`
	Open    bool                        `db:"open"`
	Weight  float64                     `db:"weight"`
	Size    uint16                      `db:"size"`
	Stamp                               // its columns are ours
	scratch int
	Cache   map[string]int `db:"-"`
}

type Stamp struct {
	At time.Time `db:"at"`
}

// tags is JSON in its column; like many such types it reuses what it finds.
type tags []string

func (g *tags) Scan(src any) error {
	switch v := src.(type) {
	case []byte:
		return json.Unmarshal(v, g)
	case string:
		return json.Unmarshal([]byte(v), g)
	}
	return fmt.Errorf("tags: %T", src)
}

func (g tags) Value() (driver.Value, error) { return json.Marshal(g) }

var parcels = store.MustTable[parcel, parcel]("parcels")

func createParcels(t testing.TB, db *store.DB) {
	t.Helper()
	at := "DATETIME"
	if db.Dialect() == store.MySQL {
		at = "DATETIME(3)"
	}
	exec(t, db, `CREATE TABLE parcels (id BINARY(10) NOT NULL PRIMARY KEY, from_id BINARY(10), to_id BINARY(10), note TEXT,
		raw LONGBLOB, tags TEXT NOT NULL, open BOOLEAN NOT NULL, weight DOUBLE NOT NULL, size INT NOT NULL, at `+at+` NOT NULL)`)
}

func TestOwnTable(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		createParcels(t, db)
		note, from := "hello", id[entity.Player](7)
		want := []parcel{
			{ID: id[parcel](1), Tags: tags{"a", "b"}, Stamp: Stamp{At: born}},
			{ID: id[parcel](2), From: &from, Note: &note, Raw: []byte{0, 1, 255}, Tags: tags{"c"}, Open: true, Weight: 1.5, Size: 65535,
				To: sql.Null[gameid.Of[parcel]]{V: id[parcel](1), Valid: true}, Stamp: Stamp{At: born}},
			{ID: id[parcel](3), Tags: tags{"d", "e", "f"}, Raw: []byte("x"), Stamp: Stamp{At: born}},
		}
		must(t, parcels.Insert(ctx, db, want...))
		got := collect(t, parcels.All(ctx, db))
		if diff := cmp.Diff(want, got, compareIDs, cmp.Comparer(func(a, b gameid.Of[parcel]) bool { return a == b }), cmp.AllowUnexported(parcel{})); diff != "" {
			t.Error(diff)
		}
		if _, err := parcels.Get(ctx, db, id[parcel](9)); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if err := parcels.Insert(ctx, db, parcel{ID: id[parcel](4), Stamp: Stamp{At: born}, From: new(gameid.Of[entity.Player])}); !errors.Is(err, gameid.ErrZeroID) {
			t.Errorf("a zero ID was stored: %v", err)
		}
	})
}

// A statement is no larger than what a server takes.
func TestLargeRows(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		db := open(t, newDSN())
		createParcels(t, db)
		raw := bytes.Repeat([]byte{'x'}, 300_000)
		var rows []parcel
		for i := range 100 { // 30 MB: more than max_allowed_packet in one piece
			rows = append(rows, parcel{ID: id[parcel](i), Raw: raw, Tags: tags{}, Stamp: Stamp{At: born}})
		}
		must(t, parcels.Insert(t.Context(), db, rows...))
		var size int
		must(t, db.Get(t.Context(), &size, "SELECT SUM(LENGTH(raw)) FROM parcels"))
		if size != 100*len(raw) {
			t.Errorf("%d bytes arrived, want %d", size, 100*len(raw))
		}
	})
}

func TestMustTable(t *testing.T) {
	type good struct {
		ID gameid.Of[parcel] `db:"id"`
		A  int               `db:"a"`
	}
	type untagged struct {
		ID gameid.Of[parcel] `db:"id"`
		A  int
	}
	type twice struct {
		ID gameid.Of[parcel] `db:"id"`
		A  int               `db:"id"`
	}
	type keyLater struct {
		A  int               `db:"a"`
		ID gameid.Of[parcel] `db:"id"`
	}
	type keyOnly struct {
		ID gameid.Of[parcel] `db:"id"`
	}
	type bareKey struct {
		ID gameid.ID `db:"id"`
		A  int       `db:"a"`
	}
	type embedded struct {
		*good
	}
	for want, make := range map[string]func(){
		"":                                  func() { store.MustTable[parcel, good]("t") },
		"fit for a table":                   func() { store.MustTable[parcel, good]("a`b") },
		"must be structs":                   func() { store.MustTable[parcel, int]("t") },
		`field A needs a tag`:               func() { store.MustTable[parcel, untagged]("t") },
		`two fields have the column "id"`:   func() { store.MustTable[parcel, twice]("t") },
		"first column must be the key, of":  func() { store.MustTable[parcel, keyLater]("t") },
		"no column but the key":             func() { store.MustTable[parcel, keyOnly]("t") },
		"of type gameid.Of[mergesafe/store": func() { store.MustTable[parcel, bareKey]("t") },
		"of type gameid.Of[mergesafe/entit": func() { store.MustTable[entity.Item, good]("t") },
		"embedded":                          func() { store.MustTable[parcel, embedded]("t") },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) || want == "" && got != "<nil>" {
					t.Errorf("got panic %q, want %q", got, want)
				}
			}()
			make()
		})
	}
}
