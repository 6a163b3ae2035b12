package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// A table of the policy reset is empty after the merge. Its rows are kept in a table of the
// merge's own until an undo puts them back; see [sqldb.KeptPrefix].
//
// If nothing else hangs on the table, an empty one of the same make takes its name in one
// statement (RENAME TABLE), whatever its size. Foreign keys and triggers would go along with
// the name, a CHECK of MySQL would lose its own, and the names of SQLite's indexes are taken:
// then the rows are moved, in one transaction.
//
// How far that is, the names of the tables tell, so that it needs no checkpoint.

// Reset is a table that is empty after the merge.
type Reset struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // the target's own, which are taken out
	Sum   Sum    `json:"sum"`  // over these
	Kept  string `json:"kept"` // the table that keeps them until the merge is undone

	// Moved tells that the rows are moved there. Otherwise the table itself is renamed.
	Moved bool `json:"moved,omitempty"`
}

// fresh is the table that takes the place of one that is renamed.
func (s *Reset) fresh() string {
	return sqldb.EmptyPrefix + strings.TrimPrefix(s.Kept, sqldb.KeptPrefix)
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

// TakenOut is how many rows of the target are taken out of tables that are emptied.
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

// resets decides how the tables are emptied that are declared so, and refuses those of
// which that cannot be undone, or leaves rows that refer to nothing.
func (p *planner) resets(ctx context.Context) error {
	target := p.dbs[0]
	outside, err := p.referrers(ctx)
	if err != nil {
		return err
	}
	var chosen []*merge.Table
	for _, name := range p.emptied {
		refuse := func(format string, args ...any) {
			p.refuse(Refusal{Table: name, Reason: fmt.Sprintf(format, args...)})
		}
		if p.excluded(name) {
			refuse("it is excluded, and declared to be emptied (policy %q): remove one of the two", merge.PolicyReset)
			continue
		}
		t := target.table(name)
		if t == nil {
			continue // there is nothing to empty
		}
		if tool := p.history(name); tool != "" {
			refuse("it is the history of migrations that %s keeps, so it must not be emptied: give it another policy than %q", tool, merge.PolicyReset)
		}
		for _, other := range target.catalog.Tables {
			foreign := slices.ContainsFunc(other.References, func(r merge.Reference) bool { return r.ToTable == name })
			n, counted := p.rows[target.Name()][other.Name]
			if foreign && !slices.Contains(p.emptied, other.Name) && (n > 0 || !counted) && p.plan.table(other.Name) == nil {
				refuse("rows of %q refer to its rows, which are taken out: empty both, or none", other.Name)
			}
		}
		for _, other := range outside[name] {
			refuse("the table %s refers to it and is not read here: drop its foreign key, or give the table another policy than %q", other, merge.PolicyReset)
		}
		for _, reason := range resetTriggers(t, false) {
			refuse("%s", reason)
		}
		chosen = append(chosen, t)
		p.plan.Resets = append(p.plan.Resets, Reset{Table: name, Moved: target.movesRows(t)})
	}
	if len(chosen) > 0 && hidesTriggers(target) {
		p.refuse(Refusal{Source: target.Name(), Reason: "a table is to be emptied, and the account is not shown whether that would run a trigger: plan with an account that is shown triggers"})
	}
	if slices.ContainsFunc(chosen, func(t *merge.Table) bool { return t.Outside != "" }) {
		p.refuseOutside(chosen)
	}
	return nil
}

// referrers are the tables with a foreign key to a table of the target that its catalogue
// does not have: those of other databases, and those that are not read.
func (p *planner) referrers(ctx context.Context) (map[string][]string, error) {
	target, found := p.dbs[0], make(map[string][]string)
	if len(p.emptied) == 0 || !target.dialect.mysql() {
		return found, nil
	}
	const query = `SELECT DISTINCT REFERENCED_TABLE_NAME, TABLE_NAME, TABLE_SCHEMA, TABLE_SCHEMA = DATABASE() FROM information_schema.KEY_COLUMN_USAGE
		WHERE REFERENCED_TABLE_SCHEMA = DATABASE() ORDER BY TABLE_SCHEMA, TABLE_NAME`
	err := target.on.rows(ctx, query, false, nil, func(row []any) (bool, error) {
		to, from, here := text(row[0]), text(row[1]), text(row[3]) == "1"
		if !here || target.table(from) == nil {
			found[to] = append(found[to], target.dialect.Quote(text(row[2]))+"."+target.dialect.Quote(from))
		}
		return true, nil
	})
	return found, err
}

// movesRows reports whether the rows of a table have to be moved, because it cannot be
// renamed.
func (s *source) movesRows(t *merge.Table) bool {
	toIt := func(other merge.Table) bool {
		return slices.ContainsFunc(other.References, func(r merge.Reference) bool { return r.ToTable == t.Name })
	}
	check := func(c merge.Condition) bool { return c.Kind == merge.ConditionCheck }
	return !s.dialect.mysql() || len(t.References)+len(t.Triggers) > 0 || slices.ContainsFunc(s.catalog.Tables, toIt) ||
		s.catalog.Engine == "mysql" && slices.ContainsFunc(t.Conditions, check) // their names are unique in a database
}

// resetTriggers returns the triggers that keep a table from being emptied, or its rows from
// being put back, and why. A table that is renamed would take all of them along.
func resetTriggers(t *merge.Table, renamed bool) (reasons []string) {
	for _, r := range t.Triggers {
		if renamed || r.On(merge.OnDelete) || r.On(merge.OnInsert) {
			reasons = append(reasons, fmt.Sprintf("the trigger %q (%s) would run for rows that are taken out, or put back by an undo, or would be lost: drop it for the time of both, "+
				"or give the table the policy %q and empty it by hand", r.Name, r.Event, merge.PolicySkip))
		}
	}
	return reasons
}

func hidesTriggers(s *source) bool {
	return slices.ContainsFunc(s.catalog.Hidden, func(h merge.Hidden) bool { return h.What == merge.HiddenTriggers })
}

// measureResets sums up the rows that are taken out.
func (p *planner) measureResets(ctx context.Context) error {
	target := p.dbs[0]
	for i := range p.plan.Resets {
		s := &p.plan.Resets[i]
		c, err := contentsOfMultiset(ctx, target.on, resetLayout(target.dialect, target.table(s.Table)), nil, func(int) error { return ctx.Err() })
		if err != nil {
			return err
		}
		s.Rows, s.Sum = c.Rows, c.Sum
	}
	return nil
}

// resets compares the tables that are emptied with the plan.
func (f *flight) resets(ctx context.Context, target *source) error {
	there, err := f.manifest.tables(ctx)
	if err != nil {
		return err
	}
	for i := range f.plan.Resets {
		s := &f.plan.Resets[i]
		t := target.table(s.Table)
		for _, reason := range resetTriggers(t, !s.Moved) {
			f.refuse(target.Name(), s.Table, "%s", reason)
		}
		for _, name := range []string{s.Kept, s.fresh()} {
			if !f.begun && slices.Contains(there, name) {
				f.refuse(target.Name(), s.Table, "there is a table %q, which is to keep its rows: drop it if no merge needs it, or rename it", name)
			}
		}
		want := s.Rows
		if f.begun {
			done, err := f.emptied(ctx, s)
			if err != nil {
				return err
			}
			if done {
				want = 0
			}
		}
		n, err := target.Count(ctx, s.Table)
		if err != nil {
			return err
		}
		if n != want {
			f.refuse(target.Name(), s.Table, "it has %d rows, and should have %d: something else wrote to it since the plan was made: plan again", n, want)
		}
	}
	if len(f.plan.Resets) > 0 && hidesTriggers(target) {
		f.refuse(target.Name(), "", "a table is to be emptied, and the account is not shown whether that would run a trigger: use an account that is shown triggers")
	}
	return nil
}

// resetRights tries, without changing anything, whether the account may empty the tables
// and fill them again.
func (f *flight) resetRights(ctx context.Context) error {
	d := f.target.dialect()
	try := func(table, statement string) error {
		_, err := f.target.exec(ctx, "probe", statement, false)
		if sqldb.IsDenied(err) {
			f.refuse(f.target.Name, table, "the account lacks a right: %v", err)
		} else if err != nil && !sqldb.IsRefused(err) { // what is meant to fail
			return err
		}
		return nil
	}
	for i := range f.plan.Resets {
		s := &f.plan.Resets[i]
		statements := []string{f.layouts[s.Table].insertFrom("INSERT", s.Table) + " WHERE 1 = 0", "DELETE FROM " + d.Quote(s.Table) + " WHERE 1 = 0"}
		if d.mysql() {
			nowhere, name := d.Quote("mergesafe: no such table"), d.Quote("mergesafe: may tables be made?")
			statements = append(statements, "CREATE TABLE "+name+" LIKE "+nowhere, "RENAME TABLE "+nowhere+" TO "+name)
			if !s.Moved {
				statements = append(statements, "RENAME TABLE "+d.Quote(s.Table)+" TO "+d.Quote(s.Table)) // it is there
			}
		}
		for _, statement := range statements {
			if err := try(s.Table, statement); err != nil {
				return err
			}
		}
	}
	return nil
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
			done, err := r.emptied(soft, s)
			switch {
			case err != nil || done:
				return err
			case s.Moved:
				return r.moveOut(soft, s)
			}
			return r.renameAway(soft, s)
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

// renameAway puts an empty table in the place of one that keeps its rows under another
// name. Its counter goes on.
func (r *run) renameAway(ctx context.Context, s *Reset) error {
	q := r.target.dialect().Quote
	n, err := r.count(ctx, s.Table)
	if err != nil {
		return err
	}
	if n != s.Rows {
		return r.resetChanged(s, n, s.Rows)
	}
	if _, err := r.target.exec(ctx, "create", "CREATE TABLE IF NOT EXISTS "+q(s.fresh())+" LIKE "+q(s.Table), false); err != nil {
		return err
	}
	next, err := r.target.texts(ctx, "SELECT CAST(AUTO_INCREMENT AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND AUTO_INCREMENT > 1", s.Table)
	if err != nil {
		return err
	}
	for _, n := range next {
		if _, err := r.target.exec(ctx, "counter", "ALTER TABLE "+q(s.fresh())+" AUTO_INCREMENT = "+n, false); err != nil {
			return err
		}
	}
	_, err = r.target.exec(ctx, "rename", "RENAME TABLE "+q(s.Table)+" TO "+q(s.Kept)+", "+q(s.fresh())+" TO "+q(s.Table), false)
	return err
}

// moveOut moves the rows of a table to the one that keeps them.
func (r *run) moveOut(ctx context.Context, s *Reset) error {
	d, l := r.target.dialect(), r.layouts[s.Table]
	create := "CREATE TABLE IF NOT EXISTS " + d.Quote(s.Kept) + " LIKE " + d.Quote(s.Table)
	if !d.mysql() { // columns without a type keep values as they are
		create = "CREATE TABLE " + d.Quote(s.Kept) + " (" + d.QuoteAll(l.columns)
		if key := r.keys[s.Table]; len(key) > 0 && l.has(key) {
			create += ", PRIMARY KEY (" + d.QuoteAll(key) + ")"
		}
		create += ")"
	}
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
		err = fmt.Errorf("table %q of %q: %d rows were read and %d are there: something else writes to it", from, r.target.Name, came, rows)
	}
	return rows, err
}

func (r *run) resetChanged(s *Reset, rows, want int64) error {
	return &ChangedError{Database: r.target.Name, Table: s.Table, Rows: rows, Want: want, Reason: fmt.Sprintf("table %q has %d rows, and should have %d", s.Table, rows, want)}
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

// ResetProof is what [Verify] found of a table that is emptied.
type ResetProof struct {
	Table   string        `json:"table"`
	Verdict merge.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64         `json:"rows"`    // that it has; none are planned
	Kept    string        `json:"kept"`    // the table that keeps the target's rows
	Keeps   int64         `json:"keeps"`   // how many it has
	Want    int64         `json:"want"`    // how many were taken out
	Reason  string        `json:"reason,omitempty"`
}

// proveResets makes sure that the tables are empty and that their rows are kept as they
// were.
func (r *run) proveResets(ctx context.Context) (all []ResetProof, err error) {
	there, err := r.manifest.tables(ctx)
	if err != nil {
		return nil, err
	}
	for i := range r.plan.Resets {
		s := &r.plan.Resets[i]
		p := ResetProof{Table: s.Table, Verdict: merge.Pass, Kept: s.Kept, Want: s.Rows}
		var reasons []string
		if p.Rows, err = r.count(ctx, s.Table); err != nil {
			return nil, err
		}
		if p.Rows > 0 {
			reasons = append(reasons, "it is not empty")
		}
		if slices.Contains(there, s.Kept) {
			kept, err := contentsOfMultiset(ctx, r.target, r.layouts[s.Table].of(s.Kept), nil, func(int) error { return ctx.Err() })
			if err != nil {
				return nil, err
			}
			if p.Keeps = kept.Rows; kept.Rows != s.Rows || kept.Sum != s.Sum {
				reasons = append(reasons, fmt.Sprintf("what %s keeps is not what was taken out", s.Kept))
			}
		} else {
			reasons = append(reasons, fmt.Sprintf("%s, which kept its rows, is gone: the merge cannot be undone", s.Kept))
		}
		if len(reasons) > 0 {
			p.Verdict, p.Reason = merge.Fail, strings.Join(reasons, "; ")
		}
		all = append(all, p)
	}
	return all, nil
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
