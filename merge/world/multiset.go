package world

import (
	"context"
	"fmt"
	"slices"
)

// A table without a key is a multiset: equal rows cannot be told apart, and need not
// be. Sums prove it, as they do for every table.

// Multiset reports whether the table has no key.
func (l *Layout) Multiset() bool { return len(l.Key) == 0 }

// Every calls take with every row of a table that comes, in no order. take may keep the row.
func Every(ctx context.Context, on *Connection, l *Layout, take func(row []any) error) error {
	condition, out := on.sift(l)
	var staying Hasher
	err := on.Rows(ctx, l.SelectFrom()+Where(condition), true, nil, func(row []any) (bool, error) {
		stays := out != nil && out(row)
		if stays && on.Stayed == nil {
			return true, nil
		}
		row = slices.Clone(row)
		l.Tidy(row)
		if stays {
			return true, on.Stayed.add(&staying, row)
		}
		return true, take(row)
	})
	if err != nil {
		return fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
	}
	return nil
}
