package merge

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// keyRange is where the keys of one table of one source lie, in the order of
// the target.
type keyRange struct {
	first, last [][]byte // as the database sent them; nil: there are no rows
}

// count returns the exact number of rows of a table.
func (r *reader) count(ctx context.Context, db *database, table string) (n int64, err error) {
	if err = ctx.Err(); err == nil {
		n, err = db.source.Count(ctx, table)
		if ctxErr := ctx.Err(); ctxErr != nil {
			err = ctxErr
		}
	}
	if err != nil {
		return 0, &ReadError{Source: db.name, Table: table, Doing: "the number of rows", Err: err}
	}
	return n, nil
}

// ends returns the range of a table's key if the source can tell it without
// reading, else nil.
func (r *reader) ends(ctx context.Context, db *database, table string) (*keyRange, error) {
	ender, ok := db.source.(Ender)
	owner, model := r.facts.model(table)
	t, key := db.tables[table], model.Key()
	if !ok || key == nil || incomparable(t, key, owner, model, key) != "" {
		return nil, nil
	}
	scan := Scan{Table: table, Order: order(key, model), Carry: t.rowKey(key)}
	first, last, err := ender.Ends(ctx, scan)
	_, unsupported := errors.AsType[*UnsupportedError](err)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case unsupported || err == nil && first == nil && last == nil:
		return nil, nil
	case err == nil && (first == nil || last == nil):
		err = errors.New("the source returned one end of the key and not the other")
	case err == nil:
		err = errors.Join(first.validate(scan), last.validate(scan))
		if err == nil && (first.Len != 1 || last.Len != 1) {
			err = fmt.Errorf("the source returned the ends of the key in %d and %d rows, want 1 and 1", first.Len, last.Len)
		}
	}
	if err != nil {
		return nil, &ReadError{Source: db.name, Table: table, Doing: "the ends of the key", Err: err}
	}
	return &keyRange{rowOf(first), rowOf(last)}, nil
}

func rowOf(b *Batch) (values [][]byte) {
	for i := range b.Carry {
		values = append(values, slices.Clone(b.Carry[i].At(0)))
	}
	return values
}

// keyRange returns the range that a stream went through, which must be at its
// end.
func (s *stream) keyRange() keyRange {
	var r keyRange
	if s.read == 0 {
		return r
	}
	if s.ends != nil {
		return *s.ends
	}
	for i := range s.names {
		r.first = append(r.first, slices.Clone(s.first.carry.at(i)))
		r.last = append(r.last, slices.Clone(s.last.carry.at(i)))
	}
	return r
}

// keyOf writes the values of a key for people.
func (t *Table) keyOf(values [][]byte) string {
	key := t.Key()
	if len(values) != len(key) {
		return ""
	}
	var parts []string
	for i, v := range values {
		value := t.column(key[i]).show(v)
		if len(key) > 1 {
			value = key[i] + "=" + value
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, ", ")
}

// show writes a value for people.
func (c *Column) show(v []byte) string {
	switch {
	case v == nil:
		return "NULL"
	case c.Kind == KindBytes && !c.IsID:
		return "0x" + strings.ToUpper(hex.EncodeToString(v))
	case c.Kind == KindOther && c.IsID || c.Kind == KindBytes:
		return hex.EncodeToString(v)
	case len(v) == 0:
		return `""`
	case !utf8.Valid(v):
		return "0x" + strings.ToUpper(hex.EncodeToString(v))
	default:
		return string(v)
	}
}
