package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/sqldb"

	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Expected is what the rows of a place must be together.
type Expected struct {
	Rows int64
	Sum  world.Sum
	Part bool // more rows may follow, which are not read
}

// Filling is a place that this process fills: what it wrote, and what it sent and has no answer to.
type Filling struct {
	record.Checkpoint
	After []any // the key after which the rows go on; nil: from the first one

	sent *Filling
}

// Settle finds out what became of a batch without an answer. It has to be called before more is sent.
func (f *Filling) Settle(ctx context.Context, r *Run) error {
	if f.sent == nil {
		return nil
	}
	saved, err := r.Manifest.Settle(ctx, &f.Checkpoint, &f.sent.Checkpoint)
	if err != nil {
		return err
	}
	if saved {
		f.took(r)
	}
	f.sent = nil
	return nil
}

func (f *Filling) took(r *Run) {
	written := f.sent.Rows - f.Rows
	f.Checkpoint, f.After, f.sent = f.sent.Checkpoint, f.sent.After, nil
	r.Tally.reached(&f.Checkpoint, written)
}

// Write calls work in a transaction that saves the next checkpoint: after so many rows with this sum, the last of which
// has the key after.
func (f *Filling) Write(ctx context.Context, r *Run, rows int, sum world.Sum, after []any, finished bool, work func() error) error {
	now := &Filling{Checkpoint: f.Checkpoint, After: after}
	now.Saved, now.Finished = true, finished
	now.Rows, now.Sum = now.Rows+int64(rows), now.Sum.Add(sum)
	f.sent = now
	err := r.New.Tx(ctx, func() error {
		if err := r.Manifest.Save(ctx, &f.Checkpoint, &now.Checkpoint); err != nil {
			return err
		}
		return work()
	})
	switch {
	case errors.Is(err, sqldb.ErrDuplicate):
		return &record.ChangedError{Database: f.World, Table: f.Table, Reason: "a row has a key or a unique value that another row of the new database has", Cause: err}
	case errors.Is(err, sqldb.ErrInvalid):
		return &record.ChangedError{Database: f.World, Table: f.Table, Reason: "the new database does not take a row as it is", Cause: err}
	case err != nil:
		return fmt.Errorf("writing table %q: %w", f.Table, err)
	}
	f.took(r)
	r.Committed++
	r.Progress(record.StepCopy, f.World, f.Table, rows)
	return nil
}

// As returns a [*record.ChangedError] if the rows are not the expected ones: at the end, or if there are more. In a
// rehearsal it notes at the end that they are others.
func (want Expected) As(r *Run, c *record.Checkpoint) error {
	if r.Opts.Try {
		if c.Finished && (c.Rows != want.Rows || c.Sum != want.Sum) {
			r.Tally.noteChanged(Changed{World: c.World, Table: c.Table, Rows: c.Rows, Want: want.Rows})
		}
		return nil
	}
	if c.Rows > want.Rows || c.Finished && c.Rows < want.Rows || c.Rows == want.Rows && c.Sum != want.Sum {
		return &record.ChangedError{Database: c.World, Table: c.Table, Rows: c.Rows, Want: want.Rows, Part: want.Part || !c.Finished}
	}
	return nil
}

// Batches calls work with the rows of a table that come after those that were written, batch by batch, each in a
// transaction of the new database. At the end all rows together must be the expected ones.
func Batches(r *Run, ctx, soft context.Context, from *world.Connection, l *world.Layout, f *Filling, want Expected, work func(rows [][]any) error) error {
	p := world.NewPace(r.Hooks.Batch)
	most := int64(world.All)
	if want.Part {
		most = want.Rows - f.Rows
	}
	next, stop := world.Pages(soft, from, l, f.After, p.Size, most, true)
	defer stop()
	for {
		if err := r.Between(ctx); err != nil {
			return err
		}
		pg, err := next()
		if err != nil {
			return err
		}
		began, after := time.Now(), f.After
		if n := len(pg.Rows); n > 0 {
			after = l.KeyOf(pg.Rows[n-1])
		}
		read := f.Checkpoint
		read.Rows, read.Sum, read.Finished = read.Rows+int64(len(pg.Rows)), read.Sum.Add(pg.Sum), pg.Last
		if err := want.As(r, &read); err != nil {
			return err
		}
		if err := f.Write(soft, r, len(pg.Rows), pg.Sum, after, pg.Last, func() error { return work(pg.Rows) }); err != nil {
			return err
		}
		p.Record(len(pg.Rows), time.Since(began))
		if pg.Last {
			return nil
		}
	}
}
