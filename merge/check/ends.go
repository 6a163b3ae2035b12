package check

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// Ends returns the range of a table's key if the source can tell it without
// reading, else nil.
func (r *Reader) Ends(ctx context.Context, db *rules.Database, table string) (*stream.KeyRange, error) {
	ender, ok := db.Opened.(catalog.Ender)
	owner, model := r.Facts.ModelOf(table)
	t, key := db.Tables[table], model.Key()
	if !ok || key == nil || incomparable(t, key, owner, model, key) != "" {
		return nil, nil
	}
	scan := catalog.Scan{Table: table, Order: catalog.OrderBy(key, model), Carry: t.RowKey(key)}
	first, last, err := ender.Ends(ctx, scan)
	_, unsupported := errors.AsType[*catalog.UnsupportedError](err)
	texts := slices.IndexFunc(scan.Order, func(o catalog.Order) bool { return o.Collation != "" })
	// Some texts are not sorted by their index, which is followed then as it is. SQLite may have values of other kinds among
	// them, so there the rows are read.
	if unsupported && texts > 0 && t.Unique(key, model) && db.Catalog.Engine != "sqlite" {
		scan.Order = scan.Order[:texts]
		first, last, err = ender.Ends(ctx, scan)
		_, unsupported = errors.AsType[*catalog.UnsupportedError](err)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case unsupported || err == nil && first == nil && last == nil:
		return nil, nil
	case err == nil && (first == nil || last == nil):
		err = errors.New("the source returned only one of the first and the last key")
	case err == nil:
		err = errors.Join(stream.Validate(first, scan), stream.Validate(last, scan))
		if err == nil && (first.Len != 1 || last.Len != 1) {
			err = fmt.Errorf("the source returned %d rows with the first key and %d with the last, want 1 and 1", first.Len, last.Len)
		}
	}
	if err != nil {
		return nil, &catalog.ReadError{World: db.Name, Table: table, Doing: "the ends of the key", Err: err}
	}
	return &stream.KeyRange{First: rowOf(first), Last: rowOf(last)}, nil
}

func rowOf(b *catalog.Batch) (values [][]byte) {
	for i := range b.Carry {
		values = append(values, slices.Clone(b.Carry[i].At(0)))
	}
	return values
}

// keyRange returns the range that a stream went through, which must be at its
// end.
func keyRange(s *stream.Stream) stream.KeyRange {
	var r stream.KeyRange
	if s.Read == 0 {
		return r
	}
	if s.Ends != nil {
		return *s.Ends
	}
	for i := range s.Names {
		r.First = append(r.First, slices.Clone(s.First.Carry.At(i)))
		r.Last = append(r.Last, slices.Clone(s.Last.Carry.At(i)))
	}
	return r
}

// keyOf writes the values of a key for people.
func keyOf(t *catalog.Table, values [][]byte) string {
	key := t.Key()
	if len(values) != len(key) {
		return ""
	}
	var parts []string
	for i, v := range values {
		value := Show(t.Column(key[i]), v)
		if len(key) > 1 {
			value = key[i] + "=" + value
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, ", ")
}

// Show writes a value for people.
func Show(c *catalog.Column, v []byte) string {
	switch {
	case v == nil:
		return "NULL"
	case c.Kind == catalog.KindBytes && !c.IsID:
		return "0x" + strings.ToUpper(hex.EncodeToString(v))
	case c.Kind == catalog.KindOther && c.IsID || c.Kind == catalog.KindBytes:
		return hex.EncodeToString(v)
	case len(v) == 0:
		return `""`
	case !utf8.Valid(v):
		return "0x" + strings.ToUpper(hex.EncodeToString(v))
	default:
		return string(v)
	}
}
