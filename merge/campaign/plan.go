package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"mergesafe/internal/printable"

	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
)

// Plan makes the plan of every merge that needs one. It keeps those that are fresh, and those of
// merges that have begun, of which nothing may change; it is an error if it cannot look at one of these. It reads only.
func Plan(ctx context.Context, b *Book, o Options) (*Status, error) {
	return run(ctx, b, doingPlan, o, func(ctx context.Context, r *runner, jobs []*job) error {
		p := &planner{r: r}
		r.schedule(ctx, jobs, p.keep)
		p.stale = inOrder(jobs, p.stale)
		r.schedule(ctx, p.stale, p.make)
		return p.unread
	})
}

// planner makes plans.
type planner struct {
	r *runner

	mu     sync.Mutex
	stale  []*job // merges that need a new plan
	unread error  // of merges that have begun, and at which it could not look
}

// keep decides whether a merge needs a new plan.
func (p *planner) keep(ctx context.Context, _ *runner, j *job) ending {
	rec := p.r.recordOf(j)
	if (rec.Phase == Skipped || rec.Phase == Undone) && !j.named {
		skippedBegun(ctx, p.r, j, rec)
		return done
	}
	plan, err := p.r.planOf(ctx, j)
	if err == nil && plan != nil {
		var at *merge.Status
		into, worlds, err := p.r.databasesFor(j, rec, plan)
		if err != nil {
			err = fmt.Errorf("%s is a plan for other databases: %w", p.r.book.PlanFile(j.Name()), err)
		} else {
			at, err = begunAlready(ctx, plan, into, worlds)
		}
		if at != nil && at.Lost {
			p.noPlan(ctx, j, errors.New(merge.OpenedMissing(j.into.Name)))
			lost(p.r, j, at)
			return done
		}
		same := slices.Equal(namesOf(plan), j.Worlds) && j.fits(plan)
		if at != nil && !same {
			err = fmt.Errorf("the merge of %s has begun: add it to the campaign file and undo it before you plan another one", printable.Names(namesOf(plan)))
		}
		if err != nil {
			p.noPlan(ctx, j, err)
			return done
		}
		fresh := same && rec.Phase == Planned && rec.Plan == plan.ID &&
			rec.Basis == p.r.opts.Basis && len(plan.Refusals) == 0
		if at != nil && !at.State.Nothing() {
			p.r.adopt(j, plan, at)
			noteLater(p.r, j, at)
			return done
		}
		if at != nil || fresh {
			refusals, err := p.refusals(ctx, j, plan)
			switch {
			case err != nil:
				p.noPlan(ctx, j, err)
				return done
			case at != nil && len(refusals) > 0:
				p.fenced(j, plan, refusals)
				return done
			case at != nil:
				p.r.adopt(j, plan, at)
				return done
			case len(refusals) == 0:
				return done
			}
		}
	}
	if err == nil && plan == nil && rec.Open {
		err = p.r.book.planGone(j.Name())
	}
	if rec.begun() && err != nil {
		p.noPlan(ctx, j, err)
		return done
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = append(p.stale, j)
	return done
}

// refusals are what apply finds wrong with a plan.
func (p *planner) refusals(ctx context.Context, j *job, plan *merge.Plan) ([]merge.Refusal, error) {
	options, stop, err := p.r.work(ctx, plan)
	if err != nil {
		return nil, err
	}
	defer stop()
	err = j.elsewhere(ctx, plan, "plan")
	if moved, ok := errors.AsType[*merge.RefusedError](err); ok {
		return moved.Refusals, nil
	}
	if err != nil {
		return nil, err
	}
	return merge.Fresh(ctx, plan, j.into, j.databases, options)
}

// fenced records a merge that has not begun, whose worlds are fenced and whose plan is out of date: no plan can be made before its undo.
func (p *planner) fenced(j *job, plan *merge.Plan, refusals []merge.Refusal) {
	merge.AfterUndo(refusals)
	problem := refused(refusals)
	advice := []string{"Its worlds are fenced. Lift the fences, then plan again:", p.r.opts.Command("undo", j.Name()), p.r.opts.Command("plan", j.Name())}
	p.r.update(j.Merge, KindRefused, problem, func(rec *record) {
		rec.describe(j, plan)
		rec.rest(Refused, problem, advice, nil)
		rec.Incomplete, rec.Fenced = false, true
	})
}

// adopt takes a merge into the state that has begun, as when the state was lost.
func (r *runner) adopt(j *job, plan *merge.Plan, at *merge.Status) {
	phase := map[merge.State]Phase{
		merge.StateNone: Planned, merge.StateMade: Made, merge.StateOpening: Opening, merge.StatePlanAgain: Planned,
		merge.StateOpen: Verified, merge.StateUndoing: Undoing,
		merge.StateTried: Trying,
	}[at.State]
	phase = cmp.Or(phase, Copying)
	if at.Tried {
		phase = Tried
	}
	reports, isOpen := r.reportsOf(j, plan), at.State == merge.StateOpen
	problem, advice := "", []string(nil)
	if isOpen && at.Unfenced() {
		phase, isOpen = Failed, false
		problem = fmt.Sprintf("the record says that %s is open, but not all worlds are fenced: they may be running too, or it is a copy from before an undo", plan.New.Name)
		advice = []string{"If the game goes on in the worlds, drop it:", r.opts.Command("undo", j.Name())}
	}
	r.update(j.Merge, "", "", func(rec *record) {
		if !rec.Phase.Begun() {
			rec.describe(j, plan)
			rec.Phase, rec.Open, rec.Problem, rec.Advice, rec.Fenced = phase, isOpen, problem, advice, at.State.Nothing() && at.Fenced()
			rec.reported(reports)
		}
	})
}

// describe takes what a plan says into a record.
func (r *record) describe(j *job, plan *merge.Plan) {
	names, _, _ := plan.Renamed()
	r.Plan, r.Rows, r.Stay, r.Renames = plan.ID, plan.Rows(), plan.Leaving.Rows(), int(names)
	r.New, r.To, r.From = plan.New.Name, j.to, j.was
	r.Address, r.Was, r.Grants = shown(j.to), shown(j.was), plan.New.Grants
	r.Weight = workOf(plan).Weight().Seconds()
}

// make makes the plan of a merge.
func (p *planner) make(ctx context.Context, _ *runner, j *job) ending {
	m, ctx, stop := p.r.start(ctx, j)
	defer stop()
	p.r.update(j.Merge, "", "", func(rec *record) {
		rec.Phase, rec.Active, rec.Problem, rec.Incomplete, rec.Advice, rec.Plan = Planning, true, "", false, nil, ""
		rec.Phases = nil
	})
	options := p.r.opts.Plan
	codecs, stopCodecs, err := p.r.opts.codecsOf(ctx, nil)
	if err != nil {
		p.noPlan(ctx, j, err)
		return done
	}
	defer stopCodecs()
	options.Check.Codecs = codecs
	var checked *verdict.Report
	options.Report = func(r *verdict.Report) { checked = r }
	var one sync.Mutex // the check reads several databases at a time
	options.Progress = func(now merge.Progress) {
		m.report(now)
		one.Lock()
		defer one.Unlock()
		_ = p.r.pause(ctx) // an interrupt ends the reading by itself
	}
	plan, err := merge.NewPlan(ctx, j.into, j.databases, options)
	if err == nil {
		plan.Program = p.r.opts.Program
		err = p.r.book.write(p.r.book.PlanFile(j.Name()), plan.Write)
	}
	if err != nil {
		p.noPlan(ctx, j, err)
		return done
	}
	page := p.r.book.fileOf(j.Name(), ".plan.html")
	checked.Program = p.r.opts.Program
	view := report.Planned{Plan: plan, Then: p.r.commands(j.Name()), Check: checked}
	err = p.r.book.write(page, view.WriteHTML)
	if err != nil {
		p.r.opts.Warn(err.Error())
	}
	kind, text := KindPlanned, fmt.Sprintf("%s: %s", report.Merging(plan), report.Amount(plan))
	phase, problem, advice := Planned, "", []string(nil)
	if len(plan.Refusals) > 0 {
		kind, phase = KindRefused, Refused
		problem = refused(plan.Refusals)
		text = problem
		const again = "Correct what blocks it, or remove the merge from the campaign; then plan again:"
		advice = []string{again, p.r.opts.Command("plan", j.Name())}
	}
	p.r.update(j.Merge, kind, text, func(rec *record) {
		rec.idle()
		rec.describe(j, plan)
		rec.Phase, rec.Basis, rec.Problem, rec.Advice = phase, p.r.opts.Basis, problem, advice
		rec.Fenced, rec.Open, rec.Measured, rec.Attempts, rec.Took, rec.Began, rec.Ended = false, false, 0, 0, 0, nil, nil
		rec.Reports = []string{filepath.Base(page)}
	})
	return done
}

// noPlan records why a merge has no plan.
func (p *planner) noPlan(ctx context.Context, j *job, err error) {
	if ctx.Err() != nil { // it was interrupted
		p.r.update(j.Merge, "", "", func(rec *record) {
			rec.idle()
			if rec.Phase == Planning {
				rec.Phase = Waiting
			}
		})
		return
	}
	problem := "no plan could be made: " + plainly(err)
	p.r.update(j.Merge, KindRefused, problem, func(rec *record) {
		rec.idle()
		if rec.begun() {
			rec.Problem, rec.Advice = plainly(err), nil
			return
		}
		advice := []string{"When that is fixed, plan again:", p.r.opts.Command("plan", j.Name())}
		rec.rest(Refused, problem, advice, nil)
		rec.Plan, rec.Incomplete = "", true
	})
	if rec := p.r.recordOf(j); rec.begun() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unread = errors.Join(p.unread, fmt.Errorf("%s: %w", j.Name(), err))
	}
}

// namesOf are the names of the worlds of a plan.
func namesOf(plan *merge.Plan) []string { return plan.Databases()[1:] }
