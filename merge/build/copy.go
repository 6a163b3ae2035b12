package build

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// copyPart copies the rows of one world to one table, or a range of them.
func copyPart(ctx context.Context, r *job.Run, p plan.Part) error {
	t, from := &r.Plan.Tables[p.Table], r.Worlds[p.World]
	l, content := r.Layouts[t.Name], &t.Worlds[p.World]
	begin, err := content.Begin(p.Number)
	if err != nil {
		return err
	}
	change := r.Changes.Of(from.Name, l)
	f := &job.Filling{Checkpoint: record.Checkpoint{Place: record.Place{World: from.Name, Table: t.Name, Part: p.Number}}, After: begin}
	return r.RetryCounted(ctx, fmt.Sprintf("copying table %q of %q", t.Name, from.Name), func(soft context.Context) error {
		if err := f.Settle(soft, r); err != nil {
			return err
		}
		r.Progress(record.StepCopy, from.Name, t.Name, int(f.Rows))
		if f.Finished {
			return nil
		}
		want := job.Expected{Rows: content.Rows, Sum: content.Sum}
		if ranges := content.Parts(); !r.Opts.Try {
			want = job.Expected{Rows: ranges[p.Number].Rows, Sum: ranges[p.Number].Sum, Part: p.Number < len(ranges)-1}
		}
		err = job.Batches(r, ctx, soft, from, l, f, want, func(pg *world.Page) ([][]any, world.Sum, error) {
			r.Seen.Add(r.Plan, p.World, l, pg.Rows) // their old keys
			changed, err := change.Rows(pg.Rows)
			if err != nil || !changed {
				return pg.Rows, pg.Sum, err
			}
			written, err := world.SumOf(pg.Rows)
			return pg.Rows, written, err
		})
		if err != nil {
			r.Seen.Forget(p.World, t.Name) // some of them may be written
		}
		if null, is := errors.AsType[*world.NullKeyError](err); is { // which the plan would have refused
			err = &record.ChangedError{Database: from.Name, Table: t.Name, Reason: "it was changed since the plan was made", Cause: null}
		}
		return err
	})
}

// copyKeyless copies the rows of all worlds to a table without a key. They have no order in which they could be
// read on, so after an error the table is emptied and filled again.
func copyKeyless(ctx context.Context, r *job.Run, t *plan.Table) error {
	again := false
	return r.RetryCounted(ctx, fmt.Sprintf("copying table %q", t.Name), func(soft context.Context) error {
		if again {
			if err := empty(soft, r, t.Name); err != nil {
				return err
			}
		}
		again = true
		for world := range r.Worlds {
			if !comes(t, world) {
				continue
			}
			if err := copyKeylessFrom(ctx, soft, r, t, world); err != nil {
				return err
			}
		}
		return nil
	})
}

func copyKeylessFrom(ctx, soft context.Context, r *job.Run, t *plan.Table, w int) error {
	const atOnce = 1000
	from, l := r.Worlds[w], r.Layouts[t.Name]
	change := r.Changes.Of(from.Name, l)
	f := &job.Filling{Checkpoint: record.Checkpoint{Place: record.Place{World: from.Name, Table: t.Name}}}
	want := job.Expected{Rows: t.Worlds[w].Rows, Sum: t.Worlds[w].Sum}
	var rows [][]any
	var sum, written world.Sum
	bytes := 0
	flush := func(last bool) error {
		if err := r.Between(ctx); err != nil {
			return err
		}
		b := job.Batch{Rows: len(rows), Sum: sum, Last: last}
		if err := want.With(r, f, b); err != nil {
			return err
		}
		err := f.Write(soft, r, l, b, rows, written)
		rows, sum, written, bytes = rows[:0], world.Sum{}, world.Sum{}, 0
		return err
	}
	var h world.Hasher
	err := world.Every(soft, from, l, func(row []any) error {
		one, err := h.Row(row)
		if err != nil {
			return err
		}
		became, err := h.Become(row, one, change)
		if err != nil {
			return err
		}
		rows, sum, written, bytes = append(rows, row), sum.Add(one), written.Add(became), bytes+job.RowSize(row)
		if len(rows) < atOnce && bytes < world.PageBytes {
			return nil
		}
		return flush(false)
	})
	if err != nil {
		return err
	}
	return flush(true)
}
