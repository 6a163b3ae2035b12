package store_test

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
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
		{"two", ", PRIMARY KEY (id, slot))", "are [[id slot]]"},
		{"two the other way", ", PRIMARY KEY (slot, id))", "are [[slot id]]"},
		{"another", ", PRIMARY KEY (slot))", "are [[slot]]"},
		{"none", ")", "are []"},
		{"unique with another", ", UNIQUE (id, slot))", "are [[id slot]]"},
		{"alone", ", PRIMARY KEY (id))", ""},
		{"two, and unique alone", ", PRIMARY KEY (id, slot), UNIQUE (id))", ""},
		{"only unique", ", UNIQUE (id))", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, newDSN func() string) {
				ctx := t.Context()
				bags := store.MustTable[gameid.Of[bagged], bagged]("bags")
				db := open(t, newDSN())
				if _, err := bags.Count(ctx, db, "TRUE"); err == nil || strings.Contains(err.Error(), "unique key") {
					t.Errorf("of a table that is not there: %v", err)
				}
				exec(t, db, "CREATE TABLE bags "+bagColumns+test.keys)
				id := storetest.ID[bagged](1)
				row := bagged{ID: id, Slot: 1, Note: json.RawMessage("{}"), From: id}
				var after error
				for _, after = range bags.Each(ctx, db, "TRUE") {
				}
				for method, err := range map[string]error{
					"Insert":      bags.Insert(ctx, db, row),
					"Update":      bags.Update(ctx, db, row, "note"),
					"Get":         storetest.Second(bags.Get(ctx, db, id)),
					"Where":       storetest.Second(bags.Where(ctx, db, "slot = 1")),
					"One":         storetest.Second(bags.One(ctx, db, "slot = 1")),
					"Exists":      storetest.Second(bags.Exists(ctx, db, "slot = 1")),
					"Count":       storetest.Second(bags.Count(ctx, db, "TRUE")),
					"Each":        after,
					"Lock":        db.InTx(ctx, func(tx *store.Tx) error { return storetest.Second(bags.Lock(ctx, tx, id)) }),
					"Delete":      bags.Delete(ctx, db, id),
					"UpdateWhere": storetest.Second(bags.UpdateWhere(ctx, db, "slot = 1", "slot = 1")),
					"DeleteWhere": storetest.Second(bags.DeleteWhere(ctx, db, "slot = 1")),
				} {
					if test.want == "" {
						if err != nil && !strings.Contains(err.Error(), "not found") {
							t.Errorf("%s: %v", method, err)
						}
						continue
					}
					for _, part := range []string{test.want, `table "bags"`, "the key (id) does not identify a row", "bagged"} {
						if err == nil || !strings.Contains(err.Error(), part) {
							t.Errorf("%s: got %v, want %q", method, err, part)
						}
					}
				}
			})
		})
	}
}

// A key of several columns is a struct, which the row may embed.
type slotKey struct {
	ID   gameid.Of[bagged] `db:"id"`
	Slot int64             `db:"slot"`
}

type slot struct {
	slotKey
	Note string `db:"note"`
}

func TestKeyIsStruct(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		exec(t, db, "CREATE TABLE slots (id BINARY(10) NOT NULL, slot INT NOT NULL, note VARCHAR(20), PRIMARY KEY (id, slot))")
		slots := store.MustTable[slotKey, slot]("slots")
		var rows []slot
		for i := range 1234 { // more than two pages, each in the middle of an ID
			rows = append(rows, slot{slotKey{storetest.ID[bagged](i / 300), int64(i)}, "new"})
		}
		must(t, slots.Insert(ctx, db, append(slices.Clone(rows[500:]), rows[:500]...)...))
		for i := range rows[:10] {
			rows[i].Note = "again"
		}
		must(t, slots.Upsert(ctx, db, rows[:10]...))
		rows[10].Note = "changed"
		must(t, slots.Update(ctx, db, rows[10], "note"))
		want := rows[:1150]
		if got := collect(t, slots.Each(ctx, db, "slot = 5 OR slot < 1150")); !slices.Equal(got, want) {
			t.Errorf("got %d other rows, want %d", len(got), len(want))
		}
		must(t, db.InTx(ctx, func(tx *store.Tx) error {
			got, err := slots.Lock(ctx, tx, rows[400].slotKey, rows[7].slotKey)
			if err != nil || got[0] != rows[400] || got[1] != rows[7] {
				t.Errorf("locked %v, %v", got, err)
			}
			return slots.Delete(ctx, tx, rows[7].slotKey)
		}))
		absent := slotKey{rows[0].ID, 400}
		for want, err := range map[string]error{
			fmt.Sprintf("store: slots {%s 400}: not found", absent.ID):      storetest.Second(slots.Get(ctx, db, absent)),
			fmt.Sprintf("store: delete slots {%s 7}: not found", absent.ID): slots.Delete(ctx, db, rows[7].slotKey),
			fmt.Sprintf("store: update slots %s 7: not found", absent.ID):   slots.Update(ctx, db, rows[7], "note"),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if got, err := slots.Get(ctx, db, rows[8].slotKey); err != nil || got != rows[8] {
			t.Errorf("got %v, %v", got, err)
		}
		if _, err := store.MustTable[gameid.Of[bagged], slot]("slots").Get(ctx, db, absent.ID); err == nil || !strings.Contains(err.Error(), "[[id slot]]") {
			t.Errorf("a part of the key: %v", err)
		}
	})
}

// A view has no keys; whether the rows have one each is up to the game.
func TestTableOnView(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		db := open(t, newDSN())
		exec(t, db, "CREATE TABLE more "+bagColumns+", PRIMARY KEY (id))")
		exec(t, db, "CREATE VIEW bags AS SELECT * FROM more")
		n, err := store.MustTable[gameid.Of[bagged], bagged]("bags").Count(t.Context(), db, "TRUE")
		if n != 0 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

func TestWhereIn(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		bags := store.MustTable[gameid.Of[bagged], bagged]("bags")
		exec(t, db, "CREATE TABLE bags "+bagColumns+", PRIMARY KEY (id))")
		var ids []gameid.Of[bagged]
		for i := range 5 {
			ids = append(ids, storetest.ID[bagged](i))
			must(t, bags.Insert(ctx, db, bagged{ids[i], int64(i), json.RawMessage{'0' + byte(i)}, ids[0]}))
		}
		found := func(rows []bagged, err error) (slots []int64) {
			t.Helper()
			must(t, err)
			for _, row := range rows {
				slots = append(slots, row.Slot)
			}
			return slots
		}
		for i, test := range []struct{ got, want []int64 }{
			{found(bags.Where(ctx, db, "id IN (?) ORDER BY id", ids[1:4])), []int64{1, 2, 3}},
			{found(bags.Where(ctx, db, "id IN (?) AND slot < ? ORDER BY id", ids[1:4], 3)), []int64{1, 2}},
			{found(bags.Where(ctx, db, "from_id = ? AND id IN (?) AND slot IN (?) ORDER BY id", ids[0], ids, []int64{4, 2})), []int64{2, 4}},
			{found(bags.Where(ctx, db, "note = ? AND slot IN (?)", json.RawMessage("3"), []int{3, 4})), []int64{3}},
			{found(bags.Where(ctx, db, "note = ? AND slot IN (?)", []byte("3"), []int{3, 4})), []int64{3}},
			{found(bags.Where(ctx, db, "note = ?", json.RawMessage("2"))), []int64{2}},
			{found(bags.Where(ctx, db, "note = ?", valuer{"1"})), []int64{1}},
			{found(bags.Where(ctx, db, "note = ? AND slot IN (?)", valuer{"1"}, []int{1})), []int64{1}},
			{found(collect(t, bags.Each(ctx, db, "id IN (?)", ids[3:])), nil), []int64{3, 4}},
		} {
			if !slices.Equal(test.got, test.want) {
				t.Errorf("condition %d: got %v, want %v", i, test.got, test.want)
			}
		}
		if row, err := bags.One(ctx, db, "id IN (?) AND slot > ?", ids[:3], 1); row.Slot != 2 || err != nil {
			t.Errorf("got %+v, %v", row, err)
		}
		if _, err := bags.One(ctx, db, "id IN (?)", []gameid.Of[bagged]{}); err == nil || !strings.Contains(err.Error(), "empty slice") {
			t.Errorf("of an empty slice: %v", err)
		}
	})
}

// valuer is a slice that goes into one column.
type valuer []string

func (v valuer) Value() (driver.Value, error) { return []byte(strings.Join(v, ",")), nil }

func TestZeroIDNamesField(t *testing.T) {
	onOne(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		bags := store.MustTable[gameid.Of[bagged], bagged]("bags")
		exec(t, db, "CREATE TABLE bags "+bagColumns+", PRIMARY KEY (id))")
		id := storetest.ID[bagged](1)
		for _, test := range []struct {
			row  bagged
			want string
		}{
			{bagged{From: id}, "bags.id of store_test.bagged"},
			{bagged{ID: id}, "bags.from_id of store_test.bagged"},
		} {
			for _, err := range []error{bags.Insert(ctx, db, test.row), bags.Update(ctx, db, test.row, "from_id")} {
				is(t, err, []error{gameid.ErrZeroID})
				if err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			}
		}
	})
}
