package apply

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/write"
)

// copyPart copies the rows of one source to one table, or a range of them.
func copyPart(ctx context.Context, r *job.Run, p plan.Part) error {
	t := &r.Plan.Tables[p.Table]
	l := r.Layouts[t.Name]
	return copyRange(ctx, r, ledger.StepCopy, r.Sources[p.Source], l, &t.Sources[p.Source], p.Number, func(rows [][]any) {
		if rows == nil {
			r.Seen.Forget(p.Source, t.Name)
		}
		r.Seen.Add(r.Plan, p.Source, l, rows)
	})
}

// copyRange copies the rows of one world to one table, or one range of them. see is called with
// the rows as they are there, and with nil if they may not have been written.
func copyRange(ctx context.Context, r *job.Run, step string, from *rowio.Connection, l *rowio.Layout, content *rowio.Content, number int, see func(rows [][]any)) error {
	change := r.Changes.Of(from.Name, l)
	return r.RetryCounted(ctx, fmt.Sprintf("copying table %q of %q", l.Table, from.Name), func(soft context.Context) error {
		begin, err := content.Begin(number)
		if err != nil {
			return err
		}
		c, err := r.Checkpoint(soft, step, ledger.Place{Source: from.Name, Table: l.Table, Part: number}, begin)
		if err != nil {
			return err
		}
		r.Resumed(step, from.Name, l.Table, c.Rows)
		if c.Finished {
			return nil
		}
		if l.Multiset() {
			return copyMultiset(r, ctx, soft, from, l, c, *content)
		}
		ranges := content.Parts()
		want := write.Expected{Rows: ranges[number].Rows, Sum: ranges[number].Sum, Part: number < len(ranges)-1}
		err = write.Batches(r, ctx, soft, from, l, c, want, func(rows [][]any) (int64, error) {
			see(rows)
			if err := change.Rows(rows); err != nil {
				return 0, err
			}
			return int64(len(rows)), write.Insert(soft, r, l, rows)
		})
		if err != nil {
			see(nil)
		}
		return err
	})
}
