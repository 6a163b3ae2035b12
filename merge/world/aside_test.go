package world_test

import (
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The rows that a scan hands aside are those that a merge reads. Only scans of all rows hand them aside, until one came to
// its end.
func TestReadAside(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		d := e.database(t, "CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, n INTEGER, name VARCHAR(20), raw VARBINARY(20), f DOUBLE, day DATE, at TIME, price DECIMAL(9,2))",
			"INSERT INTO things VALUES (1, -5, 'ä', x'00ff', 0.1, '2026-01-02', '10:11:12', 1.50), (2, NULL, '', x'', -0.0, NULL, NULL, NULL), (9007199254740993, 7, 'b ', NULL, 1e300, '1999-12-31', '-01:00:00', -3)")
		s := worldtest.OpenWorld(t, d)
		l := world.NewLayout(s.Dialect, s.Table("things"))
		want, err := world.Contents(t.Context(), s.On, l, nil, func(int) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		var h world.Hasher
		var got world.Content
		begun, ended := 0, 0
		s.ReadAside(&world.Aside{Layout: l,
			Begin: func() { begun++; got = world.Content{} },
			Take: func(row []any) error {
				sum, err := h.Row(row)
				got.Rows, got.Sum = got.Rows+1, got.Sum.Add(sum)
				return err
			},
			End: func() { ended++ },
		})
		scan := func(scan catalog.Scan) {
			t.Helper()
			for _, err := range s.Scan(t.Context(), scan) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		keys := catalog.Scan{Table: "things", Carry: []string{"id"}, Unsorted: true}
		first, some, broken := keys, keys, keys
		first.Most = 2
		some.SkipNull, some.Order, some.Unsorted = true, []catalog.Order{{Column: "n"}}, false
		scan(first)
		scan(some)
		if begun != 0 {
			t.Errorf("a scan of some rows hands them aside")
		}
		for _, err := range s.Scan(t.Context(), broken) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if begun != 1 || ended != 0 {
			t.Errorf("a scan that ends early began %d times and ended %d times", begun, ended)
		}
		scan(keys)
		scan(keys)
		if begun != 2 || ended != 1 || got.Rows != want.Rows || got.Sum != want.Sum {
			t.Errorf("began %d times, ended %d times: %+v, want %+v", begun, ended, got, want)
		}
	})
}
