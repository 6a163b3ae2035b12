package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/verdict"
	"mergesafe/store/registry"
)

// preflight checks everything that can be known before the first write.
func preflight(ctx context.Context, r *job.Run, state ledger.State) error {
	if len(r.Plan.Refusals) > 0 {
		return &ledger.RefusedError{Doing: "apply", Refusals: r.Plan.Refusals}
	}
	f := &Flight{Run: r, Begun: state == ledger.StateCopying}
	err := r.Retry(ctx, "reading the databases", func(ctx context.Context) error {
		f.Reasons, f.model = nil, nil
		for i, c := range r.Worlds() {
			if err := f.look(ctx, i, c.Database); err != nil {
				return err
			}
		}
		if len(f.Reasons) > 0 {
			return nil
		}
		if err := f.matches(ctx); err != nil || !r.Target.Writes {
			return err
		}
		return f.Rights(ctx)
	})
	if err == nil && len(f.Reasons) > 0 {
		err = &ledger.RefusedError{Doing: "apply", Refusals: f.Reasons}
		if state != "" || f.guarded {
			err = ledger.AfterUndo(err)
		}
	}
	return err
}

type Flight struct {
	*job.Run
	Begun   bool          // an earlier call began to copy
	model   *rowio.Source // the target, for the time of the call; nil if it is not as planned
	guarded bool          // the target has a fence of this merge
	Reasons []plan.Refusal
}

func (f *Flight) refuse(database, table, format string, args ...any) {
	f.Reasons = append(f.Reasons, plan.Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// look compares one database with the plan. The target is number 0.
func (f *Flight) look(ctx context.Context, i int, d rowio.Database) error {
	s, err := rowio.OpenSource(ctx, d)
	if err != nil {
		return err
	}
	defer s.Close()
	if i > 0 {
		s.Withhold(f.Plan.RowsWithheld())
	}
	want := f.Plan.Worlds()[i]
	if s.Known.Engine != f.Plan.Engine {
		f.refuse(d.Name, "", "it is %s, and the plan is for %s", s.Known.Engine, f.Plan.Engine)
		return nil
	}
	if what := f.Plan.Altered(i, s, false); what != "" {
		then := "plan again"
		if f.Begun {
			then = "alter them back, then run the same command again"
		}
		f.refuse(d.Name, "", "%s: %s", what, then)
		return nil
	}
	if i == 0 {
		f.model = s // its catalogue, also when it is closed
		f.Know(s)
	}
	if i == 0 && f.First != nil {
		hidden, err := s.HiddenObjects(ctx)
		if err != nil {
			return err
		}
		for _, what := range hidden {
			f.refuse(d.Name, "", "the account cannot see everything that the new database has to have: %s", what)
		}
	}
	if i == 0 && f.First == nil {
		f.hidden(s)
		planner.TriggersNow(f.Run, s, false, func(table, reason string) { f.refuse(d.Name, table, "%s", reason) })
		if err := f.resets(ctx, s); err != nil {
			return err
		}
		if err := f.keptBefore(ctx); err != nil {
			return err
		}
	}
	if s.Known.HasRegistry {
		if err := f.servers(ctx, i, d, want); err != nil {
			return err
		}
	}
	if f.model == nil {
		return nil // the target is refused, and tables are read as it has them
	}
	if err := f.alike(ctx, i, s); err != nil {
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
				f.refuse(d.Name, t.Name, "it has %s, and should have %d with the %d that the merge copied: another process wrote to it since the merge began: plan again", ledger.CountRows(n), want, copied)
			}
			continue
		}
		n, err := s.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if had := t.In(i).Rows; n != had {
			f.refuse(d.Name, t.Name, "it has %s, and had %d when the plan was made: plan again", ledger.CountRows(n), had)
		}
	}
	if i == 0 && f.First != nil {
		return f.own(ctx, s)
	}
	return nil
}

// hidden refuses an account that may not be shown a trigger, unless the operator
// allowed that: the account of the plan was shown all.
func (f *Flight) hidden(target *rowio.Source) {
	allowed := slices.ContainsFunc(f.Plan.Check.Allowed, func(a plan.Refusal) bool { return a.Code == verdict.CodeTriggerFires && a.Table == "" })
	for _, hidden := range target.Known.Hidden {
		if hidden.What == catalog.HiddenTriggers && !allowed {
			f.refuse(target.Name(), "", "%s", hidden)
		}
	}
}

// servers compares the registry of a database with the plan. No server may run.
func (f *Flight) servers(ctx context.Context, i int, d rowio.Database, want plan.World) error {
	now, err := ledger.Servers(ctx, d)
	if err != nil {
		return err
	}
	for _, reason := range ledger.InUse(now, f.Plan.ID) {
		f.refuse(d.Name, "", "%s", reason)
	}
	if i == 0 && f.First == nil {
		f.guarded = slices.ContainsFunc(now, func(s registry.Server) bool { return s.Fenced(f.Plan.ID) })
		if f.Begun {
			now = withoutMerged(f.Run, now)
		}
	}
	if reason := ledger.ChangedServers(want, now); reason != "" {
		f.refuse(d.Name, "", "%s since the plan was made: plan again", reason)
	}
	return nil
}

// own counts the rows that only the first world has.
func (f *Flight) own(ctx context.Context, s *rowio.Source) error {
	for i := range f.Plan.Into.Tables {
		t := &f.Plan.Into.Tables[i]
		n, err := s.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if had := t.Content.Rows; n != had {
			f.refuse(s.Name(), t.Name, "it has %s, and had %d when the plan was made: plan again", ledger.CountRows(n), had)
		}
	}
	return nil
}

// Rights tries, without changing a row, whether the accounts have the rights.
func (f *Flight) Rights(ctx context.Context) error {
	if f.First != nil {
		if err := f.rightsInto(ctx); err != nil {
			return err
		}
		return f.fenceRights(ctx)
	}
	d := f.Target.Dialect()
	type probe struct{ table, statement string }
	var probes []probe
	for _, t := range f.Plan.Tables {
		table, columns := d.Quote(t.Name), d.QuoteAll(t.Columns)
		probes = append(probes, probe{t.Name, "INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " + table + " WHERE 1 = 0"},
			probe{t.Name, "DELETE FROM " + table + " WHERE 1 = 0"}) // for an undo
		if t.Counter != nil && d.MySQL() {
			// Without a word of what to alter, nothing is altered.
			probes = append(probes, probe{t.Name, "ALTER TABLE " + table})
		}
		if t.WritesOver() {
			name := d.Quote(t.Columns[0])
			probes = append(probes, probe{t.Name, "UPDATE " + table + " SET " + name + " = " + name + " WHERE 1 = 0"})
		}
	}
	for _, c := range f.Plan.Counters {
		if c.Column == "" {
			for _, statement := range planner.SequenceProbes(d, &c) {
				probes = append(probes, probe{c.Table, statement})
			}
		}
	}
	if f.Registry {
		const registry = registry.Table
		probes = append(probes, probe{"", "UPDATE " + registry + " SET epoch = epoch WHERE 1 = 0"},
			probe{"", "INSERT INTO " + registry + " SELECT * FROM " + registry + " WHERE 1 = 0"},
			probe{"", "DELETE FROM " + registry + " WHERE 1 = 0"})
	}
	if d.MySQL() { // for the tables of the merge itself, which an undo removes
		probes = append(probes, probe{"", "DROP TABLE IF EXISTS " + d.Quote("mergesafe: may tables be dropped?")})
	}
	for _, p := range probes {
		_, err := f.Target.Exec(ctx, "probe", p.statement, false)
		switch {
		case errors.Is(err, sqldb.ErrReadOnly):
			f.refuse(f.Target.Name, "", "its server accepts no writes: %v", err)
			return nil
		case sqldb.IsDenied(err):
			f.refuse(f.Target.Name, p.table, "the account lacks a right: %v", err)
		case err != nil:
			return err
		}
	}
	if err := f.resetRights(ctx); err != nil {
		return err
	}
	ids, err := f.Manifest.Others(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		f.refuse(f.Target.Name, "", "%s", ledger.Unfinished(id))
	}
	f.Target.Drop()
	return f.fenceRights(ctx)
}

// rightsInto looks whether the account may make the new database: without a right it would be made
// in part, and could not be dropped.
func (f *Flight) rightsInto(ctx context.Context) error {
	all, err := schema.Read(ctx, f.First)
	if err != nil {
		return err
	}
	lacks, err := planner.RightsInto(ctx, f.Target.Database, all)
	if lacks != "" {
		f.refuse(f.Target.Name, "", "the account lacks rights on it: %s", lacks)
	}
	return err
}

// fenceRights tries whether the accounts may write fences.
func (f *Flight) fenceRights(ctx context.Context) error {
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
			f.refuse(w.Name, "", "the account may not write the fence into its registry: give it the right to UPDATE %s, or plan without a fence: %v", registry.Table, err)
		} else if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
	}
	return nil
}
