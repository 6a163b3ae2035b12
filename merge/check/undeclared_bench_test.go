package check_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"mergesafe/internal/garbage"
	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

var manyKeys = flag.Bool("many-keys", false, "measure sets of 10 M keys in each of 20 sources, rather than of 100,000")

// numbered is a source with generated rows: things by a number, of which one in every
// few is a key, and notes with an undeclared column.
type numbered struct {
	name        string
	first       uint64 // the least number
	every       uint64
	rows, notes int
	scans       int // rows that were read
}

func (n *numbered) Name() string { return n.name }

func (n *numbered) Catalog(context.Context) (*catalog.Catalog, error) {
	id := catalog.Column{Name: "id", Type: "BIGINT", Kind: catalog.KindInteger}
	return &catalog.Catalog{Engine: "memory", Tables: []catalog.Table{
		{Name: "notes", Primary: []string{"id"}, Columns: []catalog.Column{id, {Name: "thing", Type: "BIGINT", Kind: catalog.KindInteger}}},
		{Name: "things", Primary: []string{"id"}, Columns: []catalog.Column{id}},
	}}, nil
}

func (n *numbered) Servers(context.Context) ([]catalog.Server, error) { return nil, nil }

func (n *numbered) Count(_ context.Context, table string) (int64, error) {
	return int64(n.rowsOf(table)), nil
}

func (n *numbered) rowsOf(table string) int {
	if table == "notes" {
		return n.notes
	}
	return n.rows
}

func (n *numbered) value(table, column string, row int) uint64 {
	mix := uint64(row) * 0x9e3779b97f4a7c15
	switch {
	case column == "thing":
		return n.first + mix%(n.every*uint64(n.rows))
	case table == "notes":
		return 1<<60 + n.first + uint64(row)
	default:
		return n.first + uint64(row)*n.every + mix>>32%n.every
	}
}

func (n *numbered) Scan(_ context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	return func(yield func(*catalog.Batch, error) bool) {
		b := &catalog.Batch{Order: make([]catalog.Vector, len(scan.Order)), Carry: make([]catalog.Vector, len(scan.Carry))}
		rows := n.rowsOf(scan.Table)
		n.scans += rows
		for start := 0; start < rows; start += 4096 {
			b.Len = min(4096, rows-start)
			for i, o := range scan.Order {
				v := &b.Order[i]
				v.Width, v.Data = 9, v.Data[:0]
				for row := range b.Len {
					v.Data = binary.BigEndian.AppendUint64(append(v.Data, 1), n.value(scan.Table, o.Column, start+row))
				}
			}
			for i, column := range scan.Carry {
				v := &b.Carry[i]
				v.Data, v.Ends = v.Data[:0], v.Ends[:0]
				for row := range b.Len {
					v.Data = strconv.AppendUint(v.Data, n.value(scan.Table, column, start+row), 10)
					v.Ends = append(v.Ends, len(v.Data))
				}
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

func (n *numbered) Row(context.Context, string, []string, [][]byte) ([]catalog.Field, error) {
	return []catalog.Field{{Column: "id"}}, nil
}

// The keys of 20 sources of 10 M rows fit into 200 MiB where one number in eight is a
// key, and into 600 MiB where one in 100 is: measured with -many-keys, otherwise a
// hundredth of it. What is counted is the heap with its garbage, of which the tools
// allow only so much: GOGC, by which tests run faster, does not count.
func TestMemoryOfOpenColumns(t *testing.T) {
	servertest.NotShort(t)
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	rows, share := 100_000, 100
	if *manyKeys {
		rows, share = 10_000_000, 1
		garbage.Allow(garbage.Allowance)
	}
	for _, c := range []struct{ every, mib int }{{8, 200}, {100, 600}} {
		t.Run(fmt.Sprintf("one in %d", c.every), func(t *testing.T) {
			var sources []catalog.Source
			for i := range 20 {
				sources = append(sources, &numbered{name: fmt.Sprint("s", i), first: uint64(i) * uint64(c.every*rows), every: uint64(c.every), rows: rows, notes: 10_000})
			}
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			var live, heap uint64
			calls := 0
			opts := rules.Options{Progress: func(rules.Progress) {
				if calls++; calls%256 == 0 {
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					heap = max(heap, now.HeapInuse-min(now.HeapInuse, before.HeapInuse))
				}
			}}
			began := time.Now()
			report := checked(t, sources, opts)
			took := time.Since(began)
			var after runtime.MemStats
			runtime.ReadMemStats(&after)
			live = after.HeapInuse - before.HeapInuse
			t.Logf("%d sources of %d keys: %s, most %d MiB of heap, %d MiB at the end, %v", len(sources), rows, report.Verdict, heap>>20, live>>20, took.Round(time.Millisecond))
			if limit := uint64(c.mib<<20/share + 24<<20); heap > limit {
				t.Errorf("%d MiB, want at most %d", heap>>20, limit>>20)
			}
			if report.Verdict != verdict.NotVerified && report.Verdict != verdict.Pass {
				t.Error(report.Verdict)
			}
		})
	}
}
