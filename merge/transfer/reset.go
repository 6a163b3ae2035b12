package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// A table of the policy reset is empty after the merge. Its rows are kept in a table of the
// merge's own until an undo puts them back; see [sqldb.KeptPrefix].
//
// If nothing else hangs on the table, it is renamed, whatever its size, and an empty one of the
// same make is made in its place. That one is never renamed itself: MariaDB 10.11 may not come
// up again if it is killed soon after a table was made and renamed (MDEV-40728), so the two
// cannot change places in one statement, and what was interrupted in between is mended first of
// all. Foreign keys and triggers would go along with the name, a CHECK of MySQL would lose its
// own, and the names of SQLite's indexes are taken: then the rows are moved, in one transaction.
//
// How far that is, the names of the tables tell, so that it needs no checkpoint.

// Reset is a table that is empty after the merge.
type Reset struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // the target's own, which are removed
	Sum   Sum    `json:"sum"`  // over these
	Kept  string `json:"kept"` // the table that keeps them until the merge is undone

	// Moved says that the rows are moved there. Otherwise the table itself is renamed.
	Moved bool `json:"moved,omitempty"`
}

// nameResets names the tables that keep the rows.
func (p *Plan) nameResets() {
	for i := range p.Resets {
		p.Resets[i].Kept = fmt.Sprintf("%s%.8s_%d", sqldb.KeptPrefix, p.ID, i+1)
	}
}

// reset returns what becomes of a table that is emptied, or nil.
func (p *Plan) reset(table string) *Reset {
	return first(p.Resets, func(s *Reset) bool { return s.Table == table })
}

// TakenOut is how many rows of the target are removed from tables that are emptied.
func (p *Plan) TakenOut() int64 { return total(p.Resets, func(s *Reset) int64 { return s.Rows }) }

// resetLayout is how a table that is emptied is read: without regard to its key.
func resetLayout(d dialect, t *merge.Table) *layout {
	l := newLayout(d, t)
	l.key = nil
	return l
}

// of returns the same layout of another table with these columns.
func (l *layout) of(table string) *layout {
	other := *l
	other.table = table
	return &other
}

// insertFrom inserts all rows of another table with these columns. how is INSERT, or what a
// database has besides.
func (l *layout) insertFrom(how, table string) string {
	columns := l.dialect.QuoteAll(l.columns)
	return how + " INTO " + l.dialect.Quote(l.table) + " (" + columns + ") SELECT " + columns + " FROM " + l.dialect.Quote(table)
}

// emptyTables takes the rows out of the tables that are emptied.
func (r *run) emptyTables(ctx context.Context) error {
	r.step(r.plan.TakenOut())
	for i := range r.plan.Resets {
		s := &r.plan.Resets[i]
		err := r.retry(ctx, fmt.Sprintf("emptying table %q of %q", s.Table, r.target.Name), func(soft context.Context) error {
			if err := r.between(ctx); err != nil {
				return err
			}
			return r.during(soft, StateCopying, func() error {
				done, err := r.emptied(soft, s)
				switch {
				case err != nil:
					return err
				case done && s.Moved:
					return nil
				case done:
					return r.makeEmpty(soft, s) // which may not have come to its end
				case s.Moved:
					return r.moveOut(soft, s)
				}
				return r.renameAway(soft, s)
			})
		})
		if err != nil {
			return err
		}
		r.progress(StepReset, r.target.Name, s.Table, int(s.Rows))
	}
	return nil
}

// emptied reports whether the rows of a table are kept already.
func (r *run) emptied(ctx context.Context, s *Reset) (bool, error) {
	there, err := r.manifest.tables(ctx)
	if err != nil || !slices.Contains(there, s.Kept) {
		return false, err
	}
	if !s.Moved || !r.target.dialect().mysql() || s.Rows == 0 {
		return true, nil
	}
	n, err := r.count(ctx, s.Kept) // it was made before the rows were moved
	return n > 0, err
}

func (r *run) count(ctx context.Context, table string) (int64, error) {
	return r.target.number(ctx, "SELECT COUNT(*) FROM "+r.target.dialect().Quote(table), false)
}

// renameAway renames a table, and makes an empty one in its place.
func (r *run) renameAway(ctx context.Context, s *Reset) error {
	q := r.target.dialect().Quote
	n, err := r.count(ctx, s.Table)
	if err != nil {
		return err
	}
	if n != s.Rows {
		return r.resetChanged(s, n, s.Rows)
	}
	if _, err := r.target.exec(ctx, "rename", "RENAME TABLE "+q(s.Table)+" TO "+q(s.Kept), false); err != nil {
		return err
	}
	return r.makeEmpty(ctx, s)
}

// makeEmpty makes the table in the place of one that was renamed, if it is not there. Its
// counter goes on.
func (r *run) makeEmpty(ctx context.Context, s *Reset) error {
	q := r.target.dialect().Quote
	if _, err := r.target.exec(ctx, "create", "CREATE TABLE IF NOT EXISTS "+q(s.Table)+" LIKE "+q(s.Kept), false); err != nil {
		return err
	}
	next, err := r.target.texts(ctx, "SELECT CAST(AUTO_INCREMENT AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND AUTO_INCREMENT > 1", s.Kept)
	if err != nil {
		return err
	}
	for _, n := range next {
		if _, err := r.target.exec(ctx, "counter", "ALTER TABLE "+q(s.Table)+" AUTO_INCREMENT = "+n, false); err != nil {
			return err
		}
	}
	return nil
}

// mendResets makes sure that each table is there which was renamed when the work was
// interrupted. mend makes it.
func (r *run) mendResets(ctx context.Context, mend func(ctx context.Context, s *Reset) error) error {
	if !slices.ContainsFunc(r.plan.Resets, func(s Reset) bool { return !s.Moved }) {
		return nil
	}
	return r.retry(ctx, "reading the tables to be emptied", func(ctx context.Context) error {
		return r.during(ctx, r.manifest.left, func() error {
			for i := range r.plan.Resets {
				s := &r.plan.Resets[i]
				if s.Moved {
					continue
				}
				there, err := r.target.texts(ctx, r.target.dialect().TableNames())
				if err == nil && slices.Contains(there, s.Kept) {
					err = mend(ctx, s)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// moveOut moves the rows of a table to the one that keeps them.
func (r *run) moveOut(ctx context.Context, s *Reset) error {
	d, l, create := r.target.dialect(), r.layouts[s.Table], r.createKept(s.Table, s.Kept)
	if d.mysql() { // which ends a transaction
		if _, err := r.target.exec(ctx, "create", create, false); err != nil {
			return err
		}
	}
	return r.target.tx(ctx, func() error {
		if !d.mysql() {
			if _, err := r.target.exec(ctx, "create", create, false); err != nil {
				return err
			}
		}
		n, err := r.moveRows(ctx, l.of(s.Kept), "INSERT", s.Table)
		if err == nil && n != s.Rows {
			err = r.resetChanged(s, n, s.Rows)
		}
		return err
	})
}

// createKept is the statement that makes a table for the rows of another one, if it is not there.
func (r *run) createKept(table, kept string) string {
	d, l := r.target.dialect(), r.layouts[table]
	create := "CREATE TABLE IF NOT EXISTS " + d.Quote(kept)
	if d.mysql() {
		return create + " LIKE " + d.Quote(table)
	}
	create += " (" + d.QuoteAll(l.columns) // columns without a type keep values as they are
	if key := r.keys[table].keyColumns(); len(key) > 0 && l.has(key) {
		create += ", PRIMARY KEY (" + d.QuoteAll(key) + ")"
	}
	return create + ")"
}

// has reports whether the layout has these columns.
func (l *layout) has(columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(l.columns, c) })
}

// moveRows moves all rows of a table to another one, and returns how many there were. With
// another word than INSERT, not all may come.
func (r *run) moveRows(ctx context.Context, to *layout, how, from string) (rows int64, err error) {
	came, err := r.target.exec(ctx, "fill", to.insertFrom(how, from), false)
	if err != nil {
		return 0, err
	}
	rows, err = r.target.exec(ctx, "empty", "DELETE FROM "+to.dialect.Quote(from), false)
	if err == nil && how == "INSERT" && rows != came {
		err = fmt.Errorf("table %q of %q: %d rows were read and it has %d: another process writes to it", from, r.target.Name, came, rows)
	}
	return rows, err
}

func (r *run) resetChanged(s *Reset, rows, want int64) error {
	return &ChangedError{Database: r.target.Name, Table: s.Table, Rows: rows, Want: want, Reason: fmt.Sprintf("table %q has %s, and should have %d", s.Table, countRows(rows), want)}
}

// checkEmptied makes sure that the tables are empty, and all their rows kept.
func (r *run) checkEmptied(ctx context.Context) error {
	for i := range r.plan.Resets {
		s := &r.plan.Resets[i]
		for table, want := range map[string]int64{s.Table: 0, s.Kept: s.Rows} {
			n, err := r.count(ctx, table)
			if err != nil {
				return err
			}
			if n != want {
				changed := *s
				changed.Table = table
				return r.resetChanged(&changed, n, want)
			}
		}
	}
	return nil
}

// validateResets makes sure that the plan names the tables that keep rows as it should.
func (p *Plan) validateResets() error {
	named := *p
	named.Resets = slices.Clone(p.Resets)
	named.nameResets()
	if !slices.Equal(named.Resets, p.Resets) {
		return errors.New("transfer: the plan was changed after it was made: change the options and plan again")
	}
	return nil
}
