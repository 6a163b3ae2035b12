package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"mergesafe/merge/catalog"
)

// Keys that are matched do not keep their order: the database has them in that of the source,
// and streams are merged in that of the first world. So their rows are sorted again, in memory: of
// each only what is compared, and what names it.

// maxSorted is how many bytes of rows are sorted.
const maxSorted = 1 << 30

// rows reads the scan, in the order of what the values become.
func (s *Stream) rows(ctx context.Context) iter.Seq2[*catalog.Batch, error] {
	if s.Scan.Unsorted || !slices.ContainsFunc(s.Scan.Order, func(o catalog.Order) bool { return o.Shift != nil && o.Shift.Match.Len() > 0 }) {
		return s.DB.Opened.Scan(ctx, s.Scan)
	}
	scan := s.Scan
	scan.Unsorted = true
	return func(yield func(*catalog.Batch, error) bool) {
		var rows sortedRows
		for b, err := range s.DB.Opened.Scan(ctx, scan) {
			if err == nil && b != nil && b.Len > 0 {
				if err = Validate(b, scan); err == nil {
					rows.add(b)
				}
			}
			if err == nil && len(rows.data) > maxSorted {
				err = &catalog.UnsupportedError{Table: scan.Table, Column: scan.Order[0].Column, Reason: "its keys are matched, and there are too many rows to sort by their new keys"}
			}
			if err != nil || b == nil {
				yield(b, err)
				return
			}
		}
		if len(rows.at) > 0 {
			s.Ends = &KeyRange{rows.carried(rows.at[0], len(scan.Order), s.Names), rows.carried(rows.at[len(rows.at)-1], len(scan.Order), s.Names)}
		}
		rows.sort(len(scan.Order))
		const size = 4096
		for some := range slices.Chunk(rows.at, size) {
			if !yield(rows.batch(some, len(scan.Order), len(scan.Carry)), nil) {
				return
			}
		}
	}
}

// sortedRows are rows one after the other: of each value whether it is NULL, its length, and
// its bytes.
type sortedRows struct {
	data []byte
	at   []int // where each row begins
}

func (r *sortedRows) add(b *catalog.Batch) {
	for row := range b.Len {
		r.at = append(r.at, len(r.data))
		for _, vectors := range [][]catalog.Vector{b.Order, b.Carry} {
			for i := range vectors {
				v := vectors[i].At(row)
				n := uint64(len(v)) + 1
				if v == nil {
					n = 0
				}
				r.data = append(binary.AppendUvarint(r.data, n), v...)
			}
		}
	}
}

// value returns the value at a place, nil for NULL, and the place of the next one.
func (r *sortedRows) value(at int) (v []byte, next int) {
	n, size := binary.Uvarint(r.data[at:])
	if at += size; n == 0 {
		return nil, at
	}
	next = at + int(n) - 1
	return r.data[at:next:next], next
}

// sort sorts by the first columns, NULL before all values.
func (r *sortedRows) sort(columns int) {
	slices.SortStableFunc(r.at, func(a, b int) int {
		for range columns {
			var x, y []byte
			x, a = r.value(a)
			y, b = r.value(b)
			switch {
			case x == nil && y == nil:
			case x == nil:
				return -1
			case y == nil:
				return 1
			default:
				if c := bytes.Compare(x, y); c != 0 {
					return c
				}
			}
		}
		return 0
	})
}

// carried returns the first values of a row that follow those of the order.
func (r *sortedRows) carried(at, order, n int) (values [][]byte) {
	for i := range order + n {
		var v []byte
		if v, at = r.value(at); i >= order {
			values = append(values, v)
		}
	}
	return values
}

func (r *sortedRows) batch(rows []int, order, carry int) *catalog.Batch {
	b := &catalog.Batch{Len: len(rows), Order: make([]catalog.Vector, order), Carry: make([]catalog.Vector, carry)}
	var all []*catalog.Vector
	for i := range b.Order {
		all = append(all, &b.Order[i])
	}
	for i := range b.Carry {
		all = append(all, &b.Carry[i])
	}
	for _, at := range rows {
		for i := range all {
			v := all[i]
			var value []byte
			value, at = r.value(at)
			v.Data, v.Null = append(v.Data, value...), append(v.Null, value == nil)
			v.Ends = append(v.Ends, len(v.Data))
		}
	}
	for _, v := range all {
		if !slices.Contains(v.Null, true) {
			v.Null = nil
		}
	}
	return b
}
