package check_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/mergetest"
)

// named is a database of rows with a name, a time of the last visit and a key.
func named(label string, rows ...mergetest.Row) *mergetest.Database {
	for i, r := range rows {
		r["id"] = int64(i)
	}
	return &mergetest.Database{
		Label: label,
		Schema: catalog.Catalog{Tables: []catalog.Table{{Name: "players", Primary: []string{"id"}, Columns: []catalog.Column{
			{Name: "id"}, {Name: "name", Collation: mergetest.NoCase}, {Name: "seen"},
		}}}},
		Rows: map[string][]mergetest.Row{"players": rows},
	}
}

func byName(columns ...string) catalog.Scan {
	scan := catalog.Scan{Table: "players", Carry: []string{"name", "id"}}
	for _, c := range columns {
		scan.Order = append(scan.Order, catalog.Order{Column: c})
	}
	return scan
}

func scans(scan catalog.Scan, dbs ...*mergetest.Database) (all []check.SourceScan) {
	for _, db := range dbs {
		all = append(all, check.SourceScan{Source: db, Scan: scan})
	}
	return all
}

// groups reads all groups: "0 Ana 3" is the row 3 of the first source.
func groups(scans []check.SourceScan, columns int) (all [][]string, err error) {
	for rows, err := range check.EqualRows(context.Background(), scans, columns) {
		if err != nil {
			return all, err
		}
		var group []string
		for _, r := range rows {
			group = append(group, fmt.Sprintf("%d %s %s", r.From, r.Carry[0], r.Carry[1]))
		}
		all = append(all, group)
	}
	return all, nil
}

// Groups are equal as the source compares, in order, and NULL is equal to
// nothing. Further columns order a group and do not divide it.
func TestEqualRows(t *testing.T) {
	a := named("a", mergetest.Row{"name": "bob", "seen": int64(9)}, mergetest.Row{"name": "Ana", "seen": int64(5)}, mergetest.Row{"name": nil}, mergetest.Row{"name": "only a"})
	b := named("b", mergetest.Row{"name": "BOB", "seen": int64(3)}, mergetest.Row{"name": nil}, mergetest.Row{"name": "Bob", "seen": nil}, mergetest.Row{"name": "ANA", "seen": int64(5)})
	for _, tt := range []struct {
		columns []string
		compare int
		want    [][]string
	}{
		{[]string{"name"}, 1, [][]string{{"0 Ana 1", "1 ANA 3"}, {"0 bob 0", "1 BOB 0", "1 Bob 2"}}},
		{[]string{"name", "seen"}, 1, [][]string{{"0 Ana 1", "1 ANA 3"}, {"1 Bob 2", "1 BOB 0", "0 bob 0"}}},
		{[]string{"name", "seen"}, 2, [][]string{{"0 Ana 1", "1 ANA 3"}}},
	} {
		got, err := groups(scans(byName(tt.columns...), a, b), tt.compare)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%d of %v: %v (-want +got)\n%s", tt.compare, tt.columns, err, diff)
		}
	}
	if a.Busy() || b.Busy() {
		t.Error("a scan is still open")
	}
}

// Whatever the rows, the groups are those that a map makes.
func TestEqualRowsOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var dbs []*mergetest.Database
		want := make(map[int64][]string)
		for from := range rapid.IntRange(1, 4).Draw(t, "sources") {
			var rows []mergetest.Row
			for id, n := range rapid.SliceOfN(rapid.Int64Range(-3, 20), 0, 30).Draw(t, "values") {
				rows = append(rows, mergetest.Row{"name": fmt.Sprint(n), "seen": n})
				if n < 0 {
					rows[id]["seen"] = nil
					continue
				}
				want[n] = append(want[n], fmt.Sprintf("%d %d %d", from, n, id))
			}
			dbs = append(dbs, named(fmt.Sprint(from), rows...))
		}
		var expected [][]string
		for n := int64(0); n <= 20; n++ {
			if len(want[n]) > 1 {
				expected = append(expected, want[n])
			}
		}
		got, err := groups(scans(byName("seen"), dbs...), 1)
		if diff := cmp.Diff(expected, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// What a source gives is checked, and an error ends the sequence.
func TestEqualRowsErrors(t *testing.T) {
	broken := errors.New("connection lost")
	change := func(b *mergetest.Database, change func(*catalog.Batch)) {
		b.BatchRows = 2
		eachBatch(b, func(_ catalog.Scan, b *catalog.Batch) { change(b) })
	}
	for name, spoil := range map[string]func(*mergetest.Database){
		"an error": func(b *mergetest.Database) {
			b.Intercept = func(_ catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
				return failAfter(seq, 1, broken)
			}
		},
		"out of order": func(b *mergetest.Database) {
			change(b, func(b *catalog.Batch) { slices.Reverse(b.Order[0].Data) })
		},
		"a column is missing": func(b *mergetest.Database) { change(b, func(b *catalog.Batch) { b.Carry = b.Carry[:1] }) },
		"too few values":      func(b *mergetest.Database) { change(b, func(b *catalog.Batch) { b.Len++ }) },
		"a NULL": func(b *mergetest.Database) {
			change(b, func(b *catalog.Batch) { b.Order[0].Null = []bool{true, true} })
		},
	} {
		a, b := named("a", mergetest.Row{"name": "x"}), named("b", mergetest.Row{"name": "a"}, mergetest.Row{"name": "c"}, mergetest.Row{"name": "d"}, mergetest.Row{"name": "f"})
		spoil(b)
		scan := byName("name")
		scan.SkipNull = true
		_, err := groups(scans(scan, a, b), 1)
		if read, ok := errors.AsType[*catalog.ReadError](err); !ok || read.World != "b" || read.Table != "players" {
			t.Errorf("%s: got %v", name, err)
		}
		if a.Busy() || b.Busy() {
			t.Errorf("%s: a scan is still open", name)
		}
	}

	a, b := named("a", mergetest.Row{"name": "x"}), named("b", mergetest.Row{"name": "x"})
	different := []check.SourceScan{{Source: a, Scan: byName("name")}, {Source: b, Scan: byName("name", "seen")}}
	for columns, all := range map[int][]check.SourceScan{0: scans(byName("name"), a), 2: scans(byName("name"), a, b), 1: different} {
		if _, err := groups(all, columns); err == nil {
			t.Errorf("%d columns of %v: no error", columns, all)
		}
	}
}

// Whoever has seen enough leaves nothing open.
func TestEqualRowsStops(t *testing.T) {
	a, b := named("a", mergetest.Row{"name": "x"}, mergetest.Row{"name": "y"}), named("b", mergetest.Row{"name": "x"}, mergetest.Row{"name": "y"})
	for range check.EqualRows(t.Context(), scans(byName("name"), a, b), 1) {
		break
	}
	if a.Busy() || b.Busy() {
		t.Error("a scan is still open")
	}
}
