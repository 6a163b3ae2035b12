package transfer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
)

// remove deletes the copied rows, of one source after the other: in a table their rows
// may lie between each other, so that two who lock them would wait for each other.
// Ranges of one source do not.
func (u *undo) remove(ctx context.Context) error {
	u.step(u.plan.Rows())
	for i := range u.plan.Sources {
		var of []part
		for _, p := range u.plan.notCombined(u.parts(0, divided)) {
			if p.source == i {
				of = append(of, p)
			}
		}
		if err := u.inParallel(ctx, writing, of, u.removePart); err != nil {
			return err
		}
	}
	return nil
}

func (u *undo) removePart(ctx context.Context, w *run, p part) error {
	l, src := w.layouts[w.plan.Tables[p.table].Name], w.sources[p.source]
	return w.retryCounted(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, l.table), func(soft context.Context) error {
		copied, err := w.checkpointOf(soft, StepCopy, p)
		if err != nil || copied.rows == 0 {
			return err
		}
		c, err := w.checkpointOf(soft, StepUndo, p)
		if err != nil || c.finished {
			return err
		}
		w.resumed(StepUndo, src.Name, l.table, c.rows)
		if l.multiset() {
			return u.removeMultiset(ctx, soft, w, p, copied, c)
		}
		if err := w.target.byKey(soft, true); err != nil {
			return err
		}
		if err := u.removeStretches(ctx, soft, w, src, l, u.copied[p], c); err != nil {
			return err
		}
		return w.target.byKey(soft, false)
	})
}

// byKey lets DELETE look keys up even where to read the whole table takes less; see
// [layout.lock]. It has no form to say so for one statement.
func (c *connection) byKey(ctx context.Context, only bool) error {
	if !c.dialect().mysql() {
		return nil
	}
	set := "SET SESSION sql_safe_updates = 0"
	if only {
		set = "SET SESSION sql_safe_updates = 1"
	}
	_, err := c.exec(ctx, "set", set, false)
	return err
}

// removeStretches removes what came from a checkpoint on, some stretches at a time, in
// a transaction that saves the next checkpoint.
func (u *undo) removeStretches(ctx, soft context.Context, w *run, src *connection, l *layout, all *copied, before *checkpoint) error {
	todo, at := all.stretches, all.from
	for len(todo) > 0 && at.rows < before.rows { // removed by this call before it lost the connection
		at.rows, at.sum, todo = at.rows+todo[0].rows, at.sum.Add(todo[0].sum), todo[1:]
	}
	if at.rows != before.rows || at.sum != before.sum {
		return movedError(before)
	}
	pace := newPace(w.hooks.batch)
	for {
		if err := w.between(ctx); err != nil {
			return err
		}
		began := time.Now()
		now := *before
		n := 0
		for n < len(todo) && (n == 0 || now.rows-before.rows+todo[n].rows <= int64(pace.size())) {
			now.rows, now.sum, now.after = now.rows+todo[n].rows, now.sum.Add(todo[n].sum), todo[n].last
			n++
		}
		now.saved, now.finished = true, n == len(todo)
		removed := int64(0)
		err := w.target.tx(soft, func() error {
			after := before.after
			for i := range todo[:n] {
				rows, err := u.removeStretch(soft, w, src, l, &todo[i], after)
				if err != nil {
					return err
				}
				removed, after = removed+rows, todo[i].last
			}
			return w.manifest.save(soft, before, &now)
		})
		if err != nil {
			return w.notWritten(soft, before, err)
		}
		w.committed++
		done := int(now.rows - before.rows)
		pace.took(done, time.Since(began))
		w.reached(&now, removed)
		w.progress(StepUndo, src.Name, l.table, done)
		if now.finished {
			return nil
		}
		before, todo = &now, todo[n:]
	}
}

// removeStretch removes the rows of a stretch that are there, and returns how many it
// removed. If one is not as it was copied, and the undo is not forced, it returns an
// error, and the transaction has to be rolled back.
//
// It locks the rows that are there, and removes them when it has seen that they are as
// they were copied. If the target has no others between them, their sum tells.
func (u *undo) removeStretch(ctx context.Context, w *run, src *connection, l *layout, s *stretch, after []any) (removed int64, err error) {
	between, err := lockBetween(ctx, w.target, l, s)
	if err != nil {
		return 0, err
	}
	if between != nil && int64(len(between)) == s.rows {
		sum, err := sumOf(between)
		if err != nil {
			return 0, err
		}
		if sum == s.came {
			return s.rows, deleteBetween(ctx, w.target, l, s.low, s.high, len(between))
		}
	}
	came, err := u.again(ctx, w, src, l, s, after)
	if err != nil {
		return 0, err
	}
	there, all := make([][]any, len(came)), between != nil
	if all {
		places, err := l.places(came)
		if err != nil {
			return 0, err
		}
		for i, row := range between {
			at, ok, err := places.of(row)
			if err != nil {
				return 0, err
			}
			if !ok {
				between[i] = nil // stays
			} else {
				there[at] = row
			}
		}
	} else {
		for at, size := 0, l.dialect.most(len(l.key)); at < len(came); at += size {
			part := came[at:min(at+size, len(came))]
			found, err := find(ctx, w.target, l, l.lock(l.equal(len(part)), ""), part)
			if err != nil {
				return 0, err
			}
			copy(there[at:], found)
		}
		between = there
	}
	for i, row := range came {
		if d := l.difference(row, there[i]); d != nil && !d.Missing && !u.force {
			d.Source = src.Name
			return 0, fmt.Errorf("%s: it was changed while the undo ran; stop the process that writes there, then force the undo or correct the row", d)
		}
	}
	return deleteRows(ctx, w.target, l, between, all)
}

// lockBetween reads and locks the rows of the target with keys between those of a
// stretch, in their order. It returns nil if they came in another order, or many
// others lie between them.
func lockBetween(ctx context.Context, on *connection, l *layout, s *stretch) (rows [][]any, err error) {
	if s.low == nil {
		return nil, nil
	}
	most := 2 * s.rows
	within, args := l.within(s.low, s.high)
	query := l.lock(within, " ORDER BY "+l.dialect.QuoteAll(l.keyColumns())+fmt.Sprintf(" LIMIT %d", 2*stretchRows+1))
	rows = make([][]any, 0, s.rows)
	add := func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.tidy(row)
		rows = append(rows, row)
		return int64(len(rows)) <= most, nil
	}
	err = on.rows(ctx, query, !l.lists(), args, add)
	if err == nil && int64(len(rows)) <= most {
		err = on.rows(ctx, l.lock(l.equal(1), ""), true, l.bound(s.high), add)
	}
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	if int64(len(rows)) > most {
		return nil, nil
	}
	return rows, nil
}

// again reads the rows of a stretch again, as they came.
func (u *undo) again(ctx context.Context, w *run, src *connection, l *layout, s *stretch, after []any) ([][]any, error) {
	var rows [][]any
	var sum Sum
	var h hasher
	for last := after; int64(len(rows)) < s.rows; last = l.keyOf(rows[len(rows)-1]) {
		p, err := readPage(ctx, src, l, last, int(s.rows)-len(rows), &h)
		if err != nil {
			return nil, err
		}
		rows, sum = append(rows, p.rows...), sum.Add(p.sum)
		if len(p.rows) == 0 {
			break
		}
	}
	if int64(len(rows)) != s.rows || sum != s.sum {
		return nil, &ChangedError{Database: src.Name, Table: l.table, Rows: int64(len(rows)), Want: s.rows, Undo: true}
	}
	return rows, w.changes.of(src.Name, l).rows(rows)
}

// sumOf sums rows up.
func sumOf(rows [][]any) (all Sum, err error) {
	var h hasher
	for _, row := range rows {
		sum, err := h.row(row)
		if err != nil {
			return all, err
		}
		all = all.Add(sum)
	}
	return all, nil
}

// fewRows is how many rows are rather removed one by one than from the first key to
// the last.
const fewRows = 32

// deleteRows removes rows, and returns how many these were; nil stands for a row that
// stays. With all, they are in order, and all that lie between the first and the last
// are given: then most are removed from one key to another.
func deleteRows(ctx context.Context, on *connection, l *layout, rows [][]any, all bool) (removed int64, err error) {
	var few [][]any
	for len(rows) > 0 {
		n := 0
		for n < len(rows) && rows[n] != nil {
			n++
		}
		if n > fewRows && all {
			if err := deleteBetween(ctx, on, l, l.keyOf(rows[0]), l.keyOf(rows[n-1]), n); err != nil {
				return removed, err
			}
		} else {
			few = append(few, rows[:n]...)
		}
		removed += int64(n)
		rows = rows[min(n+1, len(rows)):]
	}
	for size := l.dialect.most(len(l.key)); len(few) > 0; few = few[min(size, len(few)):] {
		part := few[:min(size, len(few))]
		if err := deleteExactly(ctx, on, l, l.equal(len(part)), len(part) == size, l.boundOf(part), len(part)); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// deleteBetween removes so many rows, which are all from one key to another.
func deleteBetween(ctx context.Context, on *connection, l *layout, low, high []any, rows int) error {
	if rows > 1 {
		within, args := l.within(low, high)
		if err := deleteExactly(ctx, on, l, within, !l.lists(), args, rows-1); err != nil {
			return err
		}
	}
	return deleteExactly(ctx, on, l, l.equal(1), true, l.bound(high), 1)
}

// deleteExactly removes so many rows. If there were others, because something writes
// there, it returns an error, the transaction has to be rolled back, and a retry sees
// them.
func deleteExactly(ctx context.Context, on *connection, l *layout, where string, keep bool, args []any, rows int) error {
	query := "DELETE FROM " + l.dialect.Quote(l.table) + " WHERE " + where
	n, err := on.exec(ctx, "delete", query, keep, args...)
	if sqldb.IsUnsafe(err) { // the server knows no way by the key here: then as it likes
		if err = on.byKey(ctx, false); err == nil {
			n, err = on.exec(ctx, "delete", query, keep, args...)
		}
	}
	if err == nil && n != int64(rows) {
		err = fmt.Errorf("%w: table %q: %d rows were to be removed, and there were %d: another process writes there", sqldb.ErrRetryable, l.table, rows, n)
	}
	return err
}
