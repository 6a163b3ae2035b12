package same

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/step"
)

// ready refuses a database in which rows that were the same in every one are not as they
// were when the plan was made.
func ready(ctx context.Context, f *step.Flight) error {
	database, s := f.Database, f.Source
	for i := range f.Plan.Alike {
		a := &f.Plan.Alike[i]
		if database >= len(a.Sums) {
			continue
		}
		c, err := contents(ctx, a, f.Model, s, s.On)
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
