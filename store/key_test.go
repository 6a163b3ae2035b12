package store_test

import (
	"database/sql/driver"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// bagged is a row of a table whose key has two columns.
type bagged struct {
	ID   gameid.Of[bagged] `db:"id"`
	Slot int64             `db:"slot"`
	Note json.RawMessage   `db:"note"`
	From gameid.Of[bagged] `db:"from_id"`
}

const bagColumns = "(id BINARY(10) NOT NULL, slot INT NOT NULL, note BLOB, from_id BINARY(10) NOT NULL"

// A first column that is no key by itself is refused by every method.
func TestKeyOfSeveralColumns(t *testing.T) {
	for _, test := range []struct {
		name, keys string
		want       string // or empty if the table is right
	}{
		{"two", ", PRIMARY KEY (id, slot))", "its primary key is (id, slot)"},
		{"two the other way", ", PRIMARY KEY (slot, id))", "its primary key is (slot, id)"},
		{"another", ", PRIMARY KEY (slot))", "its primary key is (slot)"},
		{"none", ")", "it has no primary key"},
		{"unique with another", ", UNIQUE (id, slot))", "it has no primary key"},
		{"alone", ", PRIMARY KEY (id))", ""},
		{"two, and unique alone", ", PRIMARY KEY (id, slot), UNIQUE (id))", ""},
		{"only unique", ", UNIQUE (id))", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, newDSN func() string) {
				ctx := t.Context()
				bags := store.MustTable[bagged, bagged]("bags")
				db := open(t, newDSN())
				if _, err := bags.Count(ctx, db); err == nil || strings.Contains(err.Error(), "primary key") {
					t.Errorf("of a table that is not there: %v", err)
				}
				exec(t, db, "CREATE TABLE bags "+bagColumns+test.keys)
				id := storetest.ID[bagged](1)
				row := bagged{ID: id, Slot: 1, Note: json.RawMessage("{}"), From: id}
				var after error
				for _, after = range bags.All(ctx, db) {
				}
				for method, err := range map[string]error{
					"Insert":    bags.Insert(ctx, db, row),
					"Update":    bags.Update(ctx, db, row),
					"Get":       storetest.Second(bags.Get(ctx, db, id)),
					"GetMany":   storetest.Second(bags.GetMany(ctx, db, []gameid.Of[bagged]{id})),
					"Where":     storetest.Second(bags.Where(ctx, db, "slot = 1")),
					"One":       storetest.Second(bags.One(ctx, db, "slot = 1")),
					"Lookup":    storetest.Second(bags.Lookup(ctx, db, "of slot 1", "slot = ?", 1)),
					"Count":     storetest.Second(bags.Count(ctx, db)),
					"All":       after,
					"ForUpdate": db.InTx(ctx, func(tx *store.Tx) error { return storetest.Second(bags.GetForUpdate(ctx, tx, id)) }),
					"Delete":    bags.Delete(ctx, db, id),
				} {
					if test.want == "" {
						if err != nil && !strings.Contains(err.Error(), "not found") {
							t.Errorf("%s: %v", method, err)
						}
						continue
					}
					for _, part := range []string{test.want, `table "bags"`, `column "id"`, "bagged"} {
						if err == nil || !strings.Contains(err.Error(), part) {
							t.Errorf("%s: got %v, want %q", method, err, part)
						}
					}
				}
			})
		})
	}
}

// A view has no keys; whether the rows have one each is up to the game.
func TestTableOnView(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		db := open(t, newDSN())
		exec(t, db, "CREATE TABLE more "+bagColumns+", PRIMARY KEY (id))")
		exec(t, db, "CREATE VIEW bags AS SELECT * FROM more")
		n, err := store.MustTable[bagged, bagged]("bags").Count(t.Context(), db)
		if n != 0 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

func TestWhereIn(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		bags := store.MustTable[bagged, bagged]("bags")
		exec(t, db, "CREATE TABLE bags "+bagColumns+", PRIMARY KEY (id))")
		var ids []gameid.Of[bagged]
		for i := range 5 {
			ids = append(ids, storetest.ID[bagged](i))
			must(t, bags.Insert(ctx, db, bagged{ids[i], int64(i), json.RawMessage{'0' + byte(i)}, ids[0]}))
		}
		for _, test := range []struct {
			condition string
			args      []any
			want      []int64
		}{
			{"id IN (?) ORDER BY id", []any{ids[1:4]}, []int64{1, 2, 3}},
			{"id IN (?) AND slot < ? ORDER BY id", []any{ids[1:4], 3}, []int64{1, 2}},
			{"from_id = ? AND id IN (?) AND slot IN (?) ORDER BY id", []any{ids[0], ids, []int64{4, 2}}, []int64{2, 4}},
			{"note = ? AND slot IN (?)", []any{json.RawMessage("3"), []int{3, 4}}, []int64{3}},
			{"note = ? AND slot IN (?)", []any{[]byte("3"), []int{3, 4}}, []int64{3}},
			{"note = ?", []any{json.RawMessage("2")}, []int64{2}},
			{"note = ?", []any{valuer{"1"}}, []int64{1}},
			{"note = ? AND slot IN (?)", []any{valuer{"1"}, []int{1}}, []int64{1}},
		} {
			rows, err := bags.Where(ctx, db, test.condition, test.args...)
			var got []int64
			for _, row := range rows {
				got = append(got, row.Slot)
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s %v: got %v, %v, want %v", test.condition, test.args, got, err, test.want)
			}
		}
		for _, find := range []func(string, ...any) (bagged, error){
			func(condition string, args ...any) (bagged, error) { return bags.One(ctx, db, condition, args...) },
			func(condition string, args ...any) (bagged, error) {
				return bags.Lookup(ctx, db, "in a list", condition, args...)
			},
		} {
			if row, err := find("id IN (?) AND slot > ?", ids[:3], 1); row.Slot != 2 || err != nil {
				t.Errorf("got %+v, %v", row, err)
			}
			if _, err := find("id IN (?)", []gameid.Of[bagged]{}); err == nil || !strings.Contains(err.Error(), "empty slice") {
				t.Errorf("of an empty slice: %v", err)
			}
		}
	})
}

// valuer is a slice that goes into one column.
type valuer []string

func (v valuer) Value() (driver.Value, error) { return []byte(strings.Join(v, ",")), nil }

func TestZeroIDNamesField(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		bags := store.MustTable[bagged, bagged]("bags")
		exec(t, db, "CREATE TABLE bags "+bagColumns+", PRIMARY KEY (id))")
		id := storetest.ID[bagged](1)
		for _, test := range []struct {
			row  bagged
			want string
		}{
			{bagged{From: id}, "bags.id, the field ID of store_test.bagged"},
			{bagged{ID: id}, "bags.from_id, the field From of store_test.bagged"},
		} {
			for _, err := range []error{bags.Insert(ctx, db, test.row), bags.Update(ctx, db, test.row)} {
				is(t, err, []error{gameid.ErrZeroID})
				if err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			}
		}
	})
}
