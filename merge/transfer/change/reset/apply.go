package reset

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/change/reset/restore"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/write"
)

// empty takes the rows out of the tables that are emptied.
func empty(ctx context.Context, r *job.Run) error {
	r.Step(r.Plan.TakenOut())
	for i := range r.Plan.Resets {
		s := &r.Plan.Resets[i]
		err := r.Retry(ctx, fmt.Sprintf("emptying table %q of %q", s.Table, r.Target.Name), func(soft context.Context) error {
			if err := r.Between(ctx); err != nil {
				return err
			}
			return r.During(soft, ledger.StateCopying, func() error {
				done, err := emptied(soft, r, s)
				switch {
				case err != nil:
					return err
				case done && s.Moved:
					return nil
				case done:
					return makeEmpty(soft, r, s) // which may not have come to its end
				case s.Moved:
					return moveOut(soft, r, s)
				}
				return renameAway(soft, r, s)
			})
		})
		if err != nil {
			return err
		}
		r.Progress(ledger.StepReset, r.Target.Name, s.Table, int(s.Rows))
	}
	return nil
}

// emptied reports whether the rows of a table are kept already.
func emptied(ctx context.Context, r *job.Run, s *plan.Reset) (bool, error) {
	there, err := r.Manifest.Tables(ctx)
	if err != nil || !slices.Contains(there, s.Kept) {
		return false, err
	}
	if !s.Moved || !r.Target.Dialect().MySQL() || s.Rows == 0 {
		return true, nil
	}
	n, err := r.Count(ctx, s.Kept) // it was made before the rows were moved
	return n > 0, err
}

// renameAway renames a table, and makes an empty one in its place.
func renameAway(ctx context.Context, r *job.Run, s *plan.Reset) error {
	q := r.Target.Dialect().Quote
	n, err := r.Count(ctx, s.Table)
	if err != nil {
		return err
	}
	if n != s.Rows {
		return write.Miscounted(r, s.Table, n, s.Rows)
	}
	if _, err := r.Target.Exec(ctx, "rename", "RENAME TABLE "+q(s.Table)+" TO "+q(s.Kept), false); err != nil {
		return err
	}
	return makeEmpty(ctx, r, s)
}

// makeEmpty makes the table in the place of one that was renamed, if it is not there. Its
// counter continues.
func makeEmpty(ctx context.Context, r *job.Run, s *plan.Reset) error {
	q := r.Target.Dialect().Quote
	if _, err := r.Target.Exec(ctx, "create", "CREATE TABLE IF NOT EXISTS "+q(s.Table)+" LIKE "+q(s.Kept), false); err != nil {
		return err
	}
	next, err := r.Target.Texts(ctx, "SELECT CAST(AUTO_INCREMENT AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND AUTO_INCREMENT > 1", s.Kept)
	if err != nil {
		return err
	}
	for _, n := range next {
		if _, err := r.Target.Exec(ctx, "counter", "ALTER TABLE "+q(s.Table)+" AUTO_INCREMENT = "+n, false); err != nil {
			return err
		}
	}
	return nil
}

// mend makes the tables again that were renamed when an apply was interrupted.
func mend(ctx context.Context, r *job.Run) error {
	return restore.EachRenamed(ctx, r, func(ctx context.Context, s *plan.Reset) error { return makeEmpty(ctx, r, s) })
}

// moveOut moves the rows of a table to the one that keeps them.
func moveOut(ctx context.Context, r *job.Run, s *plan.Reset) error {
	d, l, create := r.Target.Dialect(), r.Layouts[s.Table], write.CreateKept(r, s.Table, s.Kept)
	if d.MySQL() { // which ends a transaction
		if _, err := r.Target.Exec(ctx, "create", create, false); err != nil {
			return err
		}
	}
	return r.Target.Tx(ctx, func() error {
		if !d.MySQL() {
			if _, err := r.Target.Exec(ctx, "create", create, false); err != nil {
				return err
			}
		}
		n, err := write.MoveRows(ctx, r, l.Of(s.Kept), "INSERT", s.Table)
		if err == nil && n != s.Rows {
			err = write.Miscounted(r, s.Table, n, s.Rows)
		}
		return err
	})
}

// confirm makes sure that the tables are empty, and all their rows kept.
func confirm(ctx context.Context, r *job.Run) error {
	if r.First != nil {
		return nil // they never had a row
	}
	for i := range r.Plan.Resets {
		s := &r.Plan.Resets[i]
		for table, want := range map[string]int64{s.Table: 0, s.Kept: s.Rows} {
			n, err := r.Count(ctx, table)
			if err != nil {
				return err
			}
			if n != want {
				return write.Miscounted(r, table, n, want)
			}
		}
	}
	return nil
}
