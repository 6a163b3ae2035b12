package check

import (
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/stream"
)

// keysApart answers a question about the key of a table from the keys of a space, if these
// show that no value is there twice: each world has as many keys as rows, and the
// ranges of the new ones do not meet. Otherwise it returns nil.
func keysApart(r *Reader, q Question) *Reading {
	looksAround := len(r.Facts.IDColumns(q.Table)) > 0 || !r.Facts.Opts.Unshown && len(r.Facts.Opaque(q.Table)) > 0
	if len(q.Columns) != 1 || looksAround {
		return nil
	}
	streams, gaps := r.KeyStreams(q.Code, q.Table, q.Columns, nil)
	a := &Reading{Gaps: gaps, Repeats: stream.Repeats{Rows: make([]int64, len(streams))}}
	var taken []keys.Range
	for _, s := range streams {
		set := r.Facts.Rekeyed.KnownKeys(s.DB, q.Table, q.Columns[0])
		if set == nil || r.Facts.Rekeyed.Matched(s.DB, q.Table, q.Columns[0]).Len() > 0 || s.Unable != nil || s.Names != 1 || s.Scan.Carry[0] != q.Columns[0] {
			return nil
		}
		keys := set.Range()
		moved, ok := keys.Shift(r.Facts.Rekeyed.Offset(s.DB, q.Table, q.Columns[0]))
		if !ok {
			return nil
		}
		if slices.ContainsFunc(taken, moved.Meets) {
			return nil
		}
		taken = append(taken, moved)
		p := Part{DB: s.DB, Read: set.Len()}
		if keys.Any {
			p.Ends = stream.KeyRange{First: [][]byte{[]byte(keys.Low.String())}, Last: [][]byte{[]byte(keys.High.String())}}
		}
		a.Parts = append(a.Parts, p)
	}
	return a
}
