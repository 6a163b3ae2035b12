package transfer

import (
	"context"
	"slices"

	"mergesafe/internal/sqldb"
)

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
		if !f.begun && slices.Contains(there, s.Kept) {
			f.refuse(target.Name(), s.Table, "there is a table %q already, and the merge needs that name to keep rows: drop it if no merge needs it, or rename it", s.Kept)
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
			f.refuse(target.Name(), s.Table, "it has %s, and should have %d: another process wrote to it since the plan was made: plan again", countRows(n), want)
		}
	}
	if len(f.plan.Resets) > 0 && hidesTriggers(target) {
		f.refuse(target.Name(), "", "a table is to be emptied, and the account cannot see whether that would run a trigger: use an account that can see triggers")
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
