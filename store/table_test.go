package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

func TestRowsComeBackAsTheyWere(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		for i, p := range []entity.Player{
			{Account: "a", Name: "x", Level: 1},
			{Account: strings.Repeat("𠮷", entity.MaxAccount), Name: strings.Repeat("𠮷", entity.MaxName), Level: math.MaxInt32, Gold: math.MaxInt64},
			{Account: `'; DROP TABLE players; --`, Name: `Robert'); "\%_` + "`?", Level: 2},
			{Account: "Ünïcode", Name: "👩‍🚀 Śrī", Level: 3},
		} {
			p.ID = storetest.ID[entity.Player](i)
			for _, at := range []time.Time{
				time.UnixMilli(1).UTC(),
				time.Date(2001, 9, 9, 1, 46, 39, 999e6, time.UTC),
				time.Date(2026, 10, 25, 0, 30, 0, 1e6, time.UTC), // an hour that many local times have twice
				time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
			} {
				p.CreatedAt, p.UpdatedAt = at, at
				must(t, starter.Players.Insert(ctx, db, p))
				for name, get := range map[string]func() (entity.Player, error){
					"Get":    func() (entity.Player, error) { return starter.Players.Get(ctx, db, p.ID) },
					"ByName": func() (entity.Player, error) { return starter.Players.ByName(ctx, db, p.Name) },
					"sqlx": func() (got entity.Player, err error) {
						return got, db.Get(ctx, &got, "SELECT * FROM players WHERE id = ?", p.ID)
					},
				} {
					if got, err := get(); err != nil || got != p {
						t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, p)
					}
				}
				must(t, starter.Players.Delete(ctx, db, p.ID))
			}
		}
	})
}

func TestUpdateAndDelete(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		p, other := player(1), player(2)
		must(t, starter.Players.Insert(ctx, db, p, other))
		p.Name, p.Level, p.Gold, p.Account = "New", 9, 99, "else"
		must(t, starter.Players.Update(ctx, db, p, "name", "level", "gold", "account"))
		must(t, starter.Players.Update(ctx, db, p, "name")) // changes nothing, but finds the row
		p.Name = "Newer"
		stale := p
		stale.Gold = 1
		must(t, starter.Players.Update(ctx, db, stale, "name")) // and no gold
		if got, err := starter.Players.Get(ctx, db, p.ID); err != nil || got != p {
			t.Errorf("got %+v, %v, want %+v", got, err, p)
		}
		if got, err := starter.Players.Get(ctx, db, other.ID); err != nil || got != other {
			t.Errorf("the other player became %+v, %v", got, err)
		}
		must(t, starter.Players.Delete(ctx, db, p.ID))
		for what, err := range map[string]error{
			"update": starter.Players.Update(ctx, db, p, "gold"),
			"delete": starter.Players.Delete(ctx, db, p.ID),
			"get":    storetest.Second(starter.Players.Get(ctx, db, p.ID)),
			"name":   storetest.Second(starter.Players.ByName(ctx, db, p.Name)),
			"guild":  storetest.Second(starter.Guilds.ByName(ctx, db, "none")),
			"one":    storetest.Second(starter.Items.One(ctx, db, "count > ?", 1)),
			"value":  db.Get(ctx, new(int), "SELECT level FROM players WHERE id = ?", p.ID),
		} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of what is not there: %v", what, err)
			}
		}
		if n, err := starter.Players.Count(ctx, db, "TRUE"); n != 1 || err != nil {
			t.Errorf("Count = %d, %v, want the other player", n, err)
		}
		_, err := starter.Players.Get(ctx, db, p.ID)
		if want := "store: players " + p.ID.String() + ": not found"; err.Error() != want {
			t.Errorf("the message is %q, want %q", err, want)
		}
	})
}

func TestInsertMany(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, starter.Players.Insert(ctx, db, owner))
		for _, n := range []int{0, 1, 2, store.MaxRows - 1, store.MaxRows, store.MaxRows + 1, 3*store.MaxRows + 7} {
			want := items(n, owner)
			given := slices.Clone(want)
			rand.Shuffle(n, func(i, j int) { given[i], given[j] = given[j], given[i] })
			shuffled := slices.Clone(given)
			must(t, starter.Items.Insert(ctx, db, given...))
			if !slices.Equal(given, shuffled) {
				t.Errorf("%d rows: Insert changed its arguments", n)
			}
			if got := collect(t, starter.Items.Each(ctx, db, "TRUE")); !slices.Equal(got, want) {
				t.Errorf("%d rows: got %d others", n, len(got))
			}
			exec(t, db, "DELETE FROM items")
		}
	})
}

// An Insert is all or nothing, however many statements it takes.
func TestInsertIsAtomic(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, starter.Players.Insert(ctx, db, owner))
		for _, n := range []int{2, store.MaxRows + 1, 3 * store.MaxRows} {
			rows := items(n, owner)
			last := rows[n-1]
			must(t, starter.Items.Insert(ctx, db, last))
			err := starter.Items.Insert(ctx, db, rows...)
			if d, ok := errors.AsType[*store.DuplicateError](err); !ok || d.Table != "items" || d.Key != "PRIMARY" {
				t.Errorf("%d rows: %v", n, err)
			}
			if left, err := starter.Items.Count(ctx, db, "TRUE"); left != 1 || err != nil {
				t.Errorf("%d rows: %d are there after the error, %v, want the one from before", n, left, err)
			}
			must(t, starter.Items.Delete(ctx, db, last.ID))
		}
	})
}

// A trigger that leaves out a row, without an error of its own, leaves none of them.
func TestInsertSkipsNoRow(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		switch db.Dialect() {
		case store.MySQL:
			t.Skip("a trigger of MySQL cannot leave out a row")
		case store.SQLite:
			exec(t, db, "CREATE TRIGGER banned BEFORE INSERT ON players WHEN NEW.name = 'Player 1' BEGIN SELECT RAISE(IGNORE); END")
			exec(t, db, "CREATE TRIGGER failed AFTER INSERT ON players WHEN NEW.name = 'Player 3' BEGIN SELECT RAISE(FAIL, 'failed'); END")
			for _, rows := range [][]entity.Player{{player(3)}, {player(0), player(2), player(3)}} {
				err := starter.Players.Insert(t.Context(), db, rows...)
				if n, _ := starter.Players.Count(t.Context(), db, "TRUE"); err == nil || n != 0 {
					t.Errorf("a trigger that fails: %v, %d of %d rows", err, n, len(rows))
				}
			}
		case store.PostgreSQL:
			exec(t, db, "CREATE FUNCTION nothing() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			exec(t, db, "CREATE TRIGGER banned BEFORE INSERT ON players FOR EACH ROW WHEN (NEW.name = 'Player 1') EXECUTE FUNCTION nothing()")
		}
		own := func(rows ...entity.Player) error { return starter.Players.Insert(t.Context(), db, rows...) }
		within := func(rows ...entity.Player) error {
			return db.InTx(t.Context(), func(tx *store.Tx) error { return starter.Players.Insert(t.Context(), tx, rows...) })
		}
		for _, insert := range []func(...entity.Player) error{own, within} {
			for _, rows := range [][]entity.Player{{player(1)}, {player(0), player(1), player(2)}} {
				want := fmt.Sprintf("reports %d added rows, want %d", len(rows)-1, len(rows))
				if err := insert(rows...); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%d rows: got %v, want %q", len(rows), err, want)
				}
				if n, err := starter.Players.Count(t.Context(), db, "TRUE"); n != 0 || err != nil {
					t.Fatalf("of %d rows %d are there, %v", len(rows), n, err)
				}
			}
		}
		must(t, own(player(0), player(2)))
	})
}

func TestInsertValidates(t *testing.T) {
	onOne(t, func(t *testing.T, newDSN func() string) {
		db := withTables(t, newDSN())
		bad := player(2)
		bad.Gold = -1
		for what, err := range map[string]error{
			"insert": starter.Players.Insert(t.Context(), db, player(1), bad),
			"update": starter.Players.Update(t.Context(), db, bad, "gold"),
		} {
			if f, ok := errors.AsType[*entity.FieldError](err); !ok || f.Field != "gold" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n, _ := starter.Players.Count(t.Context(), db, "TRUE"); n != 0 {
			t.Errorf("%d players were written", n)
		}
	})
}

// A change with a condition says how many rows it changed, and is made by the database: none is lost.
func TestConditions(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		rich, poor := player(5), player(2)
		must(t, starter.Players.Insert(ctx, db, rich, poor))
		var wg sync.WaitGroup
		var paid atomic.Int64
		for range 8 {
			wg.Go(func() {
				must(t, db.InTx(ctx, func(tx *store.Tx) error {
					n, err := starter.Players.UpdateWhere(ctx, tx, "gold = gold - ?", "id = ? AND gold >= ?", 1, rich.ID, 1)
					if err == nil {
						paid.Add(n)
					}
					return err
				}))
			})
		}
		wg.Wait()
		got, err := starter.Players.Get(ctx, db, rich.ID)
		if err != nil || got.Gold != 0 || paid.Load() != 5 {
			t.Errorf("%d of 5 gold are left, %v, %d were paid", got.Gold, err, paid.Load())
		}
		for i, test := range []struct {
			got  any
			want any
		}{
			{storetest.First(starter.Players.Count(ctx, db, "gold > ? OR level = 2", 1)), int64(1)},
			{storetest.First(starter.Players.Exists(ctx, db, "gold > ?", 1)), true},
			{storetest.First(starter.Players.Exists(ctx, db, "gold > ?", 2)), false},
			{storetest.First(starter.Players.UpdateWhere(ctx, db, "updated_at = ?", "id IN (?) OR level = 2", born.Add(999_999), []gameid.Of[entity.Player]{poor.ID})), int64(1)},
			{storetest.First(starter.Players.Get(ctx, db, poor.ID)), poor}, // the time is as it was: whole milliseconds
			{storetest.First(starter.Players.DeleteWhere(ctx, db, "gold = 0 OR gold = ?", 9)), int64(1)},
			{storetest.First(starter.Players.DeleteWhere(ctx, db, "gold = 0")), int64(0)},
			{storetest.First(starter.Players.Count(ctx, db, "TRUE")), int64(1)},
		} {
			if test.got != test.want {
				t.Errorf("%d: got %v, want %v", i, test.got, test.want)
			}
		}
		if err := starter.Players.Update(ctx, db, poor, "name", "nickname"); err == nil || !strings.Contains(err.Error(), `no column "nickname"`) {
			t.Error(err)
		}
	})
}

func TestUpsert(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, starter.Players.Insert(ctx, db, owner))
		rows := items(store.MaxRows+7, owner)
		must(t, starter.Items.Insert(ctx, db, rows[3], rows[5]))
		for i := range rows {
			rows[i].Count = int64(2 * i)
		}
		for range 2 {
			must(t, starter.Items.Upsert(ctx, db, rows...))
		}
		must(t, starter.Items.Upsert(ctx, db, rows[2]))
		if got := collect(t, starter.Items.Each(ctx, db, "TRUE")); !slices.Equal(got, rows) {
			t.Errorf("got %d other rows", len(got))
		}
		is(t, starter.Items.Upsert(ctx, db, rows[2], rows[1], rows[2]), []error{store.ErrInvalid})
		other := player(2)
		other.Name = owner.Name // MySQL would overwrite the row of owner
		if err := starter.Players.Upsert(ctx, db, other); err == nil || !strings.Contains(err.Error(), "another unique key, [n") {
			t.Error(err)
		}
	})
}

// What a player typed is a string, and does not become SQL.
func TestConditionIsConstant(t *testing.T) {
	const head = `package main

import (
	"context"
	"mergesafe/entity"
	"mergesafe/store"
	"mergesafe/store/starter"
)

func f(ctx context.Context, db *store.DB, typed string) {
	players := starter.Players
`
	good := []string{`players.Where(ctx, db, "name = ?", typed)`, `players.UpdateWhere(ctx, db, "name = ?", "TRUE", typed)`}
	bad := []string{
		"players.One(ctx, db, typed)", "players.Where(ctx, db, typed)", "players.Where(ctx, db, `name = '`+typed+`'`)", "players.Each(ctx, db, typed)",
		"players.Count(ctx, db, typed)", "players.Exists(ctx, db, typed)", "players.DeleteWhere(ctx, db, typed)",
		"players.UpdateWhere(ctx, db, typed, `TRUE`)", "players.UpdateWhere(ctx, db, `gold = 1`, typed)",
		"players.Update(ctx, db, entity.Player{}, typed)", "players.Where(ctx, db, store.text(typed))",
	}
	exports, err := osexec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "mergesafe/store/starter").Output()
	must(t, err)
	files := make(map[string]string)
	for line := range strings.Lines(string(exports)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", head+strings.Join(append(good, bad...), "\n")+"\n}\n", 0)
	must(t, err)
	var got []int
	config := types.Config{
		Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }),
		Error:    func(err error) { got = append(got, fset.Position(err.(types.Error).Pos).Line) },
	}
	config.Check("main", fset, []*ast.File{file}, nil)
	var want []int
	for i := range bad {
		want = append(want, strings.Count(head, "\n")+len(good)+i+1)
	}
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("errors in lines %v, want %v", got, want)
	}
}

func TestStream(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, starter.Players.Insert(ctx, db, owner))
		var rows []entity.Item
		// The first page has 100 rows and the second 1000.
		for _, n := range []int{0, 1, 99, 100, 101, 1099, 1100, 1101} {
			more := items(n, owner)[len(rows):]
			must(t, starter.Items.Insert(ctx, db, more...))
			rows = append(rows, more...)
			if got := collect(t, starter.Items.Each(ctx, db, "TRUE")); !slices.Equal(got, rows) {
				t.Errorf("Each of %d rows gave %d", n, len(got))
			}
			if n == 0 {
				continue
			}
			i := rand.IntN(n)
			if got := collect(t, starter.Items.Each(ctx, db, "id > ?", rows[i].ID)); !slices.Equal(got, rows[i+1:]) {
				t.Errorf("Each after row %d of %d gave %d rows", i, n, len(got))
			}
		}
		// A loop may end, and use the session that it reads from.
		must(t, db.InTx(ctx, func(tx *store.Tx) error {
			seen := 0
			for row, err := range starter.Items.Each(ctx, tx, "TRUE") {
				if err != nil {
					return err
				}
				row.Count = -row.Count + 10_000
				if err := starter.Items.Update(ctx, tx, row, "count"); err != nil {
					return err
				}
				if seen++; seen == 500 {
					break
				}
			}
			return nil
		}))
		changed, err := starter.Items.Where(ctx, db, "count > ?", 9000)
		if len(changed) != 500 || err != nil {
			t.Errorf("%d rows were changed, %v, want 500", len(changed), err)
		}
		// An error ends it.
		gone, cancel := context.WithCancel(ctx)
		defer cancel()
		seen := 0
		for _, err := range starter.Items.Each(gone, db, "TRUE") {
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

// A game's own table, with all kinds of columns.
type parcel struct {
	ID     gameid.Of[parcel]           `db:"id"`
	From   *gameid.Of[entity.Player]   `db:"from_id"`
	To     sql.Null[gameid.Of[parcel]] `db:"to_id"`
	Note   *string                     `db:"note"`
	Raw    []byte                      `db:"raw"`
	Tags   tags                        `db:"tags"`
	Open   bool                        `db:"open"`
	Weight float64                     `db:"weight"`
	Size   uint16                      `db:"size"`
	Stamp                              // its columns are ours
	//lint:ignore U1000 a field that is no column
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

var parcels = store.MustTable[gameid.Of[parcel], parcel]("parcels")

func createParcels(t testing.TB, db *store.DB) {
	t.Helper()
	exec(t, db, `CREATE TABLE parcels (id BINARY(10) NOT NULL PRIMARY KEY, from_id BINARY(10), to_id BINARY(10), note TEXT,
		raw LONGBLOB, tags TEXT NOT NULL, open BOOLEAN NOT NULL, weight DOUBLE NOT NULL, size INT NOT NULL,
		at DATETIME(3) NOT NULL)`)
}

// compareIDs lets cmp look at IDs.
var compareIDs = cmp.Options{
	cmp.Comparer(func(a, b gameid.Of[entity.Player]) bool { return a == b }),
	cmp.Comparer(func(a, b gameid.Of[parcel]) bool { return a == b }),
}

func TestOwnTable(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		createParcels(t, db)
		note, from := "hello", storetest.ID[entity.Player](7)
		want := []parcel{
			{ID: storetest.ID[parcel](1), Tags: tags{"a", "b"}, Stamp: Stamp{At: born}},
			{ID: storetest.ID[parcel](2), From: &from, Note: &note, Raw: []byte{0, 1, 255}, Tags: tags{"c"}, Open: true, Weight: 1.5, Size: 65535,
				To: sql.Null[gameid.Of[parcel]]{V: storetest.ID[parcel](1), Valid: true}, Stamp: Stamp{At: born}},
			{ID: storetest.ID[parcel](3), Tags: tags{"d", "e", "f"}, Raw: []byte("x"), Stamp: Stamp{At: born}},
		}
		must(t, parcels.Insert(ctx, db, want...))
		got := collect(t, parcels.Each(ctx, db, "TRUE"))
		if diff := cmp.Diff(want, got, compareIDs, cmp.AllowUnexported(parcel{})); diff != "" {
			t.Error(diff)
		}
		if _, err := parcels.Get(ctx, db, storetest.ID[parcel](9)); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if err := parcels.Insert(ctx, db, parcel{ID: storetest.ID[parcel](4), Stamp: Stamp{At: born}, From: new(gameid.Of[entity.Player])}); !errors.Is(err, gameid.ErrZeroID) {
			t.Errorf("a zero ID was stored: %v", err)
		}
	})
}

// A statement is no larger than what a server takes.
func TestLargeRows(t *testing.T) {
	servertest.Needs(t, servertest.MariaDB) // the one that takes 16 MB, MySQL takes 64
	db := open(t, "mysql:"+servertest.DSN(t))
	createParcels(t, db)
	raw := bytes.Repeat([]byte{'x'}, 300_000)
	var rows []parcel
	for i := range 100 { // 30 MB: more than max_allowed_packet in one piece
		rows = append(rows, parcel{ID: storetest.ID[parcel](i), Raw: raw, Tags: tags{}, Stamp: Stamp{At: born}})
	}
	must(t, parcels.Insert(t.Context(), db, rows...))
	var size int
	must(t, db.Get(t.Context(), &size, "SELECT SUM(LENGTH(raw)) FROM parcels"))
	if size != 100*len(raw) {
		t.Errorf("%d bytes arrived, want %d", size, 100*len(raw))
	}
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
	type bareKey struct {
		ID gameid.ID `db:"id"`
		A  int       `db:"a"`
	}
	type twoOfThem struct {
		ID gameid.Of[parcel] `db:"id"`
		A  int64             `db:"a"`
	}
	type weighed struct {
		Weight float64 `db:"weight"`
	}
	type embedded struct {
		*good
	}
	for want, make := range map[string]func(){
		"":                                   func() { store.MustTable[gameid.Of[parcel], good]("t") },
		"valid for a table":                  func() { store.MustTable[gameid.Of[parcel], good]("a`b") },
		"must be structs":                    func() { store.MustTable[gameid.Of[parcel], int]("t") },
		`field A needs a tag`:                func() { store.MustTable[gameid.Of[parcel], untagged]("t") },
		`two fields have the column "id"`:    func() { store.MustTable[gameid.Of[parcel], twice]("t") },
		"first columns must be those of":     func() { store.MustTable[gameid.Of[parcel], keyLater]("t") },
		"the key, gameid.Of[mergesafe/store": func() { store.MustTable[gameid.Of[parcel], bareKey]("t") },
		"the key, gameid.Of[mergesafe/entit": func() { store.MustTable[gameid.Of[entity.Item], good]("t") },
		"the key, store_test.twoOfThem":      func() { store.MustTable[twoOfThem, good]("t") },
		"a key cannot hold a float64":        func() { store.MustTable[float64, weighed]("t") },
		"embedded":                           func() { store.MustTable[gameid.Of[parcel], embedded]("t") },
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
