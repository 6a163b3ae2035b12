package world_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
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

// Rows are tested while they are read. If the server cannot test one of them, it is read all the same, and each row comes once.
func TestTestBeside(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		const rows = 9001 // more than a batch
		values := make([]string, rows)
		for i := range values {
			values[i] = fmt.Sprintf("(%d, %d)", i+1, i+1)
		}
		values[8500] = "(8501, -9223372036854775808)"
		d := e.database(t, "CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, n BIGINT)", "INSERT INTO things VALUES "+strings.Join(values, ", "))
		condition := func(text, column string) catalog.Condition {
			return catalog.Condition{Kind: catalog.ConditionCheck, Text: text, Columns: []string{column}}
		}
		small, negated := condition("id <= 9000", "id"), condition("-n < 1", "n")
		if e.name == "sqlite" {
			negated.Text = "abs(n) > 0"
		}
		for _, c := range []struct {
			name       string
			conditions []catalog.Condition
			unclear    string
		}{
			{"all rows are tested", []catalog.Condition{small}, ""},
			{"one cannot be", []catalog.Condition{negated, small}, "the database says: "},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := worldtest.OpenWorld(t, d)
				s.TestBeside("things", c.conditions)
				l, taken := world.NewLayout(s.Dialect, s.Table("things")), 0
				s.ReadAside(&world.Aside{Layout: l, Sorted: true, Begin: func() { taken = 0 }, Take: func([]any) error { taken++; return nil }, End: func() {}})
				read := int64(0)
				for b, err := range s.Scan(t.Context(), catalog.Scan{Table: "things", Order: []catalog.Order{{Column: "id"}}, Carry: []string{"id"}}) {
					if err != nil {
						t.Fatal(err)
					}
					for row := range b.Len {
						if read++; string(b.Carry[0].At(row)) != fmt.Sprint(read) && !t.Failed() {
							t.Errorf("row %d has the key %s", read, b.Carry[0].At(row))
						}
					}
				}
				if read != rows || taken != rows {
					t.Errorf("%d rows were read, and %d taken aside, want %d", read, taken, rows)
				}
				found, err := s.Failing(t.Context(), "things", c.conditions, nil, 3)
				if err != nil {
					t.Fatal(err)
				}
				last := found[len(found)-1]
				if last.Rows != 1 || last.Unclear != "" || len(last.Samples) != 1 || !strings.HasPrefix(found[0].Unclear, c.unclear) || (found[0].Unclear == "") != (c.unclear == "") {
					t.Errorf("%+v", found)
				}
				// New values of a column are not those that were tested.
				found, err = s.Failing(t.Context(), "things", []catalog.Condition{small}, map[string]*keys.Shift{"id": {By: 100}}, 0)
				if err != nil || found[0].Rows != 101 {
					t.Errorf("%+v: %v", found, err)
				}
			})
		}
	})
}
