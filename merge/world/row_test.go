package world

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
)

func TestRow(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		long := strings.Repeat("é", 100)
		w.exec(t, "CREATE TABLE things (id "+e.blob+" NOT NULL, name VARCHAR(200) NOT NULL, n BIGINT, data VARBINARY(100), d DECIMAL(6,2), "+
			"PRIMARY KEY (id, name))",
			"INSERT INTO things VALUES (x'00192a4c5e7000007001', 'Zoë', -9223372036854775808, x'00ff', 1.25), (x'00192a4c5e7000007002', '"+long+"', NULL, x'"+strings.Repeat("ab", 80)+"', NULL)")
		if e.name != "sqlite" {
			w.exec(t, "UPDATE things SET d = 1.25 WHERE d > 1")
		}
		s := w.open(t)
		// Rows are found again by what a scan carried for any of their columns.
		for _, carry := range [][]string{{"id"}, {"id", "name"}, {"name", "n"}, {"n"}, {"data"}, {"d"}} {
			scan := by("things", "id")
			scan.Carry = carry
			rows := mustCollect(t, s.Scan(t.Context(), scan))
			var got [2]string
			for i, r := range rows {
				fields, err := s.Row(t.Context(), "things", carry, r.carry)
				if err != nil || len(fields) != 5 {
					t.Fatalf("by %v: %v, %v", carry, fields, err)
				}
				got[i] = fields[0].Value
			}
			if got != [2]string{"00192a4c5e7000007001", "00192a4c5e7000007002"} {
				t.Errorf("by %v: got %v", carry, got)
			}
		}
		first, err := s.Row(t.Context(), "things", []string{"name"}, [][]byte{[]byte("Zoë")})
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Row(t.Context(), "things", []string{"n"}, [][]byte{nil})
		if err != nil {
			t.Fatal(err)
		}
		want := [][]catalog.Field{{
			{Column: "id", Value: "00192a4c5e7000007001"},
			{Column: "name", Value: "Zoë"},
			{Column: "n", Value: "-9223372036854775808"},
			{Column: "data", Value: "0x00ff"},
			{Column: "d", Value: "1.25"},
		}, {
			{Column: "id", Value: "00192a4c5e7000007002"},
			{Column: "name", Value: strings.Repeat("é", 64) + "… (100)"},
			{Column: "n", Null: true},
			{Column: "data", Value: "0x" + strings.Repeat("ab", 64) + "… (80)"},
			{Column: "d", Null: true},
		}}
		if diff := cmp.Diff(want, [][]catalog.Field{first, second}); diff != "" {
			t.Error(diff)
		}
		none, err := s.Row(t.Context(), "things", []string{"name"}, [][]byte{[]byte("' OR 1=1 --")})
		if none != nil || err != nil {
			t.Errorf("a row that is not there: %v, %v", none, err)
		}
		for _, bad := range []struct {
			table   string
			columns []string
			values  [][]byte
		}{
			{"nosuch", []string{"id"}, [][]byte{nil}},
			{"things", []string{"nosuch"}, [][]byte{nil}},
			{"things", []string{"n"}, [][]byte{[]byte("x")}},
			{"things", []string{"n"}, nil},
			{"things", nil, nil},
		} {
			if fields, err := s.Row(t.Context(), bad.table, bad.columns, bad.values); err == nil {
				t.Errorf("%v: got %v and no error", bad, fields)
			}
		}
	})
}

// MySQL's LEFT refuses a VECTOR. The oldest MariaDB that is tested has none.
func TestRowOfVectors(t *testing.T) {
	t.Parallel()
	servertest.Needs(t, servertest.MySQL)
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE v (id BIGINT PRIMARY KEY, at VECTOR(20))",
		"INSERT INTO v VALUES (1, STRING_TO_VECTOR('[1,2]')), (2, STRING_TO_VECTOR('["+strings.Repeat("1,", 19)+"1]'))")
	for id, want := range map[string]string{"1": "0x0000803f00000040", "2": "0x" + strings.Repeat("0000803f", 16) + "… (80)"} {
		if row, err := w.open(t).Row(t.Context(), "v", []string{"id"}, [][]byte{[]byte(id)}); err != nil || len(row) != 2 || row[1].Value != want {
			t.Errorf("row %s: %v, %v", id, row, err)
		}
	}
}

// A column that is declared as a text may have bytes, by which its row is found.
func TestRowOfBytes(t *testing.T) {
	w := newSQLiteWorld(t)
	w.exec(t, "CREATE TABLE b (t TEXT, n INTEGER)", "INSERT INTO b VALUES (x'ff', 1), ('a', 2), (x'62', 3)")
	for value, want := range map[string]string{"\xff": "1", "a": "2", "b": "3"} {
		if row, err := w.open(t).Row(t.Context(), "b", []string{"t"}, [][]byte{[]byte(value)}); err != nil || len(row) != 2 || row[1].Value != want {
			t.Errorf("%q: %+v, %v; want %s", value, row, err, want)
		}
	}
}

// A row is found by a date that only some sessions take for one.
func TestRowOfInvalidDates(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		w := newServerWorld(t)
		w.exec(t, "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'", "CREATE TABLE d (at DATETIME(3), day DATE, n INT)",
			"INSERT INTO d VALUES ('2026-02-31 01:02:03.5', '2026-02-01', 1), ('0000-00-00', '2026-02-31', 2), ('2026-03-01 00:00:00', '2025-11-31', 3)")
		for _, c := range []struct{ column, value, want string }{{"at", "2026-02-31 01:02:03.500000", "1"}, {"day", "2026-02-31 00:00:00.000000", "2"}, {"at", "0000-00-00 00:00:00.000000", "2"}, {"day", "2025-11-31", "3"}} {
			if row, err := w.open(t).Row(t.Context(), "d", []string{c.column}, [][]byte{[]byte(c.value)}); err != nil || len(row) != 3 || row[2].Value != c.want {
				t.Errorf("%v: %+v, %v", c, row, err)
			}
		}
	})
}
