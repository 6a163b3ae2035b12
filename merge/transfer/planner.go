package transfer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// PlanOptions configures [NewPlan]. The zero value means the defaults.
type PlanOptions struct {
	// Check configures the check that the plan rests on. [NewPlan] sets Target, Renames
	// and Copies.
	// Tables that Exclude names are not copied. Results that Allow names may be NOT
	// VERIFIED, and some may FAIL: none by which rows are lost or mixed up.
	Check merge.Options

	// Names say how to change values that have to be unique and are not. Without a
	// policy, such a value is a refusal.
	Names []NamePolicy

	// Copies are columns that repeat a column of Names elsewhere.
	Copies []NameCopy

	// MaxKeyless is how many rows of one source a table without a key may have to be
	// copied, in one transaction: 0 is [DefaultMaxKeyless], a negative number none.
	MaxKeyless int64

	// NoFence leaves the sources without a fence. Then nothing at all is written there,
	// but a server that is started there makes rows that the target will never get. The
	// target is always fenced while the merge is carried out.
	NoFence bool

	// Fleet is the identity of the fleet registry with the ranges of Check.Rekey, if one
	// was read.
	Fleet string

	// Report, if not nil, is called with the report of the check that the plan rests
	// on, with the samples that Check asks for.
	Report func(*merge.Report)

	// Progress, if not nil, is called with the state of the reading. Several goroutines
	// may call it at a time.
	Progress func(Progress)

	rangeRows int64 // how many rows a range has at least; only tests choose it
}

// NewPlan reads all databases and plans the merge of the sources into the target: see
// [Plan]. It needs only the right to SELECT.
//
// An error means that there is no plan, because something could not be read or
// the options do not fit the databases. A reason that blocks the merge is not an error,
// but one of the plan's Refusals.
func NewPlan(ctx context.Context, target Database, sources []Database, opts PlanOptions) (*Plan, error) {
	p := &planner{opts: opts, plan: &Plan{Version: PlanVersion, Made: time.Now().UTC().Truncate(time.Second), Refusals: []Refusal{},
		Sources: []World{}, Tables: []Table{}, Left: []Left{}, Renames: []Rename{}}}
	defer func() {
		for _, s := range p.dbs {
			s.Close()
		}
	}()
	if err := p.open(ctx, target, sources); err != nil {
		return nil, fmt.Errorf("transfer: plan: %w", err)
	}
	for _, step := range []func(context.Context) error{p.check, p.findFollowers, p.choose, p.resets, p.findCounters, p.refuseTyped, p.rename, p.renumber, p.tryNames, p.measure, p.refuseAgain, p.measureAlikes, p.measureResets, p.measureCombines, p.lookAtRights} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("transfer: plan: %w", err)
		}
	}
	p.judgeTriggers()
	if p.plan.Rekey != nil {
		p.plan.Fleet = p.opts.Fleet
	}
	p.plan.ID = p.plan.fingerprint()
	p.plan.nameResets()
	p.plan.nameCombines()
	return p.plan, nil
}

type planner struct {
	opts PlanOptions
	plan *Plan
	dbs  []*source                   // the target first
	rows map[string]map[string]int64 // by database and table, as counted by the check
	same map[string]bool             // tables that the check proved to be the same in all
	skip map[string]string           // tables that stay behind, and what of them

	emptied []string // tables of skip that are to be empty in the target too

	combined map[string]*merge.Combined // tables of which rows with one key are combined

	followers []merge.NameReference // what refers to names that are changed
}

func (p *planner) open(ctx context.Context, target Database, sources []Database) error {
	if len(sources) == 0 {
		return fmt.Errorf("%w: there is no source", merge.ErrSources)
	}
	for i, d := range append([]Database{target}, sources...) {
		if d.Name == "" || len([]rune(d.Name)) > 200 {
			return fmt.Errorf("%w: the name %.20q: want 1 to 200 characters", merge.ErrSources, d.Name)
		}
		s, err := openSource(ctx, d)
		if err != nil {
			return err
		}
		p.dbs = append(p.dbs, s)
		w, err := s.world(ctx)
		if err != nil {
			return err
		}
		if err := p.refuseInUse(ctx, s); err != nil {
			return err
		}
		if i == 0 {
			p.plan.Target, p.plan.Engine = w, s.catalog.Engine // that it takes writes is a matter of the check
			continue
		}
		w.Fence = !p.opts.NoFence && slices.ContainsFunc(w.Servers, func(s merge.Server) bool { return s.Own })
		if w.Fence {
			if err := p.refuseFrozen(ctx, s); err != nil {
				return err
			}
		}
		p.plan.Sources = append(p.plan.Sources, w)
	}
	return nil
}

// refused reports whether the plan is refused by a rule of package merge.
func (p *planner) refused(code string) bool {
	return slices.ContainsFunc(p.plan.Refusals, func(r Refusal) bool { return r.Code == code })
}

func (p *planner) refuse(r Refusal) { p.plan.Refusals = append(p.plan.Refusals, r) }

// refuseFrozen refuses a source that needs a fence and whose server accepts no writes
// from any account: it is a replica, or the member of a group that is not the
// primary.
func (p *planner) refuseFrozen(ctx context.Context, s *source) error {
	if !s.dialect.mysql() {
		return nil
	}
	n, err := s.on.number(ctx, sqldb.TakesNoWrites, false)
	if err != nil && !sqldb.IsUnknownVariable(err) {
		return fmt.Errorf("database %q: %w", s.Name(), err)
	}
	if n != 0 {
		p.refuse(Refusal{Source: s.Name(), Reason: "its server accepts no writes (super_read_only is ON): name the one that does, turn it off so that the fence can be written into its registry, or plan without a fence"})
	}
	return nil
}

// refuseInUse refuses a database if one of its servers runs, or a merge has begun
// and is neither completed nor undone there: the plan would not fit any more when
// that has ended.
func (p *planner) refuseInUse(ctx context.Context, s *source) error {
	var reasons []string
	if s.catalog.HasRegistry {
		now, err := servers(ctx, s.on.Database)
		if err != nil {
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
		reasons = inUse(now, "")
	}
	ids, err := (&manifest{on: s.on}).others(ctx)
	if err != nil {
		return fmt.Errorf("database %q: %w", s.Name(), err)
	}
	for _, id := range ids {
		if reason := unfinished(id); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	for _, reason := range reasons {
		p.refuse(Refusal{Source: s.Name(), Reason: reason + ", then plan again"})
	}
	return nil
}
