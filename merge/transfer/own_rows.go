package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// renameOwn renames the target's own rows, before rows come that need their
// names.
func (r *run) renameOwn(ctx context.Context) error {
	return r.rewriteOwn(ctx, StepRename, r.changes.renamer, func(t *Table) (doing string, want expected) {
		return fmt.Sprintf("renaming in table %q of %q", t.Name, r.target.Name), expected{rows: t.Target.Rows, sum: t.Target.Sum}
	})
}

// restorer gives the target's own rows their names back.
func (r *run) restorer() *renamer {
	back := *r.plan
	back.Renames = nil
	for _, n := range r.plan.Renames {
		if n.Source == r.target.Name {
			n.Old, n.New = n.New, n.Old
			back.Renames = append(back.Renames, n)
		}
	}
	return newRenamer(&back)
}

// restoreOwn gives the target's own rows their names back.
func (r *run) restoreOwn(ctx context.Context) error {
	return r.rewriteOwn(ctx, StepRestore, r.restorer(), func(t *Table) (doing string, want expected) {
		return fmt.Sprintf("restoring names in table %q", t.Name), expected{any: true}
	})
}

// rewriteOwn changes the target's own rows, in the tables in which some of them
// are renamed.
func (r *run) rewriteOwn(ctx context.Context, step string, renames *renamer, how func(t *Table) (doing string, want expected)) error {
	var tables []*Table
	var total int64
	for i := range r.plan.Tables {
		if t := &r.plan.Tables[i]; t.renamesOwn() {
			tables, total = append(tables, t), total+t.Target.Rows
		}
	}
	r.step(total)
	for _, t := range tables {
		l := r.layouts[t.Name]
		change := renames.of(r.target.Name, l)
		doing, want := how(t)
		err := r.retryCounted(ctx, doing, func(soft context.Context) error {
			c, err := r.checkpoint(soft, step, place{source: r.target.Name, table: t.Name}, nil)
			if err != nil || c.finished {
				return err
			}
			reader := r.reader()
			defer reader.close()
			return r.batches(ctx, soft, reader, l, c, want, func(rows [][]any) (int64, error) { return 0, r.rewrite(soft, l, rows, change) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite changes rows of the target in place.
func (r *run) rewrite(ctx context.Context, l *layout, rows [][]any, change changer) error {
	for _, row := range rows {
		old := slices.Clone(row)
		changed, err := change(row)
		if err != nil {
			return err
		}
		if changed {
			if err := r.update(ctx, l, old, row); err != nil {
				return fmt.Errorf("row %s: %w", l.keyText(old), err)
			}
		}
	}
	return nil
}

// clocked reports whether a column of this type of MySQL may be set by every UPDATE that does not
// name it: ON UPDATE CURRENT_TIMESTAMP.
func clocked(typ string) bool {
	typ = strings.ToLower(typ)
	return strings.HasPrefix(typ, "timestamp") || strings.HasPrefix(typ, "datetime")
}

// update writes a row over the one that was read, which has the same key.
func (r *run) update(ctx context.Context, l *layout, old, row []any) error {
	var set []string
	var args []any
	for i, name := range l.columns {
		if !same(old[i], row[i]) {
			set = append(set, l.dialect.Quote(name)+" = ?")
			args = append(args, row[i])
		} else if clocked(l.types[i]) {
			set = append(set, l.dialect.Quote(name)+" = "+l.dialect.Quote(name))
		}
	}
	query := "UPDATE " + l.dialect.Quote(l.table) + " SET " + strings.Join(set, ", ") + " WHERE " + l.equal(1)
	n, err := r.target.exec(ctx, "update", query, true, append(args, l.bound(l.keyOf(old))...)...)
	if err == nil && n != 1 {
		err = fmt.Errorf("table %q: a row that was read is gone: another process writes to it", l.table)
	}
	return err
}
