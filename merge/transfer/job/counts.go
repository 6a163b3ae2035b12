package job

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
)

// WorldsAsCounted returns a [*ledger.ChangedError] if a world has another number of rows in a table than the
// plan found.
func (r *Run) WorldsAsCounted(ctx context.Context) error {
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		for k, world := range r.Worlds {
			want := t.Worlds[k].Rows
			if k > 0 && want == 0 {
				continue // it may not have the table
			}
			n, err := world.Number(ctx, "SELECT COUNT(*) FROM "+world.Dialect().Quote(t.Name)+rowio.Where(world.Comes(t.Name)), false)
			switch {
			case err != nil:
				return fmt.Errorf("counting the rows of table %q of %q: %w", t.Name, world.Name, err)
			case n != want:
				return &ledger.ChangedError{Database: world.Name, Table: t.Name, Rows: n, Want: want}
			}
		}
	}
	return nil
}

// Count counts the rows of a table of the new database.
func (r *Run) Count(ctx context.Context, table string) (int64, error) {
	return r.New.Number(ctx, "SELECT COUNT(*) FROM "+r.New.Dialect().Quote(table), false)
}
