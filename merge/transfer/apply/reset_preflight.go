package apply

import (
	"context"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

// resets compares the tables that are emptied with the plan.
func (f *Flight) resets(ctx context.Context, target *rowio.Source) error {
	there, err := f.Manifest.Tables(ctx)
	if err != nil {
		return err
	}
	for i := range f.Plan.Resets {
		s := &f.Plan.Resets[i]
		t := target.Table(s.Table)
		for _, reason := range planner.ResetTriggers(t, !s.Moved) {
			f.refuse(target.Name(), s.Table, "%s", reason)
		}
		if !f.Begun && slices.Contains(there, s.Kept) {
			f.refuse(target.Name(), s.Table, "there is a table %q already, and the merge needs that name to keep rows: drop it if no merge needs it, or rename it", s.Kept)
		}
		want := s.Rows
		if f.Begun {
			done, err := emptied(ctx, f.Run, s)
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
			f.refuse(target.Name(), s.Table, "it has %s, and should have %d: another process wrote to it since the plan was made: plan again", ledger.CountRows(n), want)
		}
	}
	if len(f.Plan.Resets) > 0 && planner.HidesTriggers(target) {
		f.refuse(target.Name(), "", "a table is to be emptied, and the account cannot see whether that would run a trigger: use an account that can see triggers")
	}
	return nil
}

// resetRights tries, without changing anything, whether the account may empty the tables
// and fill them again.
func (f *Flight) resetRights(ctx context.Context) error {
	d := f.Target.Dialect()
	try := func(table, statement string) error {
		_, err := f.Target.Exec(ctx, "probe", statement, false)
		if sqldb.IsDenied(err) {
			f.refuse(f.Target.Name, table, "the account lacks a right: %v", err)
		} else if err != nil && !sqldb.IsRefused(err) { // what is meant to fail
			return err
		}
		return nil
	}
	for i := range f.Plan.Resets {
		s := &f.Plan.Resets[i]
		statements := []string{f.Layouts[s.Table].InsertFrom("INSERT", s.Table) + " WHERE 1 = 0", "DELETE FROM " + d.Quote(s.Table) + " WHERE 1 = 0"}
		if d.MySQL() {
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
