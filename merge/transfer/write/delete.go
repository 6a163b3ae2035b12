package write

import (
	"context"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/rowio"
)

// ByKey lets DELETE look keys up even where to read the whole table takes less; see
// [rowio.Layout.Lock]. It has no form to say so for one statement.
func ByKey(ctx context.Context, c *rowio.Connection, only bool) error {
	if !c.Dialect().MySQL() {
		return nil
	}
	set := "SET SESSION sql_safe_updates = 0"
	if only {
		set = "SET SESSION sql_safe_updates = 1"
	}
	_, err := c.Exec(ctx, "set", set, false)
	return err
}

// fewRows is how many rows are rather removed one by one than from the first key to
// the last.
const fewRows = 32

// DeleteRows removes rows, and returns how many these were; nil stands for a row that
// stays. With all, they are in order, and all that lie between the first and the last
// are given: then most are removed from one key to another.
func DeleteRows(ctx context.Context, on *rowio.Connection, l *rowio.Layout, rows [][]any, all bool) (removed int64, err error) {
	var few [][]any
	for len(rows) > 0 {
		n := 0
		for n < len(rows) && rows[n] != nil {
			n++
		}
		if n > fewRows && all {
			if err := DeleteBetween(ctx, on, l, l.KeyOf(rows[0]), l.KeyOf(rows[n-1]), n); err != nil {
				return removed, err
			}
		} else {
			few = append(few, rows[:n]...)
		}
		removed += int64(n)
		rows = rows[min(n+1, len(rows)):]
	}
	for size := l.Dialect.Most(len(l.Key)); len(few) > 0; few = few[min(size, len(few)):] {
		part := few[:min(size, len(few))]
		if err := DeleteExactly(ctx, on, l, l.Equal(len(part)), len(part) == size, l.BoundOf(part), len(part)); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// DeleteBetween removes so many rows, which are all from one key to another.
func DeleteBetween(ctx context.Context, on *rowio.Connection, l *rowio.Layout, low, high []any, rows int) error {
	if rows > 1 {
		within, args := l.Within(low, high)
		if err := DeleteExactly(ctx, on, l, within, !l.Lists(), args, rows-1); err != nil {
			return err
		}
	}
	return DeleteExactly(ctx, on, l, l.Equal(1), true, l.Bound(high), 1)
}

// DeleteExactly removes so many rows. If there were others, because something writes
// there, it returns an error, the transaction has to be rolled back, and a retry sees
// them.
func DeleteExactly(ctx context.Context, on *rowio.Connection, l *rowio.Layout, where string, keep bool, args []any, rows int) error {
	query := "DELETE FROM " + l.Dialect.Quote(l.Table) + " WHERE " + where
	n, err := on.Exec(ctx, "delete", query, keep, args...)
	if sqldb.IsUnsafe(err) { // the server knows no way by the key here: then as it likes
		if err = ByKey(ctx, on, false); err == nil {
			n, err = on.Exec(ctx, "delete", query, keep, args...)
		}
	}
	if err == nil && n != int64(rows) {
		err = fmt.Errorf("%w: table %q: %d rows were to be removed, and there were %d: another process writes there", sqldb.ErrRetryable, l.Table, rows, n)
	}
	return err
}
