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

// Batch is some rows of a world that were read.
type Batch struct {
	Rows  int
	Sum   world.Sum
	After []any // the key of the last one
	Last  bool  // no more follow
}

// Write inserts what became of a batch, with its sum, in a transaction that saves the next checkpoint.
func (f *Filling) Write(ctx context.Context, r *Run, l *world.Layout, b Batch, rows [][]any, written world.Sum) error {
	now := &Filling{Checkpoint: f.Checkpoint, After: b.After}
	now.Saved, now.Finished, now.Written = true, b.Last, now.Written.Add(written)
	now.Rows, now.Sum = now.Rows+int64(b.Rows), now.Sum.Add(b.Sum)
	f.sent = now
	err := r.New.Tx(ctx, func() error {
		if err := r.Manifest.Save(ctx, &f.Checkpoint, &now.Checkpoint); err != nil {
			return err
		}
		return Insert(ctx, r, l, rows)
	})
	switch {
	case errors.Is(err, sqldb.ErrDuplicate):
		return &record.ChangedError{Database: f.World, Table: f.Table, Reason: "a row has a key or unique value that another row of the new database also has", Cause: err}
	case errors.Is(err, sqldb.ErrInvalid):
		return &record.ChangedError{Database: f.World, Table: f.Table, Reason: "the new database does not take a row as it is", Cause: err}
	case err != nil:
		return fmt.Errorf("writing table %q: %w", f.Table, err)
	}
	f.took(r)
	r.Committed++
	r.Progress(record.StepCopy, f.World, f.Table, b.Rows)
	return nil
}

// With returns a [*record.ChangedError] if the rows that were written and a batch are not the expected ones: at the end,
// or if there are more. In a rehearsal it notes at the end that they are others.
func (want Expected) With(r *Run, f *Filling, b Batch) error {
	c := f.Checkpoint
	c.Rows, c.Sum, c.Finished = c.Rows+int64(b.Rows), c.Sum.Add(b.Sum), b.Last
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

// Batches writes the rows of a table that come after those that were written, batch by batch, each in a transaction of
// the new database. become returns what is written for a page, with its sum; it may change the rows. At the end all rows
// together must be the expected ones.
func Batches(r *Run, ctx, soft context.Context, from *world.Connection, l *world.Layout, f *Filling, want Expected, become func(pg *world.Page) ([][]any, world.Sum, error)) error {
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
		began, b := time.Now(), Batch{Rows: len(pg.Rows), Sum: pg.Sum, After: f.After, Last: pg.Last}
		if b.Rows > 0 {
			b.After = l.KeyOf(pg.Rows[b.Rows-1])
		}
		if err := want.With(r, f, b); err != nil {
			return err
		}
		rows, written, err := become(pg)
		if err == nil {
			err = f.Write(soft, r, l, b, rows, written)
		}
		if err != nil {
			return err
		}
		p.Record(b.Rows, time.Since(began))
		if pg.Last {
			return nil
		}
	}
}
