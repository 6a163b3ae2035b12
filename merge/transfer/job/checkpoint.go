package job

import (
	"context"

	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// CheckpointOf reads a checkpoint of a part of the plan.
func (r *Run) CheckpointOf(ctx context.Context, step string, p plan.Part) (*ledger.Checkpoint, error) {
	t := &r.Plan.Tables[p.Table]
	begin, err := t.Sources[p.Source].Begin(p.Number)
	if err != nil {
		return nil, err
	}
	return r.Checkpoint(ctx, step, ledger.Place{Source: r.Plan.Sources[p.Source].Name, Table: t.Name, Part: p.Number}, begin)
}

// CheckpointsOf reads the checkpoints of all rows of a source in a table of the plan.
func (r *Run) CheckpointsOf(ctx context.Context, step string, table, source int) (all []*ledger.Checkpoint, err error) {
	for i := range r.Plan.Tables[table].Sources[source].Parts() {
		c, err := r.CheckpointOf(ctx, step, plan.Part{Table: table, Source: source, Number: i})
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Checkpoint reads a checkpoint, and takes it into the result.
func (r *Run) Checkpoint(ctx context.Context, step string, at ledger.Place, begin []any) (*ledger.Checkpoint, error) {
	c := &ledger.Checkpoint{Step: step, Place: at, Begin: begin, After: begin}
	err := r.Target.Rows(ctx, "SELECT last_key, done_rows, row_sum, finished FROM "+ledger.ProgressTable+" WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND part = ?", true,
		[]any{r.Plan.ID, step, at.Source, at.Table, at.Part}, func(row []any) (bool, error) {
			rows, err := rowio.IntIn(row[1], ledger.ProgressTable+".done_rows")
			if err != nil {
				return false, err
			}
			finished, err := rowio.IntIn(row[3], ledger.ProgressTable+".finished")
			if err != nil {
				return false, err
			}
			c.Saved, c.Rows, c.Finished = true, rows, finished == 1
			if err := c.Sum.UnmarshalText([]byte(rowio.Text(row[2]))); err != nil {
				return false, err
			}
			if key := rowio.Text(row[0]); key != "" {
				c.After, err = rowio.DecodeKey(key)
			}
			return true, err
		})
	if err == nil {
		r.Reached(c, 0)
	}
	return c, err
}
