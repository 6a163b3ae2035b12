package world

import (
	"context"
	"fmt"
	"slices"
)

// Find returns the rows that a query for the keys of these rows returns; nil for a
// row that is not there. others have such a key for the database, and write it in another way.
func Find(ctx context.Context, on *Connection, l *Layout, query string, rows [][]any) (found, others [][]any, err error) {
	places := make(map[string]int, len(rows)) // by key
	for i, row := range rows {
		key, err := AppendKey(nil, l.KeyOf(row))
		if err != nil {
			return nil, nil, fmt.Errorf("table %q: its key: %w", l.Table, err)
		}
		places[string(key)] = i
	}
	found = make([][]any, len(rows))
	err = on.Rows(ctx, query, len(rows) == l.Dialect.Most(len(l.Key)), l.BoundOf(rows), func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.Tidy(row)
		key, err := AppendKey(nil, l.KeyOf(row))
		if err != nil {
			return false, err
		}
		if i, ok := places[string(key)]; ok {
			found[i] = row
		} else {
			others = append(others, row)
		}
		return true, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
	}
	return found, others, nil
}
