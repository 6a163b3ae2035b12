package planner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"

	"mergesafe/merge/catalog"
	"mergesafe/merge/change"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// NewPlan reads all worlds and plans their merge into a new database, which is only looked at: see
// [plan.Plan]. The first world keeps its keys and names, and gives the schema. It needs only the right
// to SELECT.
//
// An error means that there is no plan, because something could not be read or
// the options do not fit the databases. A reason that blocks the merge is not an error,
// but one of the plan's Refusals.
func NewPlan(ctx context.Context, into world.Database, worlds []world.Database, opts PlanOptions) (*plan.Plan, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	made := &plan.Plan{Version: plan.PlanVersion, Made: time.Now().UTC().Truncate(time.Second), Refusals: []plan.Refusal{},
		New: plan.New{Name: into.Name}, Worlds: []plan.World{}, Tables: []plan.Table{}, Left: []plan.Left{}, Renames: []plan.Rename{}}
	p := &Planner{opts: &opts, into: into, Planning: &change.Planning{Opts: &opts, Plan: made}}
	defer func() {
		for _, s := range p.DBs {
			s.Close()
		}
	}()
	if err := open(ctx, p, worlds); err != nil {
		return nil, fmt.Errorf("merge: plan: %w", err)
	}
	measure := func(ctx context.Context, p *Planner) error { return Measure(ctx, p.Planning) }
	steps := []func(context.Context, *Planner) error{judge, choose, planChanges, refuseTyped, refuseFailing, measure, planNew, refuseNext, refuseAgain,
		measureChanges, refuseUnsent, lookAtRights}
	for _, do := range steps {
		if err := do(ctx, p); err != nil {
			return nil, fmt.Errorf("merge: plan: %w", err)
		}
	}
	p.Plan.ID = p.Plan.Fingerprint()
	return p.Plan, nil
}

func planChanges(ctx context.Context, p *Planner) error {
	return change.Walk(ctx, func(c *change.Change) change.Do[*change.Planning] { return c.Plan }, p.Planning)
}

func measureChanges(ctx context.Context, p *Planner) error {
	return change.Walk(ctx, func(c *change.Change) change.Do[*change.Planning] { return c.Measure }, p.Planning)
}

// PlanOptions configures [NewPlan].
type PlanOptions = change.PlanOptions

// Planner is a plan in the making, with what only the steps need.
type Planner struct {
	*change.Planning
	opts *PlanOptions      // those of Planning
	into world.Database    // the new database
	skip map[string]string // tables that stay behind, and what of them
}

func open(ctx context.Context, p *Planner, worlds []world.Database) error {
	if len(worlds) < 2 {
		return fmt.Errorf("%w: a merge needs two or more worlds, got %d", catalog.ErrWorlds, len(worlds))
	}
	for i, d := range append(slices.Clone(worlds), p.into) {
		if d.Name == "" || len([]rune(d.Name)) > 200 {
			return fmt.Errorf("%w: the name %.20q: want 1 to 200 characters", catalog.ErrWorlds, d.Name)
		}
		if slices.ContainsFunc(worlds[:i], func(other world.Database) bool { return other.Name == d.Name }) {
			return fmt.Errorf("%w: two are named %q: want each once, and a new database that is not a world", catalog.ErrWorlds, d.Name)
		}
		if i == len(worlds) { // it may not exist yet
			if (&world.Connection{Database: d}).Dialect().MySQL() {
				if _, _, err := world.Server(d); err != nil {
					return fmt.Errorf("database %q: %w", d.Name, err)
				}
			}
			break
		}
		s, err := world.OpenWorld(ctx, d)
		if err != nil {
			return err
		}
		p.DBs = append(p.DBs, s)
		w, err := plannedWorld(ctx, s)
		if err != nil {
			return err
		}
		if err := p.refuseInUse(ctx, s); err != nil {
			return err
		}
		// The first one's servers run in the new database: never in both.
		w.Fence = slices.ContainsFunc(w.Servers, func(s catalog.Server) bool { return s.Own })
		if w.Fence {
			p.refuseFrozen(s)
		}
		p.Plan.Worlds = append(p.Plan.Worlds, w)
	}
	p.Plan.Engine = p.DBs[0].Known.Engine
	return p.refuseWorldAsNew(ctx, worlds)
}

// refuseWorldAsNew looks where the new database is, and refuses one that is one of the worlds, by whatever name. Whether
// two worlds are one database is a rule of the check.
func (p *Planner) refuseWorldAsNew(ctx context.Context, worlds []world.Database) (err error) {
	if on := (&world.Connection{Database: p.into}); on.Dialect() != p.DBs[0].Dialect {
		return fmt.Errorf("the new database %q is of a different kind than the worlds, which are %s: want a DSN that begins with %q", p.into.Name, p.Plan.Engine, p.DBs[0].Dialect.Dialect+":")
	}
	if p.Plan.New.Place, err = world.PlaceOf(ctx, p.into); err != nil {
		return err
	}
	there, err := world.Exists(ctx, p.into)
	if err != nil || !there {
		return err
	}
	twins, err := world.Twins(ctx, append(slices.Clone(worlds), p.into))
	for _, t := range twins {
		if t.B == p.into.Name && t.Unclear == "" {
			p.refuse(plan.Refusal{Place: plan.PlaceInto, Source: t.B, Reason: fmt.Sprintf("it is the database of the world %q: choose one that does not exist", t.A)})
		}
	}
	return err
}

func (p *Planner) refuse(r plan.Refusal) { p.Refuse(r) }

// refuseFrozen refuses a source that needs a fence and whose server takes no writes of this account: it is a replica, or
// the member of a group that is not the primary.
func (p *Planner) refuseFrozen(s *world.World) {
	if why := s.Known.Frozen; why != "" {
		p.refuse(plan.Refusal{Place: plan.PlaceServers, Source: s.Name(), Reason: why + ": give one that does, " +
			"or turn it off so that the fence can be written into its registry"})
	}
}

// refuseInUse refuses a database if one of its servers runs, or a merge has begun
// and is neither completed nor undone there: the plan would not fit any more when
// that has ended.
func (p *Planner) refuseInUse(ctx context.Context, s *world.World) error {
	var uses []plan.Refusal
	if s.Known.HasRegistry {
		now, err := record.Servers(ctx, s.On.Database)
		if err != nil {
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
		uses = record.InUse(s.Name(), now, "")
		if p.opts.Elsewhere != nil && len(uses) == 0 {
			why, err := p.opts.Elsewhere(ctx, s.On.Database)
			if err != nil {
				return fmt.Errorf("database %q: %w", s.Name(), err)
			}
			if why != "" {
				uses = append(uses, plan.Refusal{Source: s.Name(), Place: plan.PlaceServers, Reason: why})
			}
		}
	}
	rec, err := record.RecordOf(ctx, s.On)
	if err != nil {
		return fmt.Errorf("database %q: %w", s.Name(), err)
	}
	if rec != nil && rec.State != record.StateOpen {
		if one := record.Unfinished(s.Name(), rec.ID); !slices.Contains(uses, one) {
			uses = append(uses, one)
		}
	}
	for _, use := range uses {
		p.refuse(use)
	}
	return nil
}

// plannedWorld describes the database for a plan.
func plannedWorld(ctx context.Context, s *world.World) (plan.World, error) {
	w := plan.World{Name: s.Name(), Schema: plan.Schema(s)}
	var err error
	if w.Tables, err = plan.Pack(plan.Form(s)); err != nil || !s.Known.HasRegistry {
		return w, err
	}
	if w.Servers, err = s.Servers(ctx); err != nil {
		err = fmt.Errorf("database %q: %w", s.Name(), err)
	}
	return w, err
}
