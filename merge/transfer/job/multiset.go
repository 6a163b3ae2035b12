package job

import (
	"context"

	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// CopiedFrom counts by identity the rows of a source that were copied to a table
// without a key, which must be as they were then.
func (r *Run) CopiedFrom(ctx context.Context, src *rowio.Connection, l *rowio.Layout, copied *ledger.Checkpoint) (map[string]int64, error) {
	came, err := rowio.Identities(ctx, src, l, r.Changes.Moves(src.Name, l), nil)
	if err != nil {
		return nil, err
	}
	// The sum comes last, so that the rows counted were those of the plan.
	now, err := rowio.ContentsOfMultiset(ctx, src, l, nil, func(int) error { return nil })
	if err == nil && (now.Rows != copied.Rows || now.Sum != copied.Sum || rowio.Total64(came) != copied.Rows) {
		err = &ledger.ChangedError{Database: src.Name, Table: l.Table, Rows: now.Rows, Want: copied.Rows, Undo: true}
	}
	return came, err
}

// CameTo counts so the rows of the first sources, so many, in a table.
func (r *Run) CameTo(ctx context.Context, table, sources int) (map[string]int64, error) {
	all := make(map[string]int64)
	for i, src := range r.Sources[:sources] {
		copied, err := r.CheckpointOf(ctx, ledger.StepCopy, plan.Part{Table: table, Source: i})
		if err != nil {
			return nil, err
		}
		if copied.Rows == 0 {
			continue
		}
		of, err := r.CopiedFrom(ctx, src, r.Layouts[r.Plan.Tables[table].Name], copied)
		if err != nil {
			return nil, err
		}
		for is, rows := range of {
			all[is] += rows
		}
	}
	return all, nil
}

// Gone counts the rows that came to a table without a key and are not there, as they
// were copied: one of several equal rows is as good as another.
func (r *Run) Gone(ctx context.Context, table int) (n int64, err error) {
	came, err := r.CameTo(ctx, table, len(r.Sources))
	if err != nil {
		return 0, err
	}
	there, err := rowio.Identities(ctx, r.Target, r.Layouts[r.Plan.Tables[table].Name], nil, came)
	for is, rows := range came {
		n += max(0, rows-there[is])
	}
	return n, err
}
