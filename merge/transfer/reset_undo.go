package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge"
)

// compareResets looks for what keeps the rows of emptied tables from being put back.
func (u *undo) compareResets(ctx context.Context, state State) (reasons []Refusal, err error) {
	if len(u.plan.Resets) == 0 {
		return nil, nil
	}
	err = u.lookAtTarget(ctx, func(target *source) error {
		reasons = nil
		there, err := u.manifest.tables(ctx)
		if err != nil {
			return err
		}
		if hidesTriggers(target) {
			reasons = append(reasons, Refusal{Source: u.target.Name, Reason: "rows are to be put back, and the account cannot see whether that would run a trigger: use an account that can see triggers"})
		}
		for i := range u.plan.Resets {
			s := &u.plan.Resets[i]
			refuse := func(format string, args ...any) {
				reasons = append(reasons, Refusal{Source: u.target.Name, Table: s.Table, Reason: fmt.Sprintf(format, args...)})
			}
			t := target.table(s.Table)
			for _, reason := range resetTriggers(t, !s.Moved) {
				refuse("%s", reason)
			}
			filled, err := u.filled(ctx, s)
			if err != nil {
				return err
			}
			if filled.saved {
				continue // the rows are in the table
			}
			if !slices.Contains(there, s.Kept) {
				var gone bool
				if gone, err = u.keptAreGone(ctx, s, state); gone {
					reasons = append(reasons, u.keptIsGone(s.Table, s.Kept, s.Rows))
				}
			} else if err = u.lookForTaken(ctx, s, t, refuse); err == nil {
				err = u.lookForParents(ctx, s, t, there, refuse)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return reasons, err
}

// keptAreGone reports whether the table that kept the rows is missing, and the rows with it. They
// may be in the table itself: not taken out yet, or put back already.
func (u *undo) keptAreGone(ctx context.Context, s *Reset, state State) (bool, error) {
	n := int64(0)
	if state != StateCopied {
		var err error
		if n, err = u.count(ctx, s.Table); err != nil {
			return false, err
		}
	}
	return n < s.Rows, nil
}

// lookForTaken refuses a table in which the game has made rows with keys of those that are
// kept.
func (u *undo) lookForTaken(ctx context.Context, s *Reset, t *merge.Table, refuse func(format string, args ...any)) error {
	made, err := u.count(ctx, s.Table)
	if err != nil || made == 0 {
		return err
	}
	lost := "%s; give these rows other keys or remove them, or force the undo: then the rows made since are lost, and the kept ones are put back"
	if u.force {
		named := slices.ContainsFunc(slices.Collect(maps.Values(u.references)), func(all []merge.Reference) bool {
			return slices.ContainsFunc(all, func(r merge.Reference) bool { return r.ToTable == s.Table })
		})
		if !named {
			return nil
		}
		lost = "%s, and other tables reference its rows, so it cannot be forced: give these rows other keys or remove them"
	}
	d := u.target.dialect()
	uniques := t.Uniques
	if len(t.Primary) > 0 {
		uniques = append([]merge.Unique{{Name: "PRIMARY", Columns: t.Primary}}, uniques...)
	}
	for _, unique := range uniques {
		if unique.Unclear != "" || !u.layouts[s.Table].has(unique.Columns) {
			refuse(lost, fmt.Sprintf("it has %s that the game made since the merge, and it is not known whether they collide with the kept ones by %s", countRows(made), unique.Name))
			continue
		}
		var same []string
		for _, c := range unique.Columns {
			same = append(same, "t."+d.Quote(c)+" = k."+d.Quote(c))
		}
		n, err := u.target.number(ctx, "SELECT COUNT(*) FROM "+d.Quote(s.Kept)+" AS k JOIN "+d.Quote(s.Table)+" AS t ON "+strings.Join(same, " AND "), false)
		if err != nil {
			return err
		}
		if n > 0 {
			refuse(lost, fmt.Sprintf("%s made since the merge %s the same %s as rows that were removed", countRows(n), map[bool]string{true: "has", false: "have"}[n == 1], strings.Join(unique.Columns, ", ")))
		}
	}
	return nil
}

// lookForParents refuses a table of which kept rows refer to rows that are gone since.
func (u *undo) lookForParents(ctx context.Context, s *Reset, t *merge.Table, there []string, refuse func(format string, args ...any)) error {
	d := u.target.dialect()
	for _, ref := range t.References {
		query := d.dangling("COUNT(*)", s.Kept, ref)
		if to := u.plan.reset(ref.ToTable); to != nil && slices.Contains(there, to.Kept) {
			var same []string
			for i, c := range ref.Columns {
				same = append(same, "w."+d.Quote(ref.ToColumns[i])+" = c."+d.Quote(c))
			}
			query += " AND NOT EXISTS (SELECT 1 FROM " + d.Quote(to.Kept) + " AS w WHERE " + strings.Join(same, " AND ") + ")"
		}
		n, err := u.target.number(ctx, query, false)
		if err != nil {
			return err
		}
		if n > 0 {
			refuse("of the rows that were removed, %d %s by %s rows of %q that are gone since: put those back, or remove these from %s, then run undo again", n, map[bool]string{true: "references", false: "reference"}[n == 1], strings.Join(ref.Columns, ", "), ref.ToTable, s.Kept)
		}
	}
	return nil
}

// fillTables puts the rows back that were taken out.
func (u *undo) fillTables(ctx context.Context) error {
	u.step(u.plan.TakenOut())
	for i := range u.plan.Resets {
		s := &u.plan.Resets[i]
		err := u.retry(ctx, fmt.Sprintf("putting back the rows of table %q", s.Table), func(soft context.Context) error {
			if err := u.between(ctx); err != nil {
				return err
			}
			return u.during(soft, StateUndoing, func() error {
				there, err := u.manifest.tables(soft)
				switch {
				case err != nil || !slices.Contains(there, s.Kept):
					return err
				case s.Moved:
					return u.moveBack(soft, s)
				}
				return u.renameBack(soft, s)
			})
		})
		if err != nil {
			return err
		}
		u.progress(StepReset, u.target.Name, s.Table, int(s.Rows))
	}
	return nil
}

// filled is the checkpoint of a table whose rows were put back. It is finished if rows that were made
// since are there too, so that the sum of all does not prove the kept ones, and these were summed up
// on their way.
func (r *run) filled(ctx context.Context, s *Reset) (*checkpoint, error) {
	return r.checkpoint(ctx, StepRestore, place{source: r.target.Name, table: s.Table}, nil)
}

// proveKept notes in the transaction that puts the kept rows back that it does. If rows were made since,
// it makes sure that the kept ones are those that were taken out.
func (u *undo) proveKept(ctx context.Context, s *Reset) error {
	before, err := u.filled(ctx, s)
	if err != nil || before.saved {
		return err
	}
	now := *before
	now.saved = true
	made, err := u.count(ctx, s.Table)
	if err == nil && made == 0 {
		return u.manifest.note(ctx, before, &now)
	}
	var kept Content
	if err == nil {
		kept, err = contentsOfMultiset(ctx, u.target, u.layouts[s.Table].of(s.Kept), nil, func(int) error { return nil })
	}
	if err != nil {
		return err
	}
	if kept.Rows == 0 { // they may not have been taken out yet: then they are those in the table
		return u.manifest.note(ctx, before, &now)
	}
	if kept.Rows != s.Rows || kept.Sum != s.Sum {
		return &NotUndoneError{u.target.Name, []UndoneTable{{Table: s.Table, Rows: made, Before: s.Rows,
			Reason: fmt.Sprintf("the rows in %s are not those that were taken out: "+
				"restore them there, or this database, from the backup of before the merge", s.Kept)}}}
	}
	now.finished, now.rows, now.sum = true, kept.Rows, kept.Sum
	return u.manifest.note(ctx, before, &now)
}

// renameBack takes what was written meanwhile over to the rows that were kept, and then gives
// these their table back.
func (u *undo) renameBack(ctx context.Context, s *Reset) error {
	there, err := u.target.texts(ctx, u.target.dialect().TableNames())
	if err != nil {
		return err
	}
	if !slices.Contains(there, s.Table) {
		return u.renameKept(ctx, s)
	}
	how := "INSERT"
	if u.force {
		how = "INSERT IGNORE" // the rows that were kept win
	}
	err = u.target.tx(ctx, func() error {
		if err := u.proveKept(ctx, s); err != nil {
			return err
		}
		_, err := u.moveRows(ctx, u.layouts[s.Table].of(s.Kept), how, s.Table)
		return err
	})
	if err != nil {
		return err
	}
	if _, err = u.target.exec(ctx, "drop", "DROP TABLE "+u.target.dialect().Quote(s.Table), false); err != nil {
		return err
	}
	return u.renameKept(ctx, s)
}

// renameKept gives the table that keeps the rows its name back.
func (r *run) renameKept(ctx context.Context, s *Reset) error {
	q := r.target.dialect().Quote
	_, err := r.target.exec(ctx, "rename", "RENAME TABLE "+q(s.Kept)+" TO "+q(s.Table), false)
	return err
}

// mendKept is renameKept if the table is not there.
func (r *run) mendKept(ctx context.Context, s *Reset) error {
	there, err := r.target.texts(ctx, r.target.dialect().TableNames())
	if err != nil || slices.Contains(there, s.Table) {
		return err
	}
	return r.renameKept(ctx, s)
}

// moveBack moves the rows back.
func (u *undo) moveBack(ctx context.Context, s *Reset) error {
	d, how := u.target.dialect(), "INSERT"
	if u.force {
		how = "REPLACE" // the rows that were kept win
	}
	drop := func() error {
		_, err := u.target.exec(ctx, "drop", "DROP TABLE "+d.Quote(s.Kept), false)
		return err
	}
	err := u.target.tx(ctx, func() error {
		if err := u.proveKept(ctx, s); err != nil {
			return err
		}
		if _, err := u.moveRows(ctx, u.layouts[s.Table], how, s.Kept); err != nil || d.mysql() {
			return err
		}
		return drop()
	})
	if err == nil && d.mysql() { // which ends a transaction
		err = drop()
	}
	return err
}
