// Package write writes rows of a merge to its target and removes them, in batches that save a checkpoint.
package write

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
)

// Expected is what the rows of a table must be together.
type Expected struct {
	Rows int64
	Sum  rowio.Sum
	Part bool // more rows may follow, which are not read
	Any  bool // nothing is expected
}

// Batches calls work with the rows of a table that come after a checkpoint, batch
// by batch, each in a transaction of the target that saves the next checkpoint.
// At the end all rows together must be the expected ones. work returns how many
// rows it wrote.
func Batches(r *job.Run, ctx, soft context.Context, from *rowio.Connection, l *rowio.Layout, before *ledger.Checkpoint, want Expected, work func(rows [][]any) (int64, error)) error {
	p := rowio.NewPace(r.Hooks.Batch)
	most := int64(rowio.All)
	if want.Part {
		most = want.Rows - before.Rows
	}
	next, stop := rowio.Pages(soft, from, l, before.After, p.Size, most, true)
	defer stop()
	for {
		if err := r.Between(ctx); err != nil {
			return err
		}
		pg, err := next()
		if err != nil {
			return err
		}
		began := time.Now()
		now := *before
		now.Saved, now.Finished = true, pg.Last
		now.Rows += int64(len(pg.Rows))
		now.Sum = now.Sum.Add(pg.Sum)
		if n := len(pg.Rows); n > 0 {
			now.After = l.KeyOf(pg.Rows[n-1])
		}
		if !want.Any && (now.Rows > want.Rows || now.Finished && now.Rows < want.Rows || now.Rows == want.Rows && now.Sum != want.Sum) {
			return &ledger.ChangedError{Database: from.Name, Table: l.Table, Rows: now.Rows, Want: want.Rows, Part: want.Part || !now.Finished}
		}
		var written int64
		err = r.Target.Tx(soft, func() (err error) {
			if written, err = work(pg.Rows); err == nil {
				err = r.Manifest.Save(soft, before, &now)
			}
			return err
		})
		if err != nil {
			return NotWritten(soft, r, before, err)
		}
		r.Committed++
		p.Record(len(pg.Rows), time.Since(began))
		r.Reached(&now, written)
		r.Progress(now.Step, from.Name, l.Table, len(pg.Rows))
		if pg.Last {
			return nil
		}
		before = &now
	}
}

// NotWritten says why a batch could not be written. A row that is there already
// was either copied by another process just now, or is not of this merge.
func NotWritten(ctx context.Context, r *job.Run, before *ledger.Checkpoint, err error) error {
	if errors.Is(err, sqldb.ErrDuplicate) && before.Step == ledger.StepRestore {
		return fmt.Errorf("transfer: table %q of %q: a row cannot get its old value back, because a new row has it: give the new row another value or remove it, then run undo again: %w", before.Table, before.Source, err)
	}
	if errors.Is(err, sqldb.ErrDuplicate) {
		now, readErr := r.Checkpoint(ctx, before.Step, before.Place, before.Begin)
		switch {
		case readErr != nil:
			err = readErr
		case now.Rows != before.Rows:
			return ledger.MovedError(now)
		default:
			return fmt.Errorf("transfer: table %q: a row of %q is in the target already, and was not when the plan was made: undo the merge and plan again: %w", before.Table, before.Source, err)
		}
	}
	return fmt.Errorf("writing table %q: %w", before.Table, err)
}
