package prove

import (
	"context"

	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/world"
)

// compare compares the rows of a world, as they were to come, with the rows of the new database that
// have their keys, as lower leaves them if it is not nil. It calls differs for each pair that is not the same. It ends with ctx, also if
// soft has not ended.
func compare(r *job.Run, ctx, soft context.Context, w *world.Connection, l *world.Layout, lower func(row []any) error, differs func(d *evidence.Difference, row, there []any) error) error {
	change := r.Changes.Of(w.Name, l)
	size := l.Dialect.Most(len(l.Key))
	next, stop := world.Pages(soft, w, l, nil, func() int { return size }, world.All, false)
	defer stop()
	for {
		if err := r.Between(ctx); err != nil {
			return err
		}
		p, err := next()
		if err != nil || len(p.Rows) == 0 {
			return err
		}
		if _, err := change.Rows(p.Rows); err != nil {
			return err
		}
		there, _, err := world.Find(soft, r.New, l, l.SelectEqual(len(p.Rows)), p.Rows)
		if err != nil {
			return err
		}
		for i, row := range p.Rows {
			if there[i] != nil && lower != nil {
				if err := lower(there[i]); err != nil {
					return err
				}
			}
			if d := evidence.DifferenceOf(l, row, there[i]); d != nil {
				d.Source = w.Name
				if err := differs(d, row, there[i]); err != nil {
					return err
				}
			}
		}
		if p.Last {
			return nil
		}
	}
}
