package planner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// PlanOptions configures [NewPlan]. The zero value means the defaults.
type PlanOptions struct {
	// Check configures the check that the plan rests on. [NewPlan] sets Target, Renames
	// and Copies.
	// Tables that Exclude names are not copied. Results that Allow names may be NOT
	// VERIFIED, and some may FAIL: none by which rows are lost or mixed up.
	Check declare.Options

	// Names say how to change values that have to be unique and are not. Without a
	// policy, such a value is a refusal.
	Names []plan.NamePolicy

	// Copies are columns that repeat a column of Names elsewhere.
	Copies []plan.NameCopy

	// MaxKeyless is how many rows of one source a table without a key may have to be
	// copied, in one transaction: 0 is [rowio.DefaultMaxKeyless], a negative number none.
	MaxKeyless int64

	// NoFence leaves the sources without a fence. Then nothing at all is written there,
	// but a server that is started there makes rows that the target will never get. The
	// target is always fenced while the merge is carried out, and so is, for good, a first
	// world that becomes a new database.
	NoFence bool

	// Into is the new database in which the merge is to be made; nil if the rows are to come
	// to the target. It is only looked at.
	Into *rowio.Database

	// Fleet is the identity of the fleet registry with the ranges of Check.Rekey, if one
	// was read.
	Fleet string

	// Report, if not nil, is called with the report of the check that the plan rests
	// on, with the samples that Check asks for.
	Report func(*verdict.Report)

	// Progress, if not nil, is called with the state of the reading. Several goroutines
	// may call it at a time.
	Progress func(job.Progress)

	RangeRows int64 // how many rows a range has at least; only tests choose it
}

// NewPlan reads all databases and plans the merge of the sources into the target: see
// [plan.Plan]. It needs only the right to SELECT.
//
// An error means that there is no plan, because something could not be read or
// the options do not fit the databases. A reason that blocks the merge is not an error,
// but one of the plan's Refusals.
func NewPlan(ctx context.Context, target rowio.Database, sources []rowio.Database, opts PlanOptions) (*plan.Plan, error) {
	p := &Planner{opts: opts, Plan: &plan.Plan{Version: plan.PlanVersion, Made: time.Now().UTC().Truncate(time.Second), Refusals: []plan.Refusal{},
		Sources: []plan.World{}, Tables: []plan.Table{}, Left: []plan.Left{}, Renames: []plan.Rename{}}}
	defer func() {
		for _, s := range p.DBs {
			s.Close()
		}
	}()
	if err := open(ctx, p, target, sources); err != nil {
		return nil, fmt.Errorf("transfer: plan: %w", err)
	}
	steps := []func(context.Context, *Planner) error{check, findFollowers, choose, resets, findCounters, refuseTyped, rename, renumber,
		tryNames, Measure, planInto, refuseAgain, measureAlikes, measureResets, MeasureCombines, refuseUnsent, lookAtRights}
	for _, step := range steps {
		if err := step(ctx, p); err != nil {
			return nil, fmt.Errorf("transfer: plan: %w", err)
		}
	}
	judgeTriggers(p)
	if p.Plan.Rekey != nil {
		p.Plan.Fleet = p.opts.Fleet
	}
	p.Plan.ID = p.Plan.Fingerprint()
	p.Plan.NameResets()
	p.Plan.NameCombines()
	return p.Plan, nil
}

type Planner struct {
	opts PlanOptions
	Plan *plan.Plan
	DBs  []*rowio.Source             // the target first
	Rows map[string]map[string]int64 // by database and table, as counted by the check
	same map[string]bool             // tables that the check proved to be the same in all
	skip map[string]string           // tables that stay behind, and what of them

	emptied []string // tables of skip that are to be empty in the target too

	combined map[string]*declare.Combined // tables of which rows with one key are combined

	followers []declare.NameReference // what refers to names that are changed
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
			if err := p.refuseFrozen(ctx, s); err != nil {
				return err
			}
		}
		if i == 0 {
			p.Plan.Target, p.Plan.Engine = w, s.Known.Engine // that it takes writes is a matter of the check
			continue
		}
		p.Plan.Sources = append(p.Plan.Sources, w)
	}
	return nil
}

// refused reports whether the plan is refused by a rule of the check.
func (p *Planner) refused(code string) bool {
	return slices.ContainsFunc(p.Plan.Refusals, func(r plan.Refusal) bool { return r.Code == code })
}

func (p *Planner) refuse(r plan.Refusal) { p.Plan.Refusals = append(p.Plan.Refusals, r) }

// refuseFrozen refuses a source that needs a fence and whose server accepts no writes
// from any account: it is a replica, or the member of a group that is not the
// primary.
func (p *Planner) refuseFrozen(ctx context.Context, s *rowio.Source) error {
	if !s.Dialect.MySQL() {
		return nil
	}
	n, err := s.On.Number(ctx, sqldb.TakesNoWrites, false)
	if err != nil && !sqldb.IsUnknownVariable(err) {
		return fmt.Errorf("database %q: %w", s.Name(), err)
	}
	if n != 0 {
		p.refuse(plan.Refusal{Source: s.Name(), Reason: "its server accepts no writes (super_read_only is ON): name the one that does, turn it off so that the fence can be written into its registry, or plan without a fence"})
	}
	return nil
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
		p.refuse(plan.Refusal{Source: s.Name(), Reason: reason + ", then plan again"})
	}
	return nil
}
