package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// SourceScan is one scan of one world.
type SourceScan struct {
	Source catalog.Source
	Scan   catalog.Scan
}

// EqualRow is a row that [EqualRows] found.
type EqualRow struct {
	From  int      // which of the scans it comes from
	Order [][]byte // in the form that sorts; nil is NULL
	Carry [][]byte // as the database sent it; nil is NULL
}

// EqualRows merges scans of several worlds and gives every group of two or more
// rows that have the same values in the first columns of Order, as these
// compare. A NULL is equal to nothing. The rows of a group come in the order of
// the scans if Order has no further columns, otherwise in that of the further
// columns first. A group and its rows belong to the caller.
//
// All scans must have as many columns in Order, and there is at most one scan
// of a world. The sequence ends after the first error: a [*catalog.ReadError] if a
// source cannot be read, or gives rows that are malformed or out of order.
// Memory does not grow with the tables, only with the largest group.
func EqualRows(ctx context.Context, scans []SourceScan, columns int) iter.Seq2[[]EqualRow, error] {
	return func(yield func([]EqualRow, error) bool) {
		streams := make([]*stream.Stream, len(scans))
		for i, s := range scans {
			if n := len(s.Scan.Order); columns < 1 || n < columns || n != len(scans[0].Scan.Order) {
				yield(nil, fmt.Errorf("merge: the scan of %q orders by %d columns and compares %d of them; want the same number in every scan", s.Source.Name(), n, columns))
				return
			}
			streams[i] = &stream.Stream{DB: &rules.Database{Opened: s.Source, Name: s.Source.Name()}, Scan: s.Scan}
		}
		stopped := errors.New("stopped")
		var group []EqualRow
		err := stream.MergeEqual(ctx, streams, columns, func(before, row stream.Position, begins bool) error {
			if begins {
				if group != nil && !yield(group, nil) {
					return stopped
				}
				group = []EqualRow{copyRow(before)}
			}
			group = append(group, copyRow(row))
			return nil
		})
		switch {
		case err == stopped:
		case err != nil:
			yield(nil, err)
		case group != nil:
			yield(group, nil)
		}
	}
}

// copyRow returns the row as it may be kept.
func copyRow(p stream.Position) EqualRow {
	r := EqualRow{From: p.Stream.Index, Carry: p.Stream.Carried(p.Row)}
	for i := range p.Stream.Scan.Order {
		r.Order = append(r.Order, bytes.Clone(p.Stream.Order(i, p.Row)))
	}
	return r
}
