package prove

import (
	"context"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/rowio"
)

// compare compares the rows of a world, as they were to come, with the rows of the new database that
// have their keys. It calls differs for each pair that is not the same. It ends with ctx, also if
// soft has not ended.
func compare(r *job.Run, ctx, soft context.Context, world *rowio.Connection, l *rowio.Layout, differs func(d *evidence.Difference, row, there []any) error) error {
	change := r.Changes.Of(world.Name, l)
	size := l.Dialect.Most(len(l.Key))
	next, stop := rowio.Pages(soft, world, l, nil, func() int { return size }, rowio.All, false)
	defer stop()
	for {
		if err := r.Between(ctx); err != nil {
			return err
		}
		p, err := next()
		if err != nil || len(p.Rows) == 0 {
			return err
		}
		if err := change.Rows(p.Rows); err != nil {
			return err
		}
		there, err := rowio.Find(soft, r.New, l, l.SelectEqual(len(p.Rows)), p.Rows)
		if err != nil {
			return err
		}
		for i, row := range p.Rows {
			if d := evidence.DifferenceOf(l, row, there[i]); d != nil {
				d.Source = world.Name
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
