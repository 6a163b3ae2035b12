package world

import (
	"context"
	"fmt"
	"slices"
)

// Find returns the rows that a query for the keys of these rows returns; nil for a
// row that is not there.
//
// more are arguments of the query besides the keys, after them.
func Find(ctx context.Context, on *Connection, l *Layout, query string, rows [][]any, more ...any) ([][]any, error) {
	places, err := l.Places(rows)
	if err != nil {
		return nil, err
	}
	found := make([][]any, len(rows))
	args := append(l.BoundOf(rows), more...)
	err = on.Rows(ctx, query, len(rows) == l.Dialect.Most(len(l.Key)), args, func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.Tidy(row)
		i, ok, err := places.Of(row)
		if ok {
			found[i] = row
		}
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
	}
	return found, nil
}

// places tells which of several rows has the key of another one.
type places struct {
	l   *Layout
	at  map[string]int
	buf []byte
}

func (l *Layout) Places(rows [][]any) (*places, error) {
	p := &places{l: l, at: make(map[string]int, len(rows))}
	for i, row := range rows {
		if err := p.encode(row); err != nil {
			return nil, err
		}
		p.at[string(p.buf)] = i
	}
	return p, nil
}

func (p *places) encode(row []any) (err error) {
	p.buf = p.buf[:0]
	for _, k := range p.l.Key {
		if p.buf, err = AppendKey(p.buf, row[k:k+1]); err != nil {
			return fmt.Errorf("table %q: the key column %q: %w", p.l.Table, p.l.Columns[k], err)
		}
	}
	return nil
}

// Of returns the place of the row with the key of this row, if there is one.
func (p *places) Of(row []any) (at int, ok bool, err error) {
	if err := p.encode(row); err != nil {
		return 0, false, err
	}
	at, ok = p.at[string(p.buf)]
	return at, ok, nil
}
