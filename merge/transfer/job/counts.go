package job

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
)

// WorldsAsCounted returns a [*ledger.ChangedError] if a world of which rows came into a new database has
// another number of them in a table than the plan found.
func (r *Run) WorldsAsCounted(ctx context.Context) error {
	worlds := r.Worlds()
	look := func(world *rowio.Connection, table string, want int64) error {
		n, err := world.Number(ctx, "SELECT COUNT(*) FROM "+world.Dialect().Quote(table)+rowio.Where(world.Comes(table)), false)
		switch {
		case err != nil:
			return fmt.Errorf("counting the rows of table %q of %q: %w", table, world.Name, err)
		case n != want:
			return &ledger.ChangedError{Database: world.Name, Table: table, Rows: n, Want: want}
		}
		return nil
	}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		for k, world := range worlds {
			if want := t.In(k).Rows; k == 0 || want > 0 {
				if err := look(world, t.Name, want); err != nil {
					return err
				}
			}
		}
	}
	for i := range r.Plan.Into.Tables {
		t := &r.Plan.Into.Tables[i]
		if err := look(worlds[0], t.Name, t.Content.Rows); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) Count(ctx context.Context, table string) (int64, error) {
	return r.Target.Number(ctx, "SELECT COUNT(*) FROM "+r.Target.Dialect().Quote(table), false)
}
