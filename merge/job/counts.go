package job

import (
	"context"
	"fmt"

	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// WorldsAsCounted returns a [*record.ChangedError] if a world has another number of rows in a table than the
// plan found.
func (r *Run) WorldsAsCounted(ctx context.Context) error {
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		for k, w := range r.Worlds {
			want := t.Worlds[k].Rows
			if k > 0 && want == 0 {
				continue // it may not have the table
			}
			n, err := w.Number(ctx, "SELECT COUNT(*) FROM "+w.Dialect().Quote(t.Name)+world.Where(w.Comes(t.Name)), false)
			switch {
			case err != nil:
				return fmt.Errorf("counting the rows of table %q of %q: %w", t.Name, w.Name, err)
			case n != want:
				return &record.ChangedError{Database: w.Name, Table: t.Name, Rows: n, Want: want}
			}
		}
	}
	return nil
}

// Count counts the rows of a table of the new database.
func (r *Run) Count(ctx context.Context, table string) (int64, error) {
	return r.New.Number(ctx, "SELECT COUNT(*) FROM "+r.New.Dialect().Quote(table), false)
}
