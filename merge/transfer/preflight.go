package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/store/registry"
)

// preflight checks everything that can be known before the first write.
func (r *run) preflight(ctx context.Context, state State) error {
	if len(r.plan.Refusals) > 0 {
		return &RefusedError{Doing: "apply", Refusals: r.plan.Refusals}
	}
	f := &flight{run: r, begun: state == StateCopying}
	err := r.retry(ctx, "reading the databases", func(ctx context.Context) error {
		f.reasons, f.model = nil, nil
		for i, c := range append([]*connection{r.target}, r.sources...) {
			if err := f.look(ctx, i, c.Database); err != nil {
				return err
			}
		}
		if len(f.reasons) > 0 {
			return nil
		}
		if err := f.matches(ctx); err != nil || !r.target.writes {
			return err
		}
		return f.rights(ctx)
	})
	if err == nil && len(f.reasons) > 0 {
		err = &RefusedError{Doing: "apply", Refusals: f.reasons}
		if state != "" || f.guarded {
			err = afterUndo(err)
		}
	}
	return err
}

type flight struct {
	*run
	begun   bool    // an earlier call began to copy
	model   *source // the target, for the time of the call; nil if it is not as planned
	guarded bool    // the target has a fence of this merge
	reasons []Refusal
}

func (f *flight) refuse(database, table, format string, args ...any) {
	f.reasons = append(f.reasons, Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// look compares one database with the plan. The target is number 0.
func (f *flight) look(ctx context.Context, i int, d Database) error {
	s, err := openSource(ctx, d)
	if err != nil {
		return err
	}
	defer s.Close()
	if i > 0 {
		s.Withhold(f.plan.rowsWithheld())
	}
	want := f.plan.worlds()[i]
	if s.catalog.Engine != f.plan.Engine {
		f.refuse(d.Name, "", "it is %s, and the plan is for %s", s.catalog.Engine, f.plan.Engine)
		return nil
	}
	if what := f.plan.altered(i, s, false); what != "" {
		then := "plan again"
		if f.begun {
			then = "alter them back, then run the same command again"
		}
		f.refuse(d.Name, "", "%s: %s", what, then)
		return nil
	}
	if i == 0 {
		f.model = s // its catalogue, also when it is closed
		f.know(s)
		f.hidden(s)
		f.triggersNow(s, false, func(table, reason string) { f.refuse(d.Name, table, "%s", reason) })
		if err := f.resets(ctx, s); err != nil {
			return err
		}
		if err := f.keptBefore(ctx); err != nil {
			return err
		}
	}
	if s.catalog.HasRegistry {
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
	for _, t := range f.plan.Tables {
		if s.table(t.Name) == nil {
			continue
		}
		if i == 0 && f.begun {
			n, copied, err := f.rowsNow(ctx, &t)
			if err != nil {
				return err
			}
			if ok, want := t.planned(n, copied); !ok {
				f.refuse(d.Name, t.Name, "it has %s, and should have %d with the %d that the merge copied: another process wrote to it since the merge began: plan again", countRows(n), want, copied)
			}
			continue
		}
		n, err := s.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if had := t.in(i).Rows; n != had {
			f.refuse(d.Name, t.Name, "it has %s, and had %d when the plan was made: plan again", countRows(n), had)
		}
	}
	return nil
}

// hidden refuses an account that may not be shown a trigger, unless the operator
// allowed that: the account of the plan was shown all.
func (f *flight) hidden(target *source) {
	allowed := slices.ContainsFunc(f.plan.Check.Allowed, func(a Refusal) bool { return a.Code == merge.CodeTriggerFires && a.Table == "" })
	for _, hidden := range target.catalog.Hidden {
		if hidden.What == merge.HiddenTriggers && !allowed {
			f.refuse(target.Name(), "", "%s", hidden)
		}
	}
}

// servers compares the registry of a database with the plan. No server may run.
func (f *flight) servers(ctx context.Context, i int, d Database, want World) error {
	now, err := servers(ctx, d)
	if err != nil {
		return err
	}
	for _, reason := range inUse(now, f.plan.ID) {
		f.refuse(d.Name, "", "%s", reason)
	}
	if i == 0 {
		f.guarded = slices.ContainsFunc(now, func(s registry.Server) bool { return s.Fenced(f.plan.ID) })
		if f.begun {
			now = f.withoutMerged(now)
		}
	}
	if reason := changedServers(want, now); reason != "" {
		f.refuse(d.Name, "", "%s since the plan was made: plan again", reason)
	}
	return nil
}

// rights tries, without changing a row, whether the accounts have the rights.
func (f *flight) rights(ctx context.Context) error {
	d := f.target.dialect()
	type probe struct{ table, statement string }
	var probes []probe
	for _, t := range f.plan.Tables {
		table, columns := d.Quote(t.Name), d.QuoteAll(t.Columns)
		probes = append(probes, probe{t.Name, "INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " + table + " WHERE 1 = 0"},
			probe{t.Name, "DELETE FROM " + table + " WHERE 1 = 0"}) // for an undo
		if t.Counter != nil && d.mysql() {
			// Without a word of what to alter, nothing is altered.
			probes = append(probes, probe{t.Name, "ALTER TABLE " + table})
		}
		if t.writesOver() {
			name := d.Quote(t.Columns[0])
			probes = append(probes, probe{t.Name, "UPDATE " + table + " SET " + name + " = " + name + " WHERE 1 = 0"})
		}
	}
	for _, c := range f.plan.Counters {
		if c.Column == "" {
			for _, statement := range sequenceProbes(d, &c) {
				probes = append(probes, probe{c.Table, statement})
			}
		}
	}
	if f.registry {
		const registry = registry.Table
		probes = append(probes, probe{"", "UPDATE " + registry + " SET epoch = epoch WHERE 1 = 0"},
			probe{"", "INSERT INTO " + registry + " SELECT * FROM " + registry + " WHERE 1 = 0"},
			probe{"", "DELETE FROM " + registry + " WHERE 1 = 0"})
	}
	if d.mysql() { // for the tables of the merge itself, which an undo removes
		probes = append(probes, probe{"", "DROP TABLE IF EXISTS " + d.Quote("mergesafe: may tables be dropped?")})
	}
	for _, p := range probes {
		_, err := f.target.exec(ctx, "probe", p.statement, false)
		switch {
		case errors.Is(err, sqldb.ErrReadOnly):
			f.refuse(f.target.Name, "", "its server accepts no writes: %v", err)
			return nil
		case sqldb.IsDenied(err):
			f.refuse(f.target.Name, p.table, "the account lacks a right: %v", err)
		case err != nil:
			return err
		}
	}
	if err := f.resetRights(ctx); err != nil {
		return err
	}
	ids, err := f.manifest.others(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		f.refuse(f.target.Name, "", "%s", unfinished(id))
	}
	f.target.drop()
	for i, w := range f.plan.Sources {
		if !w.Fence {
			continue
		}
		db, err := sqldb.Dial(ctx, f.sources[i].DSN, false)
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
