package check

import (
	"context"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/stream"
)

// keysApart answers a question about a key or a unique index without reading it again, if no value can be there twice: each
// world keeps its own apart, as its keys of a space show or its index, and no two worlds have values in common since
// these get new ones, in ranges that do not meet; or if rows of one world alone come. Otherwise it returns nil.
func keysApart(ctx context.Context, r *Reader, q Question) (*Reading, error) {
	apart := len(r.Facts.DBs) == 1 || r.Facts.Same[q.Table] || r.Facts.Rekeyed.tellsApart(q.Table, q.Columns)
	looked := q.names || q.ids && (len(r.Facts.IDColumns(q.Table)) > 0 || !r.Facts.Opts.Unshown && len(r.Facts.Opaque(q.Table)) > 0)
	if !apart || looked {
		return nil, nil
	}
	streams, gaps := r.keyStreams(q.Code, q.Table, q.Columns, nil)
	a := &Reading{Gaps: gaps, Repeats: stream.Repeats{Rows: make([]int64, len(streams))}}
	for _, s := range streams {
		if _, read := s.DB.Rows[q.Table]; !read || q.ids && !slices.Equal(s.Scan.Carry, q.Columns) {
			return nil, nil
		}
		ends, err := r.endsOfUnique(ctx, s, q)
		if ends == nil || err != nil {
			return nil, err
		}
		a.Parts = append(a.Parts, part{DB: s.DB, Read: s.DB.Rows[q.Table], Ends: *ends})
	}
	return a, nil
}

// numbersApart answers a question about a unique index over a column of numbers without reading it, if these were kept while
// the keys were read and no two worlds have one in common. Otherwise it returns nil.
func numbersApart(r *Reader, q Question) *Reading {
	if len(q.Columns) != 1 || r.Facts.Rekeyed.moved(q.Table, q.Columns[0]) != nil || len(r.Facts.Declared.Role(q.Table, q.Columns[0]).References) > 0 {
		return nil
	}
	streams, gaps := r.keyStreams(q.Code, q.Table, q.Columns, nil)
	a := &Reading{Gaps: gaps, Repeats: stream.Repeats{Rows: make([]int64, len(streams))}}
	var all []*columnValues
	for _, s := range streams {
		v := r.Facts.ValuesOf(s.DB, q.Table, q.Columns[0])
		meets := func(other *columnValues) bool { return v.Meets(&other.Set) }
		if !s.Strict || !v.numbers() || v.Sparse || slices.ContainsFunc(all, meets) {
			return nil
		}
		all, a.Parts = append(all, v), append(a.Parts, part{DB: s.DB, Read: v.rows})
	}
	return a
}

// endsOfUnique returns the range of the key of a database if it has no value twice; nil if that is not known. The range
// is asked for keys only; for other indexes it is empty.
func (r *Reader) endsOfUnique(ctx context.Context, s *stream.Stream, q Question) (*stream.KeyRange, error) {
	t, key := s.DB.Tables[s.Scan.Table], q.Columns
	if len(key) == 1 && r.Facts.Rekeyed.hasKey(t.Name, key[0]) {
		if set := r.Facts.Rekeyed.knownKeys(s.DB, t.Name, key[0]); set != nil {
			return rangeOf(set.Range()), nil
		}
		return nil, nil
	}
	nullable := func(name string) bool { return t.Column(name).Nullable }
	if !s.Strict || slices.ContainsFunc(key, nullable) {
		return nil, nil
	}
	if s.DB.Rows[t.Name] == 0 || !q.ids {
		return new(stream.KeyRange), nil
	}
	return r.Ends(ctx, s.DB, t.Name)
}

// rangeOf is a range as streams have it.
func rangeOf(r keys.Range) *stream.KeyRange {
	if !r.Any {
		return new(stream.KeyRange)
	}
	return &stream.KeyRange{First: [][]byte{[]byte(r.Low.String())}, Last: [][]byte{[]byte(r.High.String())}}
}
