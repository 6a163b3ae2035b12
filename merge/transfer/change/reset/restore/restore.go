// Package restore puts the rows of emptied tables back when a merge is undone.
package restore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/transfer/write"
)

// Change returns what a change does that empties tables, from an undo on.
func Change() step.Change {
	return step.Change{MendBack: mendBack, Compare: compare, Undo: fill, Unlike: unlike, Left: left}
}

// TriggersInWay returns the triggers that keep a table from being emptied, or its rows from
// being put back, and why. A table that is renamed would take all of them along.
func TriggersInWay(t *catalog.Table, renamed bool) (reasons []string) {
	for _, r := range t.Triggers {
		if renamed || r.On(catalog.OnDelete) || r.On(catalog.OnInsert) {
			reasons = append(reasons, fmt.Sprintf("the trigger %q (%s) would run for rows that are removed, or put back by an undo, or would be lost: drop it for the time of both, "+
				"or give the table the policy %q and empty it by hand", r.Name, r.Event, declare.PolicySkip))
		}
	}
	return reasons
}

// HidesTriggers reports whether the account cannot see triggers.
func HidesTriggers(s *rowio.Source) bool {
	return slices.ContainsFunc(s.Known.Hidden, func(h catalog.Hidden) bool { return h.What == catalog.HiddenTriggers })
}

// compare looks for what keeps the rows of emptied tables from being put back.
func compare(ctx context.Context, u *step.Undoing) error {
	if len(u.Plan.Resets) == 0 {
		return nil
	}
	before := u.Reasons
	return u.LookAt(ctx, func(target *rowio.Source) error {
		u.Reasons = before
		there, err := u.Manifest.Tables(ctx)
		if err != nil {
			return err
		}
		if HidesTriggers(target) {
			u.Refuse("", "rows are to be put back, and the account cannot see whether that would run a trigger: use an account that can see triggers")
		}
		for i := range u.Plan.Resets {
			s := &u.Plan.Resets[i]
			refuse := func(format string, args ...any) { u.Refuse(s.Table, format, args...) }
			t := target.Table(s.Table)
			for _, reason := range TriggersInWay(t, !s.Moved) {
				refuse("%s", reason)
			}
			filled, err := filled(ctx, u.Run, s)
			if err != nil {
				return err
			}
			if filled.Saved {
				continue // the rows are in the table
			}
			if !slices.Contains(there, s.Kept) {
				var gone bool
				if gone, err = keptAreGone(ctx, u, s); gone {
					u.KeptIsGone(s.Table, s.Kept, s.Rows)
				}
			} else if err = lookForTaken(ctx, u, s, t, refuse); err == nil {
				err = lookForParents(ctx, u, s, t, there, refuse)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// keptAreGone reports whether the table that kept the rows is missing, and the rows with it. They
// may be in the table itself: not taken out yet, or put back already.
func keptAreGone(ctx context.Context, u *step.Undoing, s *plan.Reset) (bool, error) {
	n := int64(0)
	if u.Manifest.Left != ledger.StateCopied {
		var err error
		if n, err = u.Count(ctx, s.Table); err != nil {
			return false, err
		}
	}
	return n < s.Rows, nil
}

// lookForTaken refuses a table in which the game has made rows with keys of those that are
// kept.
func lookForTaken(ctx context.Context, u *step.Undoing, s *plan.Reset, t *catalog.Table, refuse func(format string, args ...any)) error {
	made, err := u.Count(ctx, s.Table)
	if err != nil || made == 0 {
		return err
	}
	lost := "%s; give these rows other keys or remove them, or force the undo: then the rows made since are lost, and the kept ones are put back"
	if u.Force {
		named := slices.ContainsFunc(slices.Collect(maps.Values(u.References)), func(all []catalog.Reference) bool {
			return slices.ContainsFunc(all, func(r catalog.Reference) bool { return r.ToTable == s.Table })
		})
		if !named {
			return nil
		}
		lost = "%s, and other tables reference its rows, so it cannot be forced: give these rows other keys or remove them"
	}
	d := u.Target.Dialect()
	uniques := t.Uniques
	if len(t.Primary) > 0 {
		uniques = append([]catalog.Unique{{Name: "PRIMARY", Columns: t.Primary}}, uniques...)
	}
	for _, unique := range uniques {
		if unique.Unclear != "" || !u.Layouts[s.Table].Has(unique.Columns) {
			refuse(lost, fmt.Sprintf("it has %s that the game made since the merge, and it is not known whether they collide with the kept ones by %s", ledger.CountRows(made), unique.Name))
			continue
		}
		var same []string
		for _, c := range unique.Columns {
			same = append(same, "t."+d.Quote(c)+" = k."+d.Quote(c))
		}
		n, err := u.Target.Number(ctx, "SELECT COUNT(*) FROM "+d.Quote(s.Kept)+" AS k JOIN "+d.Quote(s.Table)+" AS t ON "+strings.Join(same, " AND "), false)
		if err != nil {
			return err
		}
		if n > 0 {
			refuse(lost, fmt.Sprintf("%s made since the merge %s the same %s as rows that were removed", ledger.CountRows(n), map[bool]string{true: "has", false: "have"}[n == 1], strings.Join(unique.Columns, ", ")))
		}
	}
	return nil
}

// lookForParents refuses a table of which kept rows refer to rows that are gone since.
func lookForParents(ctx context.Context, u *step.Undoing, s *plan.Reset, t *catalog.Table, there []string, refuse func(format string, args ...any)) error {
	d := u.Target.Dialect()
	for _, ref := range t.References {
		query := d.Dangling("COUNT(*)", s.Kept, ref)
		if to := u.Plan.Reset(ref.ToTable); to != nil && slices.Contains(there, to.Kept) {
			var same []string
			for i, c := range ref.Columns {
				same = append(same, "w."+d.Quote(ref.ToColumns[i])+" = c."+d.Quote(c))
			}
			query += " AND NOT EXISTS (SELECT 1 FROM " + d.Quote(to.Kept) + " AS w WHERE " + strings.Join(same, " AND ") + ")"
		}
		n, err := u.Target.Number(ctx, query, false)
		if err != nil {
			return err
		}
		if n > 0 {
			refuse("of the rows that were removed, %d %s by %s rows of %q that are gone since: put those back, or remove these from %s, then run undo again", n, map[bool]string{true: "references", false: "reference"}[n == 1], strings.Join(ref.Columns, ", "), ref.ToTable, s.Kept)
		}
	}
	return nil
}

// fill puts the rows back that were taken out.
func fill(ctx context.Context, u *step.Undoing) error {
	u.Step(u.Plan.TakenOut())
	for i := range u.Plan.Resets {
		s := &u.Plan.Resets[i]
		err := u.Retry(ctx, fmt.Sprintf("putting back the rows of table %q", s.Table), func(soft context.Context) error {
			if err := u.Between(ctx); err != nil {
				return err
			}
			return u.During(soft, ledger.StateUndoing, func() error {
				there, err := u.Manifest.Tables(soft)
				switch {
				case err != nil || !slices.Contains(there, s.Kept):
					return err
				case s.Moved:
					return moveBack(soft, u, s)
				}
				return renameBack(soft, u, s)
			})
		})
		if err != nil {
			return err
		}
		u.Progress(ledger.StepReset, u.Target.Name, s.Table, int(s.Rows))
	}
	return nil
}

// filled is the checkpoint of a table whose rows were put back. It is finished if rows that were made
// since are there too, so that the sum of all does not prove the kept ones, and these were summed up
// on their way.
func filled(ctx context.Context, r *job.Run, s *plan.Reset) (*ledger.Checkpoint, error) {
	return r.Checkpoint(ctx, ledger.StepRestore, ledger.Place{Source: r.Target.Name, Table: s.Table}, nil)
}

// proveKept notes in the transaction that puts the kept rows back that it does. If rows were made since,
// it makes sure that the kept ones are those that were taken out.
func proveKept(ctx context.Context, u *step.Undoing, s *plan.Reset) error {
	before, err := filled(ctx, u.Run, s)
	if err != nil || before.Saved {
		return err
	}
	now := *before
	now.Saved = true
	made, err := u.Count(ctx, s.Table)
	if err == nil && made == 0 {
		return u.Manifest.Note(ctx, before, &now)
	}
	var kept rowio.Content
	if err == nil {
		kept, err = rowio.ContentsOfMultiset(ctx, u.Target, u.Layouts[s.Table].Of(s.Kept), nil, func(int) error { return nil })
	}
	if err != nil {
		return err
	}
	if kept.Rows == 0 { // they may not have been taken out yet: then they are those in the table
		return u.Manifest.Note(ctx, before, &now)
	}
	if kept.Rows != s.Rows || kept.Sum != s.Sum {
		return &evidence.NotUndoneError{Database: u.Target.Name, Tables: []evidence.UndoneTable{{Table: s.Table, Rows: made, Before: s.Rows,
			Reason: fmt.Sprintf("the rows in %s are not those that were taken out: "+
				"restore them there, or this database, from the backup of before the merge", s.Kept)}}}
	}
	now.Finished, now.Rows, now.Sum = true, kept.Rows, kept.Sum
	return u.Manifest.Note(ctx, before, &now)
}

// renameBack takes what was written meanwhile over to the rows that were kept, and then gives
// these their table back.
func renameBack(ctx context.Context, u *step.Undoing, s *plan.Reset) error {
	there, err := u.Target.Texts(ctx, u.Target.Dialect().TableNames())
	if err != nil {
		return err
	}
	if !slices.Contains(there, s.Table) {
		return renameKept(ctx, u.Run, s)
	}
	how := "INSERT"
	if u.Force {
		how = "INSERT IGNORE" // the rows that were kept win
	}
	err = u.Target.Tx(ctx, func() error {
		if err := proveKept(ctx, u, s); err != nil {
			return err
		}
		_, err := write.MoveRows(ctx, u.Run, u.Layouts[s.Table].Of(s.Kept), how, s.Table)
		return err
	})
	if err != nil {
		return err
	}
	if _, err = u.Target.Exec(ctx, "drop", "DROP TABLE "+u.Target.Dialect().Quote(s.Table), false); err != nil {
		return err
	}
	return renameKept(ctx, u.Run, s)
}

// renameKept gives the table that keeps the rows its name back.
func renameKept(ctx context.Context, r *job.Run, s *plan.Reset) error {
	q := r.Target.Dialect().Quote
	_, err := r.Target.Exec(ctx, "rename", "RENAME TABLE "+q(s.Kept)+" TO "+q(s.Table), false)
	return err
}

// EachRenamed makes sure that each table is there which was renamed when the work was
// interrupted. mend makes it.
func EachRenamed(ctx context.Context, r *job.Run, mend func(ctx context.Context, s *plan.Reset) error) error {
	if !slices.ContainsFunc(r.Plan.Resets, func(s plan.Reset) bool { return !s.Moved }) {
		return nil
	}
	return r.RetryDuring(ctx, "reading the tables to be emptied", r.Manifest.Left, func(ctx context.Context) error {
		for i := range r.Plan.Resets {
			s := &r.Plan.Resets[i]
			if s.Moved {
				continue
			}
			there, err := r.Manifest.Tables(ctx)
			if err == nil && slices.Contains(there, s.Kept) {
				err = mend(ctx, s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// mendBack gives tables their names back that an undo was to rename when it was interrupted.
func mendBack(ctx context.Context, r *job.Run) error {
	return EachRenamed(ctx, r, func(ctx context.Context, s *plan.Reset) error { return mendKept(ctx, r, s) })
}

// mendKept is renameKept if the table is not there.
func mendKept(ctx context.Context, r *job.Run, s *plan.Reset) error {
	there, err := r.Target.Texts(ctx, r.Target.Dialect().TableNames())
	if err != nil || slices.Contains(there, s.Table) {
		return err
	}
	return renameKept(ctx, r, s)
}

// moveBack moves the rows back.
func moveBack(ctx context.Context, u *step.Undoing, s *plan.Reset) error {
	d, how := u.Target.Dialect(), "INSERT"
	if u.Force {
		how = "REPLACE" // the rows that were kept win
	}
	drop := func() error {
		_, err := u.Target.Exec(ctx, "drop", "DROP TABLE "+d.Quote(s.Kept), false)
		return err
	}
	err := u.Target.Tx(ctx, func() error {
		if err := proveKept(ctx, u, s); err != nil {
			return err
		}
		if _, err := write.MoveRows(ctx, u.Run, u.Layouts[s.Table], how, s.Kept); err != nil || d.MySQL() {
			return err
		}
		return drop()
	})
	if err == nil && d.MySQL() { // which ends a transaction
		err = drop()
	}
	return err
}

// unlike returns the tables that do not hold what they held when the merge was planned.
func unlike(ctx context.Context, r *job.Run) (differing []evidence.UndoneTable, err error) {
	for i := range r.Plan.Resets {
		s := &r.Plan.Resets[i]
		var now rowio.Content
		err := r.Retry(ctx, fmt.Sprintf("reading table %q", s.Table), func(soft context.Context) (err error) {
			now, err = rowio.ContentsOfMultiset(soft, r.Target, r.Layouts[s.Table], nil, func(int) error { return r.Between(ctx) })
			return err
		})
		if err != nil {
			return nil, err
		}
		if now.Rows != s.Rows || now.Sum != s.Sum {
			differing = append(differing, evidence.UndoneTable{Table: s.Table, Rows: now.Rows, Before: s.Rows})
		}
	}
	return differing, nil
}

// left tells whether a table that was emptied has its rows again, and others besides.
func left(_, soft context.Context, u *step.Undoing, found *evidence.UndoneTable) error {
	s := u.Plan.Reset(found.Table)
	if s == nil {
		return nil
	}
	c, err := filled(soft, u.Run, s)
	if err == nil && !c.Finished {
		found.Reason = "the rows that were put back are not those that were taken out: " +
			"restore the rows of this table, or the database, from the backup of before the merge"
	}
	return err
}
