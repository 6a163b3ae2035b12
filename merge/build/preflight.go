package build

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/change"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// preflight checks everything that can be known before the first write without reading rows. These are summed up and
// compared with the plan as they are copied; counted is for a call that copies none, and has them counted.
func preflight(ctx context.Context, r *job.Run, state record.State, counted bool) error {
	if blocks := r.Plan.Blocks(r.Opts.Try); len(blocks) > 0 {
		return &record.RefusedError{Doing: "apply", Refusals: blocks}
	}
	f := &flight{Flight: &change.Flight{Run: r}, begun: state == r.Manifest.Working(), counted: counted}
	err := r.Retry(ctx, "reading the databases", func(ctx context.Context) error {
		f.Reasons, f.Model = nil, nil
		if err := r.Apart(ctx, "apply"); err != nil {
			return err
		}
		for i, c := range r.Worlds {
			if err := f.look(ctx, i, c.Database); err != nil {
				return err
			}
		}
		if len(f.Reasons) > 0 {
			return nil
		}
		if !r.Opts.Try {
			if err := f.walk(ctx, func(c *change.Change) change.Do[*change.Flight] { return c.Together }); err != nil {
				return err
			}
		}
		if !r.New.Writes {
			return nil
		}
		return f.rights(ctx)
	})
	if err == nil && len(f.Reasons) > 0 {
		if state != "" {
			plan.AfterUndo(f.Reasons)
		}
		err = &record.RefusedError{Doing: "apply", Refusals: f.Reasons}
	}
	return err
}

// flight looks at everything before the first write.
type flight struct {
	*change.Flight
	begun   bool // an earlier call began to copy
	counted bool // all rows are
}

// look compares one world with the plan.
func (f *flight) look(ctx context.Context, i int, d world.Database) error {
	s, err := world.OpenWorld(ctx, d)
	if err != nil {
		return err
	}
	defer s.Close()
	f.World, f.Source = i, s
	s.Withhold(f.Plan.WithheldRows(i))
	gone, err := record.Missing(ctx, f.Plan, i, s.On)
	if err != nil {
		return err
	}
	if gone != "" {
		f.Refuse(d.Name, "", "%s", gone+plan.Restore)
		return nil
	}
	if same, err := f.same(ctx, d); err != nil || !same || !f.madeAsPlanned() {
		return err
	}
	if i == 0 {
		if err := f.model(ctx); err != nil {
			return err
		}
	}
	if f.Opts.Try { // a game may run, and change rows
		return nil
	}
	if s.Known.HasRegistry {
		if err := f.servers(ctx, d); err != nil {
			return err
		}
	}
	if f.Model == nil {
		return nil // the first world is refused, and tables are read as it has them
	}
	if err := f.walk(ctx, func(c *change.Change) change.Do[*change.Flight] { return c.Ready }); err != nil {
		return err
	}
	if err := f.walk(ctx, func(c *change.Change) change.Do[*change.Flight] { return c.Unchanged }); err != nil {
		return err
	}
	return f.Counts(ctx, f.counted)
}

// walk asks the changes of the merge about the world, at one moment.
func (f *flight) walk(ctx context.Context, moment func(c *change.Change) change.Do[*change.Flight]) error {
	return change.Walk(ctx, moment, f.Flight)
}

// madeAsPlanned refuses a world that is of another engine or has another schema.
func (f *flight) madeAsPlanned() bool {
	name, engine := f.Source.Name(), f.Source.Known.Engine
	if engine != f.Plan.Engine {
		f.Refuse(name, "", "it is %s, and the plan is for %s", engine, f.Plan.Engine)
		return false
	}
	what := f.Plan.Altered(f.World, f.Source, false)
	switch {
	case what == "":
		return true
	case f.begun:
		f.Refuse(name, "", "%s: alter them back", what)
	default:
		f.Changed(name, "", "%s", what)
	}
	return false
}

// model takes the schema of the new database from the first world, all of which its account has to see.
func (f *flight) model(ctx context.Context) error {
	f.Model = f.Source // its catalogue, also when it is closed
	f.Know(f.Source)
	hidden, err := f.Source.HiddenObjects(ctx)
	for _, what := range hidden {
		f.Refuse(f.Source.Name(), "", "the account cannot see everything that the new database must have: %s", what)
	}
	return err
}

// same refuses another world than that of the plan.
func (f *flight) same(ctx context.Context, d world.Database) (bool, error) {
	_, other, err := record.Another(ctx, f.Plan.Worlds[f.World], d)
	if other != "" {
		f.Refuse(d.Name, "", "%s", other)
	}
	return other == "", err
}

// servers compares the registry of a world with the plan. No server may run.
func (f *flight) servers(ctx context.Context, d world.Database) error {
	now, err := record.Servers(ctx, d)
	if err != nil {
		return err
	}
	f.Reasons = append(f.Reasons, record.InUse(d.Name, now, f.Plan.ID)...)
	if f.Opts.Elsewhere != nil && !f.begun {
		why, err := f.Opts.Elsewhere(ctx, d)
		if err != nil {
			return fmt.Errorf("database %q: %w", d.Name, err)
		}
		if why != "" {
			f.Refuse(d.Name, "", "%s", why)
		}
	}
	if reason := record.ChangedServers(f.Plan.Worlds[f.World], now); reason != "" {
		f.Changed(d.Name, "", "%s since the plan was made", reason)
	}
	return nil
}

// rights looks whether the accounts may make the new database and write the fences.
func (f *flight) rights(ctx context.Context) error {
	if err := f.rightsInto(ctx); err != nil || f.Opts.Try {
		return err
	}
	return f.fenceRights(ctx)
}

// rightsInto looks whether the account may make the new database: without a right it would be made
// in part, and could not be dropped.
func (f *flight) rightsInto(ctx context.Context) error {
	all, err := world.Read(ctx, f.Worlds[0])
	if err != nil {
		return err
	}
	lacks, err := planner.RightsInto(ctx, f.New.Database, all)
	if lacks != "" {
		f.Refuse(f.New.Name, "", "the account lacks rights on it: %s", lacks)
	}
	return err
}

// fenceRights tries whether the accounts may write fences.
func (f *flight) fenceRights(ctx context.Context) error {
	for i, w := range f.Plan.Worlds {
		if !w.Fence {
			continue
		}
		why, err := mayNotFence(ctx, f.Worlds[i].Database)
		if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
		if why != "" {
			f.Refuse(w.Name, "", "%s", why)
		}
	}
	return nil
}

// mayNotFence says why the account may not write the fence of a world; "" if it may.
func mayNotFence(ctx context.Context, d world.Database) (why string, err error) {
	db, err := sqldb.Dial(ctx, d.DSN, sqldb.WriteExisting)
	if err == nil {
		_, err = db.Exec(ctx, "UPDATE "+worldregistry.Table+" SET epoch = epoch WHERE 1 = 0")
		db.Close()
		err = d.Held(ctx, err)
	}
	if sqldb.IsDenied(err) {
		return fmt.Sprintf("the account may not write the fence into its registry: give it the right to UPDATE %s: %v", worldregistry.Table, err), nil
	}
	return "", err
}

// mayFence refuses worlds that have the fence of the merge, which the account may not change: nothing is done by halves. If that cannot be
// tried now, such as while another process has the lock, it shows where fences are changed.
func mayFence(ctx context.Context, r *job.Run, doing string) error {
	return r.RefuseWorlds(doing, func(i int, d world.Database) (why string, err error) {
		now, err := record.Servers(ctx, d)
		if slices.ContainsFunc(now, func(s worldregistry.Server) bool { return s.Fenced(r.Plan.ID) }) {
			why, _ = mayNotFence(ctx, d)
		}
		return why, err
	})
}
