package reset

import (
	"context"

	"mergesafe/merge/transfer/change/reset/restore"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
)

// ready compares the tables that are emptied with the plan.
func ready(ctx context.Context, f *step.Flight) error {
	if !f.RowsCome() {
		return nil
	}
	target := f.Source
	there, err := f.Manifest.Tables(ctx)
	if err != nil {
		return err
	}
	for i := range f.Plan.Resets {
		s := &f.Plan.Resets[i]
		t := target.Table(s.Table)
		for _, reason := range restore.TriggersInWay(t, !s.Moved) {
			f.Refuse(target.Name(), s.Table, "%s", reason)
		}
		f.KeptBefore(there, s.Table, s.Kept)
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
			f.Refuse(target.Name(), s.Table, "it has %s, and should have %d: another process wrote to it since the plan was made: plan again", ledger.CountRows(n), want)
		}
	}
	if len(f.Plan.Resets) > 0 && restore.HidesTriggers(target) {
		f.Refuse(target.Name(), "", "a table is to be emptied, and the account cannot see whether that would run a trigger: use an account that can see triggers")
	}
	return nil
}

// probes ask whether the account may empty the tables and fill them again.
func probes(p *plan.Plan, d rowio.Dialect, layout func(table string) *rowio.Layout) (all []step.Probe) {
	for _, s := range p.Resets {
		add := func(right, statement string) {
			all = append(all, step.Probe{Table: s.Table, Right: right, Statement: statement, Fails: true})
		}
		add("INSERT", layout(s.Table).InsertFrom("INSERT", s.Table)+" WHERE 1 = 0")
		add("DELETE", "DELETE FROM "+d.Quote(s.Table)+" WHERE 1 = 0")
		if d.MySQL() {
			nowhere, name := d.Quote("mergesafe: no such table"), d.Quote("mergesafe: may tables be made?")
			add("", "CREATE TABLE "+name+" LIKE "+nowhere)
			add("", "RENAME TABLE "+nowhere+" TO "+name)
			if !s.Moved {
				add("", "RENAME TABLE "+d.Quote(s.Table)+" TO "+d.Quote(s.Table)) // it is there
			}
		}
	}
	return all
}
