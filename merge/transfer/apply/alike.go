package apply

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

// alike refuses a database in which rows that were the same in every one are not as they
// were when the plan was made.
func (f *flight) alike(ctx context.Context, database int, s *rowio.Source) error {
	for i := range f.Plan.Alike {
		a := &f.Plan.Alike[i]
		if database >= len(a.Sums) {
			continue
		}
		c, err := planner.Contents(ctx, a, f.Model, s, s.On)
		if err != nil {
			return err
		}
		if c.Sum != a.Sums[database] {
			which := "its rows, which are the same in every database,"
			if a.Column != "" {
				which = fmt.Sprintf("its built-in rows (%s %s)", a.Column, a.Keys)
			}
			f.Refuse(s.Name(), a.Table, "%s are not the same as when the plan was made: plan again", which)
		}
	}
	return nil
}
