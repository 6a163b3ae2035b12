package apply

import (
	"context"
	"errors"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/write"
)

// copyMultiset copies all rows of a source to a table without a key, in one
// transaction.
func copyMultiset(r *job.Run, ctx, soft context.Context, src *rowio.Connection, l *rowio.Layout, before *ledger.Checkpoint, want rowio.Content) error {
	change := r.Changes.Of(src.Name, l)
	if err := r.Between(ctx); err != nil {
		return err
	}
	const atOnce = 1000
	now := *before
	now.Saved, now.Finished = true, true
	err := r.Target.Tx(soft, func() error {
		var rows [][]any
		flush := func() error {
			err := write.Insert(soft, r, l, rows)
			rows = rows[:0]
			return err
		}
		var h rowio.Hasher
		bytes := 0
		err := rowio.Every(soft, src, l, func(row []any) error {
			sum, err := h.Row(row)
			if err != nil {
				return err
			}
			now.Rows, now.Sum = now.Rows+1, now.Sum.Add(sum)
			if _, err := change.Row(row); err != nil {
				return err
			}
			rows, bytes = append(rows, row), bytes+write.RowSize(row)
			if len(rows) < atOnce && bytes < rowio.PageBytes {
				return nil
			}
			bytes = 0
			return flush()
		})
		if err == nil {
			err = flush()
		}
		if err == nil && (now.Rows != want.Rows || now.Sum != want.Sum) {
			err = &ledger.ChangedError{Database: src.Name, Table: l.Table, Rows: now.Rows, Want: want.Rows}
		}
		if err != nil {
			return err
		}
		return r.Manifest.Save(soft, before, &now)
	})
	return DidMultiset(soft, r, src, l, before, &now, now.Rows, err)
}

// DidMultiset notes what a transaction did, or why it failed.
func DidMultiset(ctx context.Context, r *job.Run, src *rowio.Connection, l *rowio.Layout, before, now *ledger.Checkpoint, written int64, err error) error {
	if _, changed := errors.AsType[*ledger.ChangedError](err); changed {
		return err
	}
	if err != nil {
		return write.NotWritten(ctx, r, before, err)
	}
	r.Committed++
	r.Reached(now, written)
	r.Progress(now.Step, src.Name, l.Table, int(now.Rows))
	return nil
}
