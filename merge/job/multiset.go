package job

import (
	"context"

	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Gone counts the rows that came to a table without a key and are not there, as they
// were copied: one of several equal rows is as good as another.
func (r *Run) Gone(ctx context.Context, table int) (n int64, err error) {
	t := &r.Plan.Tables[table]
	l, came := r.Layouts[t.Name], make(map[string]int64)
	for i, w := range r.Worlds {
		if t.Worlds[i].Rows == 0 {
			continue
		}
		of, err := world.Identities(ctx, w, l, r.Changes.Moves(w.Name, l), nil)
		if err != nil {
			return 0, err
		}
		// The sum comes last, so that the rows counted were those of the plan.
		now, err := world.ContentsOfMultiset(ctx, w, l, nil, func(int) error { return nil })
		if want := t.Worlds[i]; err == nil && (now.Rows != want.Rows || now.Sum != want.Sum || world.Total64(of) != want.Rows) {
			err = &record.ChangedError{Database: w.Name, Table: l.Table, Rows: now.Rows, Want: want.Rows}
		}
		if err != nil {
			return 0, err
		}
		for is, rows := range of {
			came[is] += rows
		}
	}
	there, err := world.Identities(ctx, r.New, l, nil, came)
	for is, rows := range came {
		n += max(0, rows-there[is])
	}
	return n, err
}
