package campaign

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"mergesafe/merge/declare"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// Plan makes the plan of every merge that needs one. It keeps those that are fresh, and those of
// merges that have begun, of which nothing may change. It reads only.
//
// If the campaign gives keys new values and there is a fleet registry, the plans are made one
// after another, so that no two of them give the same numbers.
func (b *Book) Plan(ctx context.Context, o Options) (*Status, error) {
	return b.run(ctx, doingPlan, o, func(ctx context.Context, r *runner, jobs []*job) error {
		p := &planner{runner: r}
		if err := p.readRanges(ctx); err != nil {
			return err
		}
		l := r.campaign.limits()
		l.window, l.continues, l.retries = nil, true, 0
		r.schedule(ctx, jobs, l, p.keep)
		if p.alone {
			l.parallel = 1
		}
		p.takeRangesOfOthers(jobs)
		r.schedule(ctx, p.stale, l, p.make)
		return nil
	})
}

// planner makes plans.
type planner struct {
	*runner
	alone    bool   // one plan at a time, because of ranges
	identity string // of the fleet registry

	mu    sync.Mutex
	stale []*job               // merges that need a new plan
	taken []declare.FleetRange // what no plan may give
}

// rekeys reports whether plans give keys new values.
func (p *planner) rekeys() bool { return p.opts.Plan.Check.Rekey != nil || p.campaign.Rekey }

// readRanges reads the ranges of the fleet registry, if there is one and keys get new values.
func (p *planner) readRanges(ctx context.Context) (err error) {
	if p.opts.Ranges == nil || !p.rekeys() {
		return nil
	}
	p.alone = true
	p.taken, p.identity, err = p.opts.Ranges.Given(ctx)
	return err
}

// takeRangesOfOthers takes the ranges of the plans of the campaign that this command does not
// look at.
func (p *planner) takeRangesOfOthers(jobs []*job) {
	for _, m := range p.campaign.Merges {
		if slices.ContainsFunc(jobs, func(j *job) bool { return j.Target == m.Target }) {
			continue
		}
		if plan, err := p.readPlan(m.Target); err == nil && plan != nil {
			p.take(plan)
		}
	}
}

// take keeps the ranges that a plan gives from those that are made later.
func (p *planner) take(plan *transfer.Plan) {
	if p.alone && plan.Rekey != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken = append(p.taken, plan.Rekey.Gives()...)
	}
}

// keep decides whether a merge needs a new plan.
func (p *planner) keep(ctx context.Context, j *job) ending {
	rec := p.recordOf(j)
	if (rec.Phase == Skipped || rec.Phase == Undone) && !j.named && !p.opts.Again {
		return done
	}
	plan, err := p.planOf(ctx, j)
	if err == nil && plan != nil {
		of, err := p.jobOf(plan)
		var at *transfer.Status
		if err == nil {
			at, err = begunAlready(ctx, plan, of)
		}
		same := slices.Equal(namesOf(plan), j.Worlds())
		if at != nil && !same {
			err = fmt.Errorf("the merge of %s into it has begun: write that into the campaign file and undo it, before you plan another one", report.Sources(plan))
		}
		if err != nil {
			p.noPlan(ctx, j, err)
			return done
		}
		if at != nil {
			p.adopt(j, plan, at)
			p.take(plan)
			return done
		}
		fresh := same && !p.opts.Again && rec.Phase == Planned && rec.Plan == plan.ID && rec.Basis == p.opts.Basis && len(plan.Refusals) == 0
		if fresh {
			options, stop, err := p.work(ctx, plan)
			if err == nil {
				var refusals []transfer.Refusal
				refusals, err = transfer.Fresh(ctx, plan, j.target(), j.sources(), options)
				fresh = len(refusals) == 0
				stop()
			}
			if err != nil {
				p.noPlan(ctx, j, err)
				return done
			}
		}
		if fresh {
			p.take(plan)
			return done
		}
	}
	if err == nil && plan == nil && !p.opts.Again {
		err = p.planGone(j.Target)
	}
	if rec.begun() && err != nil {
		p.tell(j.Merge, "", "", func(r *record) { r.Problem, r.Advice = plainly(err), nil })
		return done
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = append(p.stale, j)
	slices.SortFunc(p.stale, func(a, b *job) int { return p.place(a) - p.place(b) })
	return done
}

// jobOf are the databases of a plan, which may be one of an earlier form of the campaign.
func (r *runner) jobOf(plan *transfer.Plan) (*job, error) {
	j := new(job)
	for _, world := range namesOf(plan) {
		d, err := r.opts.Databases(world)
		if err != nil {
			return nil, fmt.Errorf("there is a plan for other worlds, %s: %w", r.PlanFile(plan.Target.Name), err)
		}
		j.databases = append(j.databases, d)
	}
	return j, nil
}

// place is the place of a job in the file.
func (r *runner) place(j *job) int {
	return slices.IndexFunc(r.campaign.Merges, func(m Merge) bool { return m.Target == j.Target })
}

// adopt takes a merge into the state that has begun, as when the state was lost. One that is
// completed was verified if the report beside its plan says so.
func (r *runner) adopt(j *job, plan *transfer.Plan, at *transfer.Status) {
	phase := map[transfer.State]Phase{transfer.StateNone: Planned, transfer.StateCopied: Copied, transfer.StateUndoing: Undoing}[at.State]
	if phase == "" {
		phase = Copying
	}
	reports, verified := r.reportsOf(j, plan)
	if phase == Copied && verified {
		phase = Verified
	}
	r.tell(j.Merge, "", "", func(rec *record) {
		if !rec.Phase.begun() {
			rec.describe(plan)
			rec.Phase = phase
			rec.reported(reports)
		}
	})
}

// describe takes what a plan says into a record.
func (r *record) describe(plan *transfer.Plan) {
	r.Plan, r.Rows, r.Renames = plan.ID, plan.Rows(), len(plan.Renames)
	w := workOf(plan)
	r.Weight, r.After = w.Weight().Seconds(), w.After().Seconds()
}

// make makes the plan of a merge.
func (p *planner) make(ctx context.Context, j *job) ending {
	w, ctx, stop := p.start(ctx, j)
	defer stop()
	p.tell(j.Merge, "", "", func(r *record) {
		r.Phase, r.Active, r.Problem, r.Incomplete, r.Advice, r.Plan = Planning, true, "", false, nil, ""
	})
	options := p.opts.Plan
	options.NoFence = !p.campaign.Fence
	if p.rekeys() {
		rekey := declare.Rekey{}
		if options.Check.Rekey != nil {
			rekey = *options.Check.Rekey
		}
		rekey.Auto = rekey.Auto || p.campaign.Rekey
		if p.alone {
			rekey.Fleet = append(append([]declare.FleetRange{}, rekey.Fleet...), p.taken...) // not nil: there is a registry
		}
		options.Check.Rekey, options.Fleet = &rekey, p.identity
	}
	if p.opts.Codecs != nil {
		codecs, stop, err := p.opts.Codecs(ctx, nil)
		if err != nil {
			p.noPlan(ctx, j, err)
			return done
		}
		defer stop()
		options.Check.Codecs = codecs
	}
	var checked *verdict.Report
	options.Report = func(r *verdict.Report) { checked = r }
	var one sync.Mutex // the check reads several databases at a time
	options.Progress = func(now transfer.Progress) {
		w.meter.report(now)
		one.Lock()
		defer one.Unlock()
		_ = p.pause(ctx) // an interrupt ends the reading by itself
	}
	plan, err := transfer.NewPlan(ctx, j.target(), j.sources(), options)
	if err == nil {
		plan.Program = p.opts.Program
		err = p.write(p.PlanFile(j.Target), plan.Write)
	}
	if err != nil {
		p.noPlan(ctx, j, err)
		return done
	}
	page := p.fileOf(j.Target, ".check.html")
	checked.Program = p.opts.Program
	if err := p.write(page, func(w io.Writer) error { return report.NewCheck(checked).WriteHTML(w) }); err != nil {
		p.opts.Warn(err.Error())
	}
	p.take(plan)
	kind, text := KindPlanned, fmt.Sprintf("%s: %s", report.Merging(plan), report.Amount(plan))
	phase, problem, advice := Planned, "", []string(nil)
	if len(plan.Refusals) > 0 {
		kind, phase = KindRefused, Refused
		problem = refused(plan.Refusals)
		text = problem
		advice = []string{"Correct what blocks it, or take the merge out of the campaign; then plan again:", p.opts.Command("plan", j.Target)}
	}
	p.tell(j.Merge, kind, text, func(r *record) {
		r.idle()
		r.describe(plan)
		r.Phase, r.Basis, r.Problem, r.Advice = phase, p.opts.Basis, problem, advice
		r.Measured, r.Attempts, r.Took, r.Began, r.Ended = 0, 0, 0, nil, nil
		r.Reports = []string{filepath.Base(page)}
	})
	return done
}

// noPlan records why a merge has no plan.
func (p *planner) noPlan(ctx context.Context, j *job, err error) {
	if ctx.Err() != nil { // it was interrupted
		p.tell(j.Merge, "", "", func(r *record) {
			r.idle()
			if r.Phase == Planning {
				r.Phase = Waiting
			}
		})
		return
	}
	problem := "no plan could be made: " + plainly(err)
	p.tell(j.Merge, KindRefused, problem, func(r *record) {
		r.idle()
		if r.begun() {
			r.Problem = plainly(err)
			return
		}
		r.Phase, r.Plan, r.Problem, r.Incomplete = Refused, "", problem, true
		r.Advice = []string{"When that is fixed, plan again:", p.opts.Command("plan", j.Target)}
	})
}

// namesOf are the names of the databases of a plan, the target's first.
func namesOf(plan *transfer.Plan) []string {
	names := []string{plan.Target.Name}
	for _, w := range plan.Sources {
		names = append(names, w.Name)
	}
	return names
}

// recordOf is the record of a merge now.
func (r *runner) recordOf(j *job) (rec record) {
	_ = r.look(context.Background(), func(ctx context.Context, s state) error { // if it cannot be read, nothing is known of it
		at, err := s.merge(ctx, j.Merge)
		if err == nil {
			rec = *at
		}
		return err
	})
	return rec
}
