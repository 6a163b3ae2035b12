package undo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/write"
)

// remove deletes the copied rows, of one source after the other: in a table their rows
// may lie between each other, so that two who lock them would wait for each other.
// Ranges of one source do not.
func (u *undo) remove(ctx context.Context) error {
	u.Step(u.Plan.Rows())
	for i := range u.Plan.Sources {
		var of []plan.Part
		for _, p := range u.Plan.NotCombined(u.Parts(0, plan.Divided)) {
			if p.Source == i {
				of = append(of, p)
			}
		}
		if err := u.InParallel(ctx, job.Writing, of, u.removePart); err != nil {
			return err
		}
	}
	return nil
}

func (u *undo) removePart(ctx context.Context, w *job.Run, p plan.Part) error {
	l, src := w.Layouts[w.Plan.Tables[p.Table].Name], w.Sources[p.Source]
	return w.RetryCounted(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, l.Table), func(soft context.Context) error {
		copied, err := w.CheckpointOf(soft, ledger.StepCopy, p)
		if err != nil || copied.Rows == 0 {
			return err
		}
		c, err := w.CheckpointOf(soft, ledger.StepUndo, p)
		if err != nil || c.Finished {
			return err
		}
		w.Resumed(ledger.StepUndo, src.Name, l.Table, c.Rows)
		if l.Multiset() {
			return u.removeMultiset(ctx, soft, w, p, copied, c)
		}
		if err := write.ByKey(soft, w.Target, true); err != nil {
			return err
		}
		if err := u.removeStretches(ctx, soft, w, src, l, u.copied[p], c); err != nil {
			return err
		}
		return write.ByKey(soft, w.Target, false)
	})
}

// removeStretches removes what came from a checkpoint on, some stretches at a time, in
// a transaction that saves the next checkpoint.
func (u *undo) removeStretches(ctx, soft context.Context, w *job.Run, src *rowio.Connection, l *rowio.Layout, all *cameRows, before *ledger.Checkpoint) error {
	todo, at := all.stretches, all.from
	for len(todo) > 0 && at.Rows < before.Rows { // removed by this call before it lost the connection
		at.Rows, at.Sum, todo = at.Rows+todo[0].rows, at.Sum.Add(todo[0].sum), todo[1:]
	}
	if at.Rows != before.Rows || at.Sum != before.Sum {
		return ledger.MovedError(before)
	}
	pace := rowio.NewPace(w.Hooks.Batch)
	for {
		if err := w.Between(ctx); err != nil {
			return err
		}
		began := time.Now()
		now := *before
		n := 0
		for n < len(todo) && (n == 0 || now.Rows-before.Rows+todo[n].rows <= int64(pace.Size())) {
			now.Rows, now.Sum, now.After = now.Rows+todo[n].rows, now.Sum.Add(todo[n].sum), todo[n].last
			n++
		}
		now.Saved, now.Finished = true, n == len(todo)
		removed := int64(0)
		err := w.Target.Tx(soft, func() error {
			after := before.After
			for i := range todo[:n] {
				rows, err := u.removeStretch(soft, w, src, l, &todo[i], after)
				if err != nil {
					return err
				}
				removed, after = removed+rows, todo[i].last
			}
			return w.Manifest.Save(soft, before, &now)
		})
		if err != nil {
			return write.NotWritten(soft, w, before, err)
		}
		w.Committed++
		done := int(now.Rows - before.Rows)
		pace.Record(done, time.Since(began))
		w.Reached(&now, removed)
		w.Progress(ledger.StepUndo, src.Name, l.Table, done)
		if now.Finished {
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
func (u *undo) removeStretch(ctx context.Context, w *job.Run, src *rowio.Connection, l *rowio.Layout, s *stretch, after []any) (removed int64, err error) {
	between, err := lockBetween(ctx, w.Target, l, s)
	if err != nil {
		return 0, err
	}
	if between != nil && int64(len(between)) == s.rows {
		sum, err := rowio.SumOf(between)
		if err != nil {
			return 0, err
		}
		if sum == s.came {
			return s.rows, write.DeleteBetween(ctx, w.Target, l, s.low, s.high, len(between))
		}
	}
	came, err := u.again(ctx, w, src, l, s, after)
	if err != nil {
		return 0, err
	}
	there, all := make([][]any, len(came)), between != nil
	if all {
		places, err := l.Places(came)
		if err != nil {
			return 0, err
		}
		for i, row := range between {
			at, ok, err := places.Of(row)
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
		for at, size := 0, l.Dialect.Most(len(l.Key)); at < len(came); at += size {
			part := came[at:min(at+size, len(came))]
			found, err := rowio.Find(ctx, w.Target, l, l.Lock(l.Equal(len(part)), ""), part)
			if err != nil {
				return 0, err
			}
			copy(there[at:], found)
		}
		between = there
	}
	for i, row := range came {
		if d := evidence.DifferenceOf(l, row, there[i]); d != nil && !d.Missing && !u.Force {
			d.Source = src.Name
			return 0, fmt.Errorf("%s: it was changed while the undo ran; stop the process that writes there, then force the undo or correct the row", d)
		}
	}
	return write.DeleteRows(ctx, w.Target, l, between, all)
}

// lockBetween reads and locks the rows of the target with keys between those of a
// stretch, in their order. It returns nil if they came in another order, or many
// others lie between them.
func lockBetween(ctx context.Context, on *rowio.Connection, l *rowio.Layout, s *stretch) (rows [][]any, err error) {
	if s.low == nil {
		return nil, nil
	}
	most := 2 * s.rows
	within, args := l.Within(s.low, s.high)
	query := l.Lock(within, " ORDER BY "+l.Dialect.QuoteAll(l.KeyColumns())+fmt.Sprintf(" LIMIT %d", 2*stretchRows+1))
	rows = make([][]any, 0, s.rows)
	add := func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.Tidy(row)
		rows = append(rows, row)
		return int64(len(rows)) <= most, nil
	}
	err = on.Rows(ctx, query, !l.Lists(), args, add)
	if err == nil && int64(len(rows)) <= most {
		err = on.Rows(ctx, l.Lock(l.Equal(1), ""), true, l.Bound(s.high), add)
	}
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
	}
	if int64(len(rows)) > most {
		return nil, nil
	}
	return rows, nil
}

// again reads the rows of a stretch again, as they came.
func (u *undo) again(ctx context.Context, w *job.Run, src *rowio.Connection, l *rowio.Layout, s *stretch, after []any) ([][]any, error) {
	var rows [][]any
	var sum rowio.Sum
	var h rowio.Hasher
	for last := after; int64(len(rows)) < s.rows; last = l.KeyOf(rows[len(rows)-1]) {
		p, err := rowio.ReadPage(ctx, src, l, last, int(s.rows)-len(rows), &h)
		if err != nil {
			return nil, err
		}
		rows, sum = append(rows, p.Rows...), sum.Add(p.Sum)
		if len(p.Rows) == 0 {
			break
		}
	}
	if int64(len(rows)) != s.rows || sum != s.sum {
		return nil, &ledger.ChangedError{Database: src.Name, Table: l.Table, Rows: int64(len(rows)), Want: s.rows, Undo: true}
	}
	return rows, w.Changes.Of(src.Name, l).Rows(rows)
}
