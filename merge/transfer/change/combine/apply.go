package combine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/transfer/write"
)

// bring brings the rows of the tables that are combined.
func bring(ctx context.Context, r *job.Run) error {
	for _, table := range r.Plan.Combines() {
		t := &r.Plan.Tables[table]
		err := r.RetryDuring(ctx, fmt.Sprintf("making the table for the old rows of table %q", t.Name), ledger.StateCopying, func(soft context.Context) error {
			_, err := r.Target.Exec(soft, "create", write.CreateKept(r, t.Name, t.Combine.Kept), false)
			return err
		})
		if err != nil {
			return err
		}
		for source := range r.Plan.Sources {
			if err := bringSource(ctx, r, table, source); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringSource brings the rows of one source, and with them those of others that have their
// keys.
func bringSource(ctx context.Context, r *job.Run, table, source int) error {
	t, src, c := &r.Plan.Tables[table], r.Sources[source], combinerOf(r, table)
	return r.RetryCounted(ctx, fmt.Sprintf("combining table %q of %q", t.Name, src.Name), func(soft context.Context) error {
		before, err := r.CheckpointOf(soft, ledger.StepCopy, plan.Part{Table: table, Source: source})
		if err != nil {
			return err
		}
		r.Resumed(ledger.StepCopy, src.Name, t.Name, before.Rows)
		if before.Finished {
			return nil
		}
		want := write.Expected{Rows: t.Sources[source].Rows, Sum: t.Sources[source].Sum}
		err = write.Batches(r, ctx, soft, src, c.L, before, want, func(rows [][]any) (int64, error) {
			n := int64(len(rows))
			return n, writeRows(soft, r, c, source, rows)
		})
		if why, is := errors.AsType[*CombineError](err); is { // the plan was told something else
			err = &ledger.ChangedError{Database: r.Target.Name, Table: t.Name, Reason: fmt.Sprintf("table %q: %v", t.Name, why)}
		}
		return err
	})
}

// writeRows writes what becomes of some rows of a source.
func writeRows(ctx context.Context, r *job.Run, c *Combiner, source int, rows [][]any) error {
	groups, err := c.Groups(ctx, source, rows, func(ctx context.Context, rows [][]any) ([][]any, error) {
		return lookUp(ctx, r.Target, c.L, func(n int) string { return c.L.Lock("("+c.L.Equal(n)+")", "") }, rows)
	})
	if err != nil {
		return err
	}
	var fresh, changed [][]any
	for _, g := range groups {
		row, err := c.Result(g)
		if err != nil {
			return fmt.Errorf("row %s: %w", c.L.KeyText(g.Came[0]), err)
		}
		if g.Own == nil {
			fresh = append(fresh, row)
		} else {
			changed = append(changed, row)
		}
	}
	if err := keep(ctx, r, c, changed); err != nil {
		return err
	}
	query, args := c.WriteOver()
	for _, row := range changed {
		if query == "" {
			break
		}
		if _, err := r.Target.Exec(ctx, "combine", query, true, append(args(row), c.L.Bound(c.L.KeyOf(row))...)...); err != nil {
			return fmt.Errorf("row %s: %w", c.L.KeyText(row), err)
		}
	}
	return write.Insert(ctx, r, c.L, fresh)
}

// keep notes the rows of the target with the keys of these as they are.
func keep(ctx context.Context, r *job.Run, c *Combiner, rows [][]any) error {
	kept := c.L.Of(c.Of.Kept)
	for some := range slices.Chunk(rows, c.L.Dialect.Most(len(c.L.Key))) {
		query := kept.InsertFrom("INSERT", c.L.Table) + " WHERE " + c.L.Equal(len(some))
		n, err := r.Target.Exec(ctx, "keep", query, false, c.L.BoundOf(some)...)
		if err == nil && n != int64(len(some)) {
			err = fmt.Errorf("table %q: %d rows were to be kept, and there were %d: another process writes to it", c.L.Table, len(some), n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// confirm makes sure that the rows of the target that were combined were those of the plan.
func confirm(ctx context.Context, r *job.Run) error {
	for _, table := range r.Plan.Combines() {
		t := &r.Plan.Tables[table]
		kept, err := kept(ctx, r, t)
		if err != nil {
			return err
		}
		if kept.Rows != t.Combine.Changed || kept.Sum != t.Combine.Was {
			return &ledger.ChangedError{Database: r.Target.Name, Table: t.Name, Rows: kept.Rows, Want: t.Combine.Changed,
				Reason: fmt.Sprintf("%s of table %q %s combined with others that came, want %d as planned", ledger.CountRows(kept.Rows), t.Name, map[bool]string{true: "was", false: "were"}[kept.Rows == 1], t.Combine.Changed)}
		}
	}
	return nil
}

// kept sums up the rows that are kept of a table.
func kept(ctx context.Context, r *job.Run, t *plan.Table) (rowio.Content, error) {
	return rowio.Contents(ctx, r.Target, r.Layouts[t.Name].Of(t.Combine.Kept), rowio.All, nil, nil, func(int) error { return r.Between(ctx) })
}

// ready refuses a target that has a table where one is to be made.
func ready(ctx context.Context, f *step.Flight) error {
	if !f.RowsCome() {
		return nil
	}
	there, err := f.Manifest.Tables(ctx)
	for _, table := range f.Plan.Combines() {
		t := &f.Plan.Tables[table]
		f.KeptBefore(there, t.Name, t.Combine.Kept)
	}
	return err
}
