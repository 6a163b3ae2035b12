package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
	"mergesafe/store/registry"
)

// preflight checks everything that can be known before the first write.
func preflight(ctx context.Context, r *job.Run, state ledger.State) error {
	if len(r.Plan.Refusals) > 0 {
		return &ledger.RefusedError{Doing: "apply", Refusals: r.Plan.Refusals}
	}
	f := &flight{Flight: &step.Flight{Run: r, Begun: state == ledger.StateCopying}}
	err := r.Retry(ctx, "reading the databases", func(ctx context.Context) error {
		f.Reasons, f.Model = nil, nil
		for i, c := range r.Worlds() {
			if err := f.look(ctx, i, c.Database); err != nil {
				return err
			}
		}
		if len(f.Reasons) > 0 {
			return nil
		}
		err := step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Flight] { return c.Together }, f.Flight)
		if err != nil || !r.Target.Writes {
			return err
		}
		return f.rights(ctx)
	})
	if err == nil && len(f.Reasons) > 0 {
		err = &ledger.RefusedError{Doing: "apply", Refusals: f.Reasons}
		if state != "" || f.guarded {
			err = ledger.AfterUndo(err)
		}
	}
	return err
}

// flight looks at everything before the first write.
type flight struct {
	*step.Flight
	guarded bool // the target has a fence of this merge
}

// look compares one database with the plan. The target is number 0.
func (f *flight) look(ctx context.Context, i int, d rowio.Database) error {
	s, err := rowio.OpenSource(ctx, d)
	if err != nil {
		return err
	}
	defer s.Close()
	f.Database, f.Source = i, s
	s.Withhold(f.Plan.WithheldRows(i))
	want := f.Plan.Worlds()[i]
	if s.Known.Engine != f.Plan.Engine {
		f.Refuse(d.Name, "", "it is %s, and the plan is for %s", s.Known.Engine, f.Plan.Engine)
		return nil
	}
	if what := f.Plan.Altered(i, s, false); what != "" {
		then := "plan again"
		if f.Begun {
			then = "alter them back, then run the same command again"
		}
		f.Refuse(d.Name, "", "%s: %s", what, then)
		return nil
	}
	if i == 0 {
		f.Model = s // its catalogue, also when it is closed
		f.Know(s)
	}
	if i == 0 && f.First != nil {
		hidden, err := s.HiddenObjects(ctx)
		if err != nil {
			return err
		}
		for _, what := range hidden {
			f.Refuse(d.Name, "", "the account cannot see everything that the new database has to have: %s", what)
		}
	}
	if i == 0 && f.First == nil {
		f.hidden(s)
		planner.TriggersNow(f.Run, s, false, func(table, reason string) { f.Refuse(d.Name, table, "%s", reason) })
	}
	if s.Known.HasRegistry {
		if err := f.servers(ctx, i, d, want); err != nil {
			return err
		}
	}
	if f.Model == nil {
		return nil // the target is refused, and tables are read as it has them
	}
	if err := step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Flight] { return c.Ready }, f.Flight); err != nil {
		return err
	}
	for _, t := range f.Plan.Tables {
		if s.Table(t.Name) == nil {
			continue
		}
		if i == 0 && f.Begun && f.First == nil {
			n, copied, err := rowsNow(ctx, f.Run, &t)
			if err != nil {
				return err
			}
			if ok, want := t.Planned(n, copied); !ok {
				f.Refuse(d.Name, t.Name, "it has %s, and should have %d with the %d that the merge copied: another process wrote to it since the merge began: plan again", ledger.CountRows(n), want, copied)
			}
			continue
		}
		n, err := s.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if had := t.In(i).Rows; n != had {
			f.Refuse(d.Name, t.Name, "it has %s, and had %d when the plan was made: plan again", ledger.CountRows(n), had)
		}
	}
	if i == 0 && f.First != nil {
		return f.own(ctx, s)
	}
	return nil
}

// hidden refuses an account that may not be shown a trigger, unless the operator
// allowed that: the account of the plan was shown all.
func (f *flight) hidden(target *rowio.Source) {
	allowed := slices.ContainsFunc(f.Plan.Check.Allowed, func(a plan.Refusal) bool { return a.Code == verdict.CodeTriggerFires && a.Table == "" })
	for _, hidden := range target.Known.Hidden {
		if hidden.What == catalog.HiddenTriggers && !allowed {
			f.Refuse(target.Name(), "", "%s", hidden)
		}
	}
}

// servers compares the registry of a database with the plan. No server may run.
func (f *flight) servers(ctx context.Context, i int, d rowio.Database, want plan.World) error {
	now, err := ledger.Servers(ctx, d)
	if err != nil {
		return err
	}
	for _, reason := range ledger.InUse(now, f.Plan.ID) {
		f.Refuse(d.Name, "", "%s", reason)
	}
	if i == 0 && f.First == nil {
		f.guarded = slices.ContainsFunc(now, func(s registry.Server) bool { return s.Fenced(f.Plan.ID) })
		if f.Begun {
			now = withoutMerged(f.Run, now)
		}
	}
	if reason := ledger.ChangedServers(want, now); reason != "" {
		f.Refuse(d.Name, "", "%s since the plan was made: plan again", reason)
	}
	return nil
}

// own counts the rows that only the first world has.
func (f *flight) own(ctx context.Context, s *rowio.Source) error {
	for i := range f.Plan.Into.Tables {
		t := &f.Plan.Into.Tables[i]
		n, err := s.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if had := t.Content.Rows; n != had {
			f.Refuse(s.Name(), t.Name, "it has %s, and had %d when the plan was made: plan again", ledger.CountRows(n), had)
		}
	}
	return nil
}

// Rights tries, without changing a row, whether the accounts have the rights, and returns what they lack.
func Rights(ctx context.Context, r *job.Run) ([]plan.Refusal, error) {
	f := &flight{Flight: &step.Flight{Run: r, Begun: true}}
	err := f.rights(ctx)
	return f.Reasons, err
}

func (f *flight) rights(ctx context.Context) error {
	if f.First != nil {
		if err := f.rightsInto(ctx); err != nil {
			return err
		}
		return f.fenceRights(ctx)
	}
	d := f.Target.Dialect()
	probes := step.Probes(all.Changes(), f.Plan, d, func(table string) *rowio.Layout { return f.Layouts[table] })
	if f.Registry {
		const registry = registry.Table
		for _, statement := range []string{"UPDATE " + registry + " SET epoch = epoch", "INSERT INTO " + registry + " SELECT * FROM " + registry, "DELETE FROM " + registry} {
			probes = append(probes, step.Probe{Statement: statement + " WHERE 1 = 0"})
		}
	}
	if d.MySQL() { // for the tables of the merge itself, which an undo removes
		probes = append(probes, step.Probe{Statement: "DROP TABLE IF EXISTS " + d.Quote("mergesafe: may tables be dropped?")})
	}
	for _, p := range probes {
		_, err := f.Target.Exec(ctx, "probe", p.Statement, false)
		switch {
		case errors.Is(err, sqldb.ErrReadOnly):
			f.Refuse(f.Target.Name, "", "its server accepts no writes: %v", err)
			return nil
		case sqldb.IsDenied(err):
			f.Refuse(f.Target.Name, p.Table, "the account lacks a right: %v", err)
		case err != nil && !(p.Fails && sqldb.IsRefused(err)):
			return err
		}
	}
	ids, err := f.Manifest.Others(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		f.Refuse(f.Target.Name, "", "%s", ledger.Unfinished(id))
	}
	f.Target.Drop()
	return f.fenceRights(ctx)
}

// rightsInto looks whether the account may make the new database: without a right it would be made
// in part, and could not be dropped.
func (f *flight) rightsInto(ctx context.Context) error {
	all, err := schema.Read(ctx, f.First)
	if err != nil {
		return err
	}
	lacks, err := planner.RightsInto(ctx, f.Target.Database, all)
	if lacks != "" {
		f.Refuse(f.Target.Name, "", "the account lacks rights on it: %s", lacks)
	}
	return err
}

// fenceRights tries whether the accounts may write fences.
func (f *flight) fenceRights(ctx context.Context) error {
	origins := f.Origins()
	for i, w := range f.Plan.Origins() {
		if !w.Fence {
			continue
		}
		db, err := sqldb.Dial(ctx, origins[i].DSN, false)
		if err == nil {
			_, err = db.Exec(ctx, "UPDATE "+registry.Table+" SET epoch = epoch WHERE 1 = 0")
			db.Close()
		}
		if sqldb.IsDenied(err) {
			f.Refuse(w.Name, "", "the account may not write the fence into its registry: give it the right to UPDATE %s, or plan without a fence: %v", registry.Table, err)
		} else if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
	}
	return nil
}
