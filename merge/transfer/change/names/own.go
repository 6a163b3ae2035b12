package names

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/transfer/change"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/transfer/write"
)

// renameOwn renames the target's own rows, before rows come that need their
// names.
func renameOwn(ctx context.Context, r *job.Run) error {
	return rewriteOwn(ctx, r, ledger.StepRename, r.Changes.Renamer, func(t *plan.Table) (doing string, want write.Expected) {
		return fmt.Sprintf("renaming in table %q of %q", t.Name, r.Target.Name), write.Expected{Rows: t.Target.Rows, Sum: t.Target.Sum}
	})
}

// restorer gives the target's own rows their names back.
func restorer(r *job.Run) *change.Renamer {
	back := *r.Plan
	back.Renames = nil
	for _, n := range r.Plan.Renames {
		if n.Source == r.Plan.Target.Name {
			n.Old, n.New = n.New, n.Old
			back.Renames = append(back.Renames, n)
		}
	}
	return change.NewRenamer(&back)
}

// restoreOwn gives the target's own rows their names back.
func restoreOwn(ctx context.Context, u *step.Undoing) error {
	return rewriteOwn(ctx, u.Run, ledger.StepRestore, restorer(u.Run), func(t *plan.Table) (doing string, want write.Expected) {
		return fmt.Sprintf("restoring names in table %q", t.Name), write.Expected{Any: true}
	})
}

// rewriteOwn changes the target's own rows, in the tables in which some of them
// are renamed.
func rewriteOwn(ctx context.Context, r *job.Run, step string, renames *change.Renamer, how func(t *plan.Table) (doing string, want write.Expected)) error {
	var tables []*plan.Table
	var total int64
	for i := range r.Plan.Tables {
		if t := &r.Plan.Tables[i]; t.RenamesOwn() {
			tables, total = append(tables, t), total+t.Target.Rows
		}
	}
	r.Step(total)
	for _, t := range tables {
		l := r.Layouts[t.Name]
		change := renames.Of(r.Plan.Target.Name, l)
		doing, want := how(t)
		err := r.RetryCounted(ctx, doing, func(soft context.Context) error {
			c, err := r.Checkpoint(soft, step, ledger.Place{Source: r.Plan.Target.Name, Table: t.Name}, nil)
			if err != nil || c.Finished {
				return err
			}
			reader := r.Reader()
			defer reader.Close()
			return write.Batches(r, ctx, soft, reader, l, c, want, func(rows [][]any) (int64, error) { return 0, rewrite(soft, r, l, rows, change) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite changes rows of the target in place.
func rewrite(ctx context.Context, r *job.Run, l *rowio.Layout, rows [][]any, change rowio.Changer) error {
	for _, row := range rows {
		old := slices.Clone(row)
		changed, err := change(row)
		if err != nil {
			return err
		}
		if changed {
			if err := update(ctx, r, l, old, row); err != nil {
				return fmt.Errorf("row %s: %w", l.KeyText(old), err)
			}
		}
	}
	return nil
}

// update writes a row over the one that was read, which has the same key.
func update(ctx context.Context, r *job.Run, l *rowio.Layout, old, row []any) error {
	var set []string
	var args []any
	for i, name := range l.Columns {
		if !rowio.Same(old[i], row[i]) {
			set = append(set, l.Dialect.Quote(name)+" = ?")
			args = append(args, row[i])
		} else if job.Clocked(l.Types[i]) {
			set = append(set, l.Dialect.Quote(name)+" = "+l.Dialect.Quote(name))
		}
	}
	query := "UPDATE " + l.Dialect.Quote(l.Table) + " SET " + strings.Join(set, ", ") + " WHERE " + l.Equal(1)
	n, err := r.Target.Exec(ctx, "update", query, true, append(args, l.Bound(l.KeyOf(old))...)...)
	if err == nil && n != 1 {
		err = fmt.Errorf("table %q: a row that was read is gone: another process writes to it", l.Table)
	}
	return err
}

// left looks for own rows that have a value which the merge gave them. A third one in its
// place, such as the name that a player chose since, is not of the merge, and stays.
func left(ctx, soft context.Context, u *step.Undoing, found *evidence.UndoneTable) error {
	t := u.Plan.Table(found.Table)
	if t == nil || len(t.Key) == 0 || !t.RenamesOwn() {
		return nil
	}
	l := u.Layouts[t.Name]
	change := restorer(u.Run).Of(u.Target.Name, l)
	n := int64(0)
	return rowio.Every(soft, u.Target, l, func(row []any) error {
		if n++; n%2000 == 0 {
			if err := u.Between(ctx); err != nil {
				return err
			}
		}
		want := slices.Clone(row)
		if _, err := change(want); err != nil {
			return err
		}
		if d := evidence.DifferenceOf(l, want, row); d != nil {
			d.Source = u.Target.Name
			found.Add(&found.Unrestored, *d)
		}
		return nil
	})
}
