package planner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
)

// NewPlan reads all databases and plans the merge of the sources into the target: see
// [plan.Plan]. It needs only the right to SELECT.
//
// An error means that there is no plan, because something could not be read or
// the options do not fit the databases. A reason that blocks the merge is not an error,
// but one of the plan's Refusals.
func NewPlan(ctx context.Context, target rowio.Database, sources []rowio.Database, opts PlanOptions) (*plan.Plan, error) {
	made := &plan.Plan{Version: plan.PlanVersion, Made: time.Now().UTC().Truncate(time.Second), Refusals: []plan.Refusal{},
		Sources: []plan.World{}, Tables: []plan.Table{}, Left: []plan.Left{}, Renames: []plan.Rename{}}
	p := &Planner{opts: &opts, Planning: &step.Planning{Opts: &opts, Plan: made}}
	defer func() {
		for _, s := range p.DBs {
			s.Close()
		}
	}()
	if err := open(ctx, p, target, sources); err != nil {
		return nil, fmt.Errorf("transfer: plan: %w", err)
	}
	measure := func(ctx context.Context, p *Planner) error { return Measure(ctx, p.Planning) }
	steps := []func(context.Context, *Planner) error{check, choose, planChanges, refuseTyped, measure, planInto, refuseAgain,
		measureChanges, refuseUnsent, lookAtRights}
	for _, do := range steps {
		if err := do(ctx, p); err != nil {
			return nil, fmt.Errorf("transfer: plan: %w", err)
		}
	}
	judgeTriggers(p)
	if p.Plan.Rekey != nil {
		p.Plan.Fleet = p.opts.Fleet
	}
	p.Plan.ID = p.Plan.Fingerprint()
	p.Plan.NameKept()
	return p.Plan, nil
}

func planChanges(ctx context.Context, p *Planner) error {
	return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Planning] { return c.Plan }, p.Planning)
}

func measureChanges(ctx context.Context, p *Planner) error {
	return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Planning] { return c.Measure }, p.Planning)
}

// PlanOptions configures [NewPlan].
type PlanOptions = step.PlanOptions

// Planner is a plan in the making, with what only the steps need.
type Planner struct {
	*step.Planning
	opts *PlanOptions      // those of Planning
	skip map[string]string // tables that stay behind, and what of them
}

func open(ctx context.Context, p *Planner, target rowio.Database, sources []rowio.Database) error {
	if p.opts.Into != nil {
		p.Plan.Into = &plan.Into{Name: p.opts.Into.Name}
	}
	if len(sources) == 0 {
		return fmt.Errorf("%w: there is no source", catalog.ErrSources)
	}
	for i, d := range append([]rowio.Database{target}, sources...) {
		if d.Name == "" || len([]rune(d.Name)) > 200 {
			return fmt.Errorf("%w: the name %.20q: want 1 to 200 characters", catalog.ErrSources, d.Name)
		}
		s, err := rowio.OpenSource(ctx, d)
		if err != nil {
			return err
		}
		p.DBs = append(p.DBs, s)
		w, err := world(ctx, s)
		if err != nil {
			return err
		}
		if err := p.refuseInUse(ctx, s); err != nil {
			return err
		}
		moves := i == 0 && p.Plan.Into != nil // its servers run in the new database: never in both
		w.Fence = (moves || i > 0 && !p.opts.NoFence) && slices.ContainsFunc(w.Servers, func(s catalog.Server) bool { return s.Own })
		if w.Fence {
			p.refuseFrozen(s)
		}
		if i == 0 {
			p.Plan.Target, p.Plan.Engine = w, s.Known.Engine // that it takes writes is a matter of the check
			continue
		}
		p.Plan.Sources = append(p.Plan.Sources, w)
	}
	return nil
}

func (p *Planner) refuse(r plan.Refusal) { p.Refuse(r) }

// refuseFrozen refuses a source that needs a fence and whose server takes no writes of this account: it is a replica, or
// the member of a group that is not the primary.
func (p *Planner) refuseFrozen(s *rowio.Source) {
	if why := s.Known.Frozen; why != "" {
		p.refuse(plan.Refusal{Place: plan.PlaceServers, Source: s.Name(), Reason: why + ": name the one that does, " +
			"turn it off so that the fence can be written into its registry, or plan without a fence"})
	}
}

// refuseInUse refuses a database if one of its servers runs, or a merge has begun
// and is neither completed nor undone there: the plan would not fit any more when
// that has ended.
func (p *Planner) refuseInUse(ctx context.Context, s *rowio.Source) error {
	var reasons []string
	if s.Known.HasRegistry {
		now, err := ledger.Servers(ctx, s.On.Database)
		if err != nil {
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
		reasons = ledger.InUse(now, "")
	}
	ids, err := (&ledger.Manifest{On: s.On}).Others(ctx)
	if err != nil {
		return fmt.Errorf("database %q: %w", s.Name(), err)
	}
	for _, id := range ids {
		if reason := ledger.Unfinished(id); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	for _, reason := range reasons {
		p.refuse(plan.Refusal{Place: plan.PlaceServers, Source: s.Name(), Reason: reason + ", then plan again"})
	}
	return nil
}

// world describes the database for a plan.
func world(ctx context.Context, s *rowio.Source) (plan.World, error) {
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
