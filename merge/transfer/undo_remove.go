package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// remove deletes the copied rows.
func (u *undo) remove(ctx context.Context) error {
	u.step(u.plan.Rows())
	var rest []part
	for _, p := range u.parts(0) {
		if len(u.plan.Tables[p.table].Key) > 0 {
			rest = append(rest, p)
			continue
		}
		// One source after the other, since equal rows of two are not told apart.
		if err := u.removePart(ctx, u.run, p); err != nil {
			return err
		}
	}
	return u.inParallel(ctx, writing, rest, u.removePart)
}

func (u *undo) removePart(ctx context.Context, w *run, p part) error {
	l, src := w.layouts[w.plan.Tables[p.table].Name], w.sources[p.source]
	change := w.changes.of(src.Name, l)
	return w.retryCounted(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, l.table), func(soft context.Context) error {
		copied, err := w.checkpoint(soft, StepCopy, src.Name, l.table)
		if err != nil || copied.rows == 0 {
			return err
		}
		c, err := w.checkpoint(soft, StepUndo, src.Name, l.table)
		if err != nil || c.finished {
			return err
		}
		w.progress(StepUndo, src.Name, l.table, int(c.rows))
		if l.multiset() {
			return u.removeMultiset(ctx, soft, w, src, l, copied, c)
		}
		return w.batches(ctx, soft, src, l, c, expected{rows: copied.rows, sum: copied.sum, part: true}, func(rows [][]any) (removed int64, err error) {
			if err := change.rows(rows); err != nil {
				return 0, err
			}
			return u.delete(soft, w.target, src.Name, l, rows)
		})
	})
}

// delete removes from the target the rows with the keys of these rows, and returns
// how many it removed. If one is not as it was copied, and the undo is not forced,
// it returns an error, and the transaction has to be rolled back.
func (u *undo) delete(ctx context.Context, on *connection, source string, l *layout, rows [][]any) (removed int64, err error) {
	for part := range slices.Chunk(rows, l.dialect.most(len(l.key))) {
		there, err := u.take(ctx, on, l, part)
		if err != nil {
			return removed, err
		}
		for i, row := range part {
			d := l.difference(row, there[i])
			if d != nil && !d.Missing && !u.force {
				d.Source = source
				return removed, fmt.Errorf("%s: it was changed while the undo ran; stop what writes there, then force the undo or set the row right", d)
			}
			if there[i] != nil {
				removed++
			}
		}
	}
	return removed, nil
}

// take deletes the rows with the keys of these rows, and returns them; nil for a
// row that was not there.
func (u *undo) take(ctx context.Context, on *connection, l *layout, rows [][]any) (there [][]any, err error) {
	remove := "DELETE FROM " + l.dialect.Quote(l.table) + " WHERE " + l.equal(len(rows))
	full := len(rows) == l.dialect.most(len(l.key))
	if u.plan.Engine != "mysql" && !u.hooks.noReturning {
		if err := on.fail.at("before delete"); err != nil {
			return nil, err
		}
		there, err = find(ctx, on, l, remove+" RETURNING "+strings.Join(l.reads, ", "), rows)
		if err != nil {
			return nil, err
		}
		return there, on.fail.at("after delete")
	}
	// MySQL does not return what it deletes.
	if there, err = lookup(ctx, on, l, rows); err != nil {
		return nil, err
	}
	want := int64(0)
	var args []any
	for i, row := range rows {
		args = append(args, l.keyOf(row)...)
		if there[i] != nil {
			want++
		}
	}
	got, err := on.exec(ctx, "delete", remove, full, args...)
	if err == nil && got != want {
		err = fmt.Errorf("table %q: %d rows were removed, want %d: something else happened there", l.table, got, want)
	}
	return there, err
}
