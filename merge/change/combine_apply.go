package change

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// bringCombined brings the rows of the tables that are combined.
func bringCombined(ctx context.Context, r *job.Run) error {
	for _, table := range r.Plan.Combines() {
		t := &r.Plan.Tables[table]
		for world := range r.Worlds {
			if r.Full[t.Name] || world > 0 && t.Worlds[world].Rows == 0 {
				continue
			}
			if err := bringCombinedWorld(ctx, r, table, world); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringCombinedWorld brings the rows of one world, and with them those of later ones that have their
// keys.
func bringCombinedWorld(ctx context.Context, r *job.Run, table, w int) error {
	t, from, c := &r.Plan.Tables[table], r.Worlds[w], combinerOf(r, table)
	f := &job.Filling{Checkpoint: record.Checkpoint{Place: record.Place{World: from.Name, Table: t.Name}}}
	return r.RetryCounted(ctx, fmt.Sprintf("combining table %q of %q", t.Name, from.Name), func(soft context.Context) error {
		if err := f.Settle(soft, r); err != nil {
			return err
		}
		r.Progress(record.StepCopy, from.Name, t.Name, int(f.Rows))
		if f.Finished {
			return nil
		}
		want := job.Expected{Rows: t.Worlds[w].Rows, Sum: t.Worlds[w].Sum}
		err := job.Batches(r, ctx, soft, from, c.L, f, want, func(pg *world.Page) ([][]any, world.Sum, error) {
			r.Seen.Add(r.Plan, w, c.L, pg.Rows) // their old keys
			return combined(soft, c, w, pg.Rows)
		})
		if err != nil {
			r.Seen.Forget(w, t.Name) // some of them may be written
		}
		if why, is := errors.AsType[*combineError](err); is { // the plan was told something else
			err = &record.ChangedError{Database: from.Name, Table: t.Name, Reason: why.Error()}
		}
		return err
	})
}

// combined is what becomes of some rows of a world, with its sum.
func combined(ctx context.Context, c *combiner, w int, rows [][]any) (results [][]any, sum world.Sum, err error) {
	groups, err := c.Groups(ctx, w, rows)
	if err != nil {
		return nil, sum, err
	}
	for _, g := range groups {
		row, err := c.Result(g)
		if err != nil {
			return nil, sum, fmt.Errorf("row %s: %w", c.L.KeyText(g[0]), err)
		}
		results = append(results, row)
	}
	sum, err = world.SumOf(results)
	return results, sum, err
}
