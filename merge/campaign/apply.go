package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
)

// Apply carries out all merges, and proves each: see [transfer.Apply] and [transfer.Verify].
// Before the first write it makes sure that all is ready: see [Campaign.Ready]. If not, that is
// a [*NotReadyError], and nothing was changed; if the campaign continues after a failure, only the
// merges that are not ready are left out. It does so when the window of the campaign opens, and
// again for what is left when the next one does: between windows, no world is fenced whose
// merge has not begun.
//
// A merge that fails is no error: it is in the status. If the context ends, the error is a
// [transfer.ErrStopped], and the same call resumes; it does so after a kill too. Merges that
// were skipped or undone are carried out only if Targets names them.
func (b *Book) Apply(ctx context.Context, o Options) (*Status, error) {
	return b.run(ctx, doingApply, o, func(ctx context.Context, r *runner, jobs []*job) error {
		a := &applier{runner: r, limits: r.campaign.limits()}
		for left := jobs; len(left) > 0; {
			due, begun := a.choose(ctx, left)
			due, begun, err := a.awaitWindow(ctx, due, begun)
			if err != nil || ctx.Err() != nil {
				return err
			}
			ready, err := a.ready(ctx, due)
			if err != nil {
				return err
			}
			left = r.schedule(ctx, inOrder(jobs, begun, ready), a.limits, a.apply)
			a.unfence(context.WithoutCancel(ctx), ready)
		}
		return nil
	})
}

// awaitWindow waits until one of the merges can be begun, if the window is closed, and returns
// those that the operator did not skip meanwhile. What is wrong with a plan is found before.
func (a *applier) awaitWindow(ctx context.Context, due, begun []*job) (stillDue, stillBegun []*job, err error) {
	all := a.wanted(slices.Concat(begun, due))
	if _, _, closed := a.limits.next(all, nil, false, a.now()); !closed {
		return due, begun, nil
	}
	dues, planned, problems, err := a.planned(ctx, due)
	if err != nil {
		return nil, nil, err
	}
	if len(problems) > 0 {
		err = &NotReadyError{problems}
	}
	if _, due, err = a.leave(err, dues, planned); err != nil {
		return nil, nil, err
	}
	all = a.untilOpen(ctx, slices.Concat(begun, due), a.limits)
	return inOrder(all, due), inOrder(all, begun), nil
}

// applier carries merges out.
type applier struct {
	*runner
	limits limits
}

// choose returns the merges that have not begun, and those that have and are to be completed.
func (a *applier) choose(ctx context.Context, jobs []*job) (due, begun []*job) {
	const atOnce = 8
	var mu sync.Mutex
	each(ctx, atOnce, jobs, func(j *job) {
		rec := a.recordOf(j)
		j.used = rec.Phase == Failed
		switch {
		case (rec.Phase == Skipped || rec.Phase == Undone) && !j.named:
			return
		case rec.Phase == Verified:
			if !a.gone(ctx, j) || !j.named {
				return
			}
			rec = a.recordOf(j)
		}
		has, completed := a.hasBegun(ctx, j, rec)
		j.used = j.used || completed
		if rec.Plan == "" && a.recordOf(j).Phase == Verified {
			return // says the report beside the plan that was lost to the state
		}
		if rec.Phase == Skipped || rec.Phase == Undone {
			a.tell(j.Merge, "", "", func(r *record) {
				r.Problem, r.Advice = "", nil
				if r.Phase = Waiting; has {
					r.Phase = Copying
				} else if r.Plan != "" {
					r.Phase = Planned
				}
			})
		}
		mu.Lock()
		defer mu.Unlock()
		if has {
			begun = append(begun, j)
		} else {
			due = append(due, j)
		}
	})
	return inOrder(jobs, due), inOrder(jobs, begun)
}

// each calls f for each job, so many at a time, until the context ends.
func each(ctx context.Context, atOnce int, jobs []*job, f func(j *job)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, j := range jobs {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			f(j)
		})
	}
	all.Wait()
}

// gone reports whether the target knows nothing of a merge that was verified: it was undone by
// another program, or restored from a backup.
func (a *applier) gone(ctx context.Context, j *job) bool {
	plan, err := a.readPlan(j.Target)
	if err != nil || plan == nil {
		return false
	}
	at, err := transfer.LookUp(ctx, plan, j.target(), j.sources())
	if err != nil || at.State != transfer.StateNone {
		return false
	}
	problem := "it was verified, and now the target knows nothing of it: it was undone by another program, or restored from a backup"
	a.tell(j.Merge, KindUndone, problem, func(r *record) {
		r.Phase, r.Problem = Undone, problem
		r.Advice = []string{"To merge it again:", a.opts.Command("plan", j.Target), a.opts.Command("apply", j.Target)}
	})
	return true
}

// hasBegun reports whether something was written to the target of a merge, and whether it was
// completed. The target says so, or the state if the target does not answer, or it cannot be asked
// without the plan.
func (a *applier) hasBegun(ctx context.Context, j *job, rec record) (begun, completed bool) {
	plan, err := a.planOf(ctx, j)
	if err != nil || plan == nil {
		return rec.begun(), false
	}
	at, err := transfer.LookUp(ctx, plan, j.target(), j.sources())
	if err != nil {
		return rec.begun(), false
	}
	if rec.Plan == "" && at.State != transfer.StateNone {
		a.adopt(j, plan, at)
	}
	return at.State != transfer.StateNone, at.State == transfer.StateCopied
}

// ready makes sure before the first write that merges can be carried out, and fences their
// worlds. It returns those that can.
func (a *applier) ready(ctx context.Context, jobs []*job) (ready []*job, err error) {
	due, ready, problems, err := a.planned(ctx, jobs)
	if err != nil {
		return nil, err
	}
	notes, err := a.campaign.Ready(ctx, due, a.now)
	for _, note := range notes {
		a.opts.Warn(note)
	}
	if not, ok := errors.AsType[*NotReadyError](err); ok {
		not.Problems = append(problems, not.Problems...)
	} else if err == nil && len(problems) > 0 {
		err = &NotReadyError{problems}
	}
	if due, ready, err = a.leave(err, due, ready); err != nil {
		return nil, err
	}
	for { // if one cannot be fenced, the fences of all were lifted again
		n := len(due)
		err := a.campaign.FenceAll(ctx, due, a.now)
		if due, ready, err = a.leave(err, due, ready); err != nil {
			return nil, err
		}
		if len(due) == n {
			return ready, nil
		}
	}
}

// planned are the merges that have a plan which can be carried out, and what is wrong with the
// others.
func (a *applier) planned(ctx context.Context, jobs []*job) (due []Due, planned []*job, problems []Problem, err error) {
	for _, j := range jobs {
		d, problem, err := a.due(ctx, j)
		if err != nil {
			return nil, nil, nil, err
		}
		if problem != "" {
			problems = append(problems, Problem{Target: j.Target, Reason: problem})
			continue
		}
		due, planned = append(due, d), append(planned, j)
	}
	return due, planned, problems, nil
}

// due is a merge with what has to be looked at before the first write. problem is why it cannot
// be carried out.
func (a *applier) due(ctx context.Context, j *job) (d Due, problem string, err error) {
	rec := a.recordOf(j)
	plan, err := a.readPlan(j.Target)
	again := "plan first: " + a.opts.Command("plan", j.Target)
	switch {
	case err != nil:
		return d, fmt.Sprintf("its plan cannot be read: %s; %s", plainly(err), again), nil
	case plan == nil || rec.Plan == "":
		return d, "it has no plan: " + again, nil
	case plan.ID != rec.Plan:
		return d, fmt.Sprintf("its plan is not the one that was made last for the campaign: %s", again), nil
	case len(plan.Refusals) > 0:
		return d, "its plan is refused: " + refused(plan.Refusals), nil
	case plan.Fleet != "" && a.opts.Ranges == nil:
		return d, noRanges, nil
	}
	if problem := a.limits.tooLong(j); problem != "" {
		return d, problem, nil
	}
	options, stop, err := a.work(ctx, plan)
	if err != nil {
		return d, "", err
	}
	stop() // nothing is read by them now
	var told sync.Once
	options.Retrying = func(why error) {
		told.Do(func() { a.opts.Warn(fmt.Sprintf("%s: %s; it is tried again", printable.Text(j.Target), plainly(why))) })
	}
	return Due{Merge: j.Merge, Plan: plan, Target: j.target(), Sources: j.sources(), Options: options}, "", nil
}

// leave leaves merges out that are not ready, if err says so and the campaign goes on without
// them.
func (a *applier) leave(err error, due []Due, jobs []*job) ([]Due, []*job, error) {
	if err == nil {
		return due, jobs, nil
	}
	not, ok := errors.AsType[*NotReadyError](err)
	if !ok {
		return nil, nil, err
	}
	if err := a.without(not); err != nil {
		return nil, nil, err
	}
	var restDue []Due
	var rest []*job
	for i, j := range jobs {
		if !not.about(j.Target) {
			restDue, rest = append(restDue, due[i]), append(rest, j)
		}
	}
	return restDue, rest, nil
}

// about reports whether one of the problems is about a merge.
func (e *NotReadyError) about(target string) bool {
	for _, p := range e.Problems {
		if p.Target == target {
			return true
		}
	}
	return false
}

// without records what is not ready. It returns the error, unless the campaign goes on without
// these merges.
func (a *applier) without(not *NotReadyError) error {
	reasons, findings := make(map[string][]string), make(map[string]bool)
	general := false
	for _, p := range not.Problems {
		if p.Target == "" {
			general = true
			continue
		}
		reason := p.Reason
		if p.World != "" && p.World != p.Target {
			reason = fmt.Sprintf("world %s: %s", p.World, reason)
		}
		reasons[p.Target] = append(reasons[p.Target], reason)
		findings[p.Target] = findings[p.Target] || !p.Incomplete
	}
	for _, m := range a.campaign.Merges {
		if all := reasons[m.Target]; len(all) > 0 {
			const most = 5
			problem := "not ready: " + printable.List(all, "; ", most)
			a.tell(m, KindRefused, problem, func(r *record) {
				r.Problem, r.Incomplete = problem, !findings[m.Target]
				if r.Plan != "" {
					r.Phase = Refused
				}
				r.Advice = []string{"Nothing was written. When it is fixed:", a.opts.Command("plan", m.Target), a.opts.Command("apply")}
			})
		}
	}
	if general || !a.limits.continues {
		return not
	}
	return nil
}

// unfence lifts the fences of merges that were fenced and did not begin.
func (a *applier) unfence(ctx context.Context, jobs []*job) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, j := range jobs {
		if a.recordOf(j).Phase.begun() {
			continue
		}
		plan, err := a.readPlan(j.Target)
		if err != nil || plan == nil {
			continue
		}
		if _, err := transfer.Unfence(ctx, plan, j.target(), j.sources(), a.opts.Work); err != nil {
			if _, begun := errors.AsType[*transfer.RefusedError](err); !begun {
				a.opts.Warn(fmt.Sprintf("the fences of the merge into %s were not lifted: %s; to lift them: %s", j.Target, plainly(err), a.opts.Command("undo", j.Target)))
			}
		}
	}
}

// inOrder are the jobs that are in one of two lists, in the order of all.
func inOrder(all []*job, lists ...[]*job) (some []*job) {
	in := make(map[*job]bool)
	for _, list := range lists {
		for _, j := range list {
			in[j] = true
		}
	}
	for _, j := range all {
		if in[j] {
			some = append(some, j)
		}
	}
	return some
}

// apply carries out one merge and proves it.
func (a *applier) apply(ctx context.Context, j *job) ending {
	w, ctx, stop := a.start(ctx, j)
	defer stop()
	t := &try{applier: a, job: j, worker: w, began: a.now()}
	if a.recordOf(j).Phase == Undoing { // what was begun comes to its end
		return a.undoOne(ctx, j, w, "")
	}
	how := t.run(ctx)
	took := a.now().Sub(t.began).Seconds()
	a.tell(j.Merge, "", "", func(r *record) {
		now := a.now().UTC()
		r.Took += took
		r.Ended = &now
		if r.Phase == Verified && t.whole {
			r.Measured = took
		}
	})
	return how
}

// try is one attempt at a merge.
type try struct {
	*applier
	*job
	*worker
	plan  *transfer.Plan
	began time.Time
	whole bool // it began with the first row
}

func (t *try) run(ctx context.Context) ending {
	plan, err := t.planOf(ctx, t.job)
	if err == nil && plan == nil {
		err = t.planGone(t.Target)
	}
	if err != nil {
		return t.fail(ctx, "apply", err)
	}
	options, stop, err := t.work(ctx, plan)
	if err != nil {
		return t.fail(ctx, "apply", err)
	}
	defer stop()
	options = t.watched(options)
	t.plan = plan
	t.tries++
	now := t.now().UTC()
	t.tell(t.Merge, KindMerging, report.Merging(plan), func(r *record) {
		r.describe(plan)
		t.meter.after = r.After
		r.Phase, r.Active, r.Problem, r.Incomplete, r.Advice, r.Ended = Copying, true, "", false, nil, nil
		r.Attempts++
		if r.Began == nil {
			r.Began = &now
		}
	})
	result, err := transfer.Apply(ctx, plan, t.target(), t.sources(), options)
	if err != nil {
		return t.fail(ctx, "apply", err)
	}
	t.whole = !result.Resumed
	applied := t.outcome("apply", plan, nil)
	applied.Began, applied.Ended = t.began, t.now()
	applied.Applied = &report.Applied{Rows: result.Rows, Renames: result.Renames, Resumed: result.Resumed, Notes: result.Notes}
	reports := t.report(t.job, applied, "apply")
	t.tell(t.Merge, KindMerged, fmt.Sprintf("%s came to the target", printable.Count(result.Rows, "row", "rows")), func(r *record) {
		r.Phase = Verifying
		r.reported(reports)
	})
	return t.verify(ctx, options)
}

// verify proves a merge that is in the target.
func (t *try) verify(ctx context.Context, options transfer.Options) ending {
	began := t.now()
	proof, err := transfer.Verify(ctx, t.plan, t.target(), t.sources(), options)
	if err != nil {
		return t.fail(ctx, "verify", err)
	}
	o := t.outcome("verify", t.plan, nil)
	o.Began, o.Ended = began, t.now()
	o.Prove(proof)
	reports := t.report(t.job, o, "verify")
	if o.Ending == report.Differs {
		problem, advice := explain(o)
		return t.failed(ctx, nil, problem, advice, reports)
	}
	t.proved(t.job, o, reports)
	return done
}

// proved records what the proof of a merge found.
func (a *applier) proved(j *job, o *report.Outcome, reports []string) {
	kind, phase, text := KindVerified, Verified, "every row is as it was planned"
	problem, advice := "", []string(nil)
	switch o.Ending {
	case report.NotVerified:
		kind, phase = KindNotVerified, Copied
	case report.Differs:
		kind, phase = KindFailed, Failed
	}
	if phase != Verified {
		problem, advice = explain(o)
		text = problem
	}
	a.tell(j.Merge, kind, text, func(r *record) {
		r.idle()
		r.Phase, r.Problem, r.Advice = phase, problem, advice
		r.reported(reports)
	})
}

// fail ends an attempt that ended with an error.
func (t *try) fail(ctx context.Context, command string, err error) ending {
	if ctx.Err() != nil {
		return t.interrupted(ctx)
	}
	var reports, advice []string
	problem := plainly(err)
	if t.plan != nil {
		if o := t.outcome(command, t.plan, err); o != nil {
			o.Began, o.Ended = t.began, t.now()
			reports = t.report(t.job, o, command)
			problem, advice = explain(o)
		} else {
			advice = []string{"When it is fixed, run the same command again; what was done until then is kept:", t.opts.Command("apply")}
		}
	}
	if !lasting(err) && t.plan != nil && t.tries <= t.limits.retries {
		t.tell(t.Merge, KindRetry, fmt.Sprintf("%s; it is tried again after %s", problem, t.opts.RetryAfter), func(r *record) {
			r.idle()
			r.Problem, r.Advice = problem, advice
			r.reported(reports)
		})
		return again
	}
	if errors.Is(err, transfer.ErrBusy) {
		t.tell(t.Merge, KindFailed, problem, func(r *record) {
			r.idle()
			r.Phase, r.Problem, r.Advice = Failed, problem, busy(t.opts.Command("apply"))
			r.reported(reports)
		})
		return failed // never undone: the merge is the other one's
	}
	return t.failed(ctx, err, problem, advice, reports)
}

// busy is what to do if another process works on a merge.
func busy(again string) []string {
	return []string{"That may be a process with a copy of the campaign. Wait until it has ended, then run the same command again; it resumes, or finds it done:", again}
}

// interrupted ends an attempt that the operator ended.
func (t *try) interrupted(ctx context.Context) ending {
	if !errors.Is(context.Cause(ctx), errSkipped) {
		t.tell(t.Merge, "", "", (*record).idle)
		return done
	}
	nothing := t.state(ctx) == transfer.StateNone
	t.log(func(ctx context.Context, s state) error {
		r, err := s.merge(ctx, t.Merge)
		if err != nil {
			return err
		}
		if nothing {
			r.Phase = Planned
		}
		return t.Book.skip(ctx, s, r)
	})
	t.wake()
	return done
}

// begun reports whether something may have been written, says the state.
func (t *try) begun() bool {
	rec := t.recordOf(t.job)
	return rec.begun()
}

// state is that of the merge in the target; "" if it cannot be read.
func (t *try) state(ctx context.Context) transfer.State {
	if t.plan == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	at, err := transfer.LookUp(ctx, t.plan, t.target(), t.sources())
	if err != nil {
		return ""
	}
	return at.State
}

// failed ends a merge that failed for good: if nothing was written it is refused, and otherwise
// undone if the campaign says so. err is nil if a completed proof says FAIL. A merge that is completed may
// be a good one until then, and an error is no proof: it stays, and so does one of which the target
// does not say how far it is.
func (t *try) failed(ctx context.Context, err error, problem string, advice, reports []string) ending {
	phase, kind, state := Failed, KindFailed, t.state(ctx)
	switch {
	case t.plan == nil && !t.begun(), state == transfer.StateNone:
		phase, kind = Refused, KindRefused
	case state == transfer.StateCopied && err != nil:
		phase, kind, problem = Copied, KindNotVerified, "it could not be verified: "+problem
		advice = []string{"The rows are in the target. When that is fixed, run the same command again, which proves the merge:", t.opts.Command("apply", t.Target)}
	}
	t.tell(t.Merge, kind, problem, func(r *record) {
		r.idle()
		r.Phase, r.Problem, r.Incomplete, r.Advice = phase, problem, err != nil && !lasting(err), advice
		r.reported(reports)
	})
	if phase == Failed && (state != "" || err == nil) && t.campaign.Undo && !t.job.used {
		t.undoOne(ctx, t.job, t.worker, problem)
	}
	return failed
}

// reported adds the names of reports.
func (r *record) reported(names []string) {
	for _, name := range names {
		if !slices.Contains(r.Reports, name) {
			r.Reports = append(r.Reports, name)
		}
	}
}
