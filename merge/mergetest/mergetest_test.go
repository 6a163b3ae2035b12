package mergetest_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
)

func database() *mergetest.Database {
	return &mergetest.Database{
		Label: "s1",
		Schema: catalog.Catalog{Tables: []catalog.Table{{
			Name: "pets", Primary: []string{"id"},
			Columns: []catalog.Column{
				{Name: "id", Type: "BLOB", IsID: true},
				{Name: "name", Type: "TEXT", Collation: mergetest.NoCase},
				{Name: "age", Type: "INTEGER"},
				{Name: "parent", Type: "BLOB"},
			},
		}}},
		Rows: map[string][]mergetest.Row{"pets": {
			{"id": gameid.MustParse("00000000001000010002"), "name": "bo", "age": int64(3), "parent": gameid.MustParse("00000000001000010001")},
			{"id": gameid.MustParse("00000000001000010001"), "name": "Al", "age": int64(-7), "parent": gameid.MustParse("00000000001000010009")},
			{"id": gameid.MustParse("00000000001000010003"), "name": "", "age": int64(1)},
			{"id": gameid.MustParse("00000000001000010004"), "age": int64(0)},
		}},
	}
}

// names reads a scan to its end and returns what it carried.
func names(t *testing.T, seq iter.Seq2[*catalog.Batch, error]) (got []string) {
	t.Helper()
	for b, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		for row := range b.Len {
			if v := b.Carry[0].At(row); v == nil {
				got = append(got, "NULL")
			} else {
				got = append(got, string(v))
			}
		}
	}
	return got
}

func TestScan(t *testing.T) {
	ref := &catalog.Reference{Columns: []string{"parent"}, ToTable: "pets", ToColumns: []string{"id"}}
	for name, test := range map[string]struct {
		scan catalog.Scan
		want []string
	}{
		"by ID":             {catalog.Scan{Order: []catalog.Order{{Column: "id"}}}, []string{"Al", "bo", "", "NULL"}},
		"by number":         {catalog.Scan{Order: []catalog.Order{{Column: "age"}}}, []string{"Al", "NULL", "", "bo"}},
		"by text, NULL 1st": {catalog.Scan{Order: []catalog.Order{{Column: "name"}}}, []string{"NULL", "", "Al", "bo"}},
		"no NULL":           {catalog.Scan{Order: []catalog.Order{{Column: "name"}}, SkipNull: true}, []string{"", "Al", "bo"}},
		"binary":            {catalog.Scan{Order: []catalog.Order{{Column: "name", Collation: mergetest.Binary}}, SkipNull: true}, []string{"", "Al", "bo"}},
		"dangling":          {catalog.Scan{Order: []catalog.Order{{Column: "parent"}}, Dangling: ref}, []string{"Al"}},
	} {
		test.scan.Table, test.scan.Carry = "pets", []string{"name"}
		if diff := cmp.Diff(test.want, names(t, database().Scan(context.Background(), test.scan))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// It is as strict as a real database, and stricter.
func TestContract(t *testing.T) {
	ctx := context.Background()
	scan := catalog.Scan{Table: "pets", Order: []catalog.Order{{Column: "id"}}}
	d := database()
	var before *catalog.Batch
	for b, err := range d.Scan(ctx, scan) {
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && before.Order[0].At(0)[0] != 0xa5 {
			t.Error("a batch can still be read after the next one was asked for")
		}
		before = b
		for _, err := range d.Scan(ctx, scan) {
			if err == nil {
				t.Error("two scans are open at once")
			}
		}
		if _, err := d.Row(ctx, "pets", []string{"id"}, [][]byte{b.Order[0].At(0)}); err == nil {
			t.Error("a row was fetched while a scan is open")
		}
	}
	var unsupported *catalog.UnsupportedError
	for _, err := range d.Scan(ctx, catalog.Scan{Table: "pets", Order: []catalog.Order{{Column: "name", Collation: "klingon"}}}) {
		if !errors.As(err, &unsupported) {
			t.Errorf("unknown collation: %v", err)
		}
	}
	for _, bad := range []catalog.Scan{{Table: "none"}, {Table: "pets", Order: []catalog.Order{{Column: "none"}}}} {
		n := 0
		for _, err := range d.Scan(ctx, bad) {
			if n++; err == nil {
				t.Errorf("%+v is no error", bad)
			}
		}
		if n != 1 {
			t.Errorf("%d answers to %+v", n, bad)
		}
	}
	id := gameid.MustParse("00000000001000010004").Bytes()
	fields, err := d.Row(ctx, "pets", []string{"id"}, [][]byte{id[:]})
	want := []catalog.Field{{Column: "id", Value: "00000000001000010004"}, {Column: "name", Null: true}, {Column: "age", Value: "0"}, {Column: "parent", Null: true}}
	if diff := cmp.Diff(want, fields); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if fields, err := d.Row(ctx, "pets", []string{"id"}, [][]byte{{1}}); fields != nil || err != nil {
		t.Errorf("a row that is not there: %v, %v", fields, err)
	}
}
