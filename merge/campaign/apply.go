package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mergesafe/internal/printable"

	"mergesafe/merge"
)

// Apply carries out all merges, and proves each: see [merge.Apply] and [merge.Verify].
// Before the first write it makes sure that all is ready: see [lookReady]. If not, that is
// a [*NotReadyError], and nothing was changed; if the campaign continues after a failure, only the
// merges that are not ready are left out. It does so when the window of the campaign opens, and
// again for what is left when the next one does: between windows, no world is fenced whose
// merge has not begun.
//
// A merge that fails is no error: it is in the status. If the context ends, the error is a
// [merge.ErrStopped], and the same call resumes; it does so after a kill too. Merges that
// were skipped or undone are carried out only if Merges names them. One that was tried has to be undone
// first.
//
// With Try it is a rehearsal, for which the worlds may run: see [tryAll].
func Apply(ctx context.Context, b *Book, o Options) (*Status, error) {
	if o.Try {
		return run(ctx, b, doingTry, o, tryAll)
	}
	return run(ctx, b, doingApply, o, func(ctx context.Context, r *runner, jobs []*job) error {
		for left := jobs; len(left) > 0; {
			due, begun := choose(ctx, r, left)
			due, begun, err := awaitWindow(ctx, r, due, begun)
			if err != nil || ctx.Err() != nil {
				return err
			}
			ready, err := makeReady(ctx, r, due)
			if err != nil {
				return err
			}
			left = r.schedule(ctx, inOrder(jobs, begun, ready), applyOne)
			unfence(context.WithoutCancel(ctx), r, ready)
		}
		return nil
	})
}

// awaitWindow waits until one of the merges can be begun, if the window is closed, and returns
// those that the operator did not skip meanwhile. What is wrong with a plan is found before.
func awaitWindow(ctx context.Context, r *runner, due, begun []*job) (stillDue, stillBegun []*job, err error) {
	all := r.wanted(slices.Concat(begun, due))
	if _, _, closed := r.limits.next(all, nil, false, r.book.now()); !closed {
		return due, begun, nil
	}
	planned, err := prepareAll(ctx, r, due)
	if planned, err = leaveOut(r, err, planned); err != nil {
		return nil, nil, err
	}
	all = r.untilOpen(ctx, slices.Concat(begun, planned))
	return inOrder(all, planned), inOrder(all, begun), nil
}

// choose returns the merges that have not begun, and those that have and are to be completed.
func choose(ctx context.Context, r *runner, jobs []*job) (due, begun []*job) {
	const atOnce = 8
	lists := make([]*[]*job, len(jobs)) // that each belongs to; nil: none
	each(ctx, atOnce, len(jobs), func(i int) {
		j := jobs[i]
		rec := r.recordOf(j)
		j.used = rec.Phase == Failed
		switch {
		case (rec.Phase == Skipped || rec.Phase == Undone) && !j.named:
			skippedBegun(ctx, r, j, rec)
			return
		case rec.Phase == Verified:
			if !gone(ctx, r, j) || !j.named {
				return
			}
			rec = r.recordOf(j)
		}
		state, has := begunState(ctx, r, j, rec)
		j.used = j.used || state == merge.StateOpen
		if rec = r.recordOf(j); rec.Phase.IsTry() {
			has = false // which blocks it
		}
		if state == merge.StateOpen && !j.named && rec.Phase == Verified {
			return // the state was lost, and the record says so
		}
		if rec.Phase == Skipped || rec.Phase == Undone {
			r.update(j.Merge, "", "", func(rec *record) {
				rec.Problem, rec.Advice = "", nil
				if rec.Phase = Waiting; has {
					rec.Phase = Copying
				} else if rec.Plan != "" {
					rec.Phase = Planned
				}
			})
		}
		if lists[i] = &due; has {
			lists[i] = &begun
		}
	})
	for i, list := range lists {
		if list != nil {
			*list = append(*list, jobs[i])
		}
	}
	return due, begun
}

// each calls f with 0 to n-1, so many at a time, until the context ends.
func each(ctx context.Context, atOnce, n int, f func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}

// gone reports whether there is no new database of a merge that was verified: it was undone by
// another program, or restored from a backup.
func gone(ctx context.Context, r *runner, j *job) bool {
	plan, err := r.book.readPlan(j.Name())
	if err != nil || plan == nil {
		return false
	}
	at, err := merge.LookUp(ctx, plan, j.into, j.databases)
	if err == nil && lost(r, j, at) {
		return true
	}
	if err == nil {
		noteLater(r, j, at)
	}
	if err != nil || !at.State.Nothing() {
		return false
	}
	problem := "it was verified, but now its new database is missing or belongs to another merge: another program undid the merge, or a backup was restored"
	r.update(j.Merge, KindUndone, problem, func(rec *record) {
		rec.Phase, rec.Problem = Undone, problem
		rec.Advice = []string{"To merge it again:", r.opts.Command("plan", j.Name()), r.opts.Command("apply", j.Name())}
	})
	return true
}

// lost records that, if a merge is found so, and reports whether it is.
func lost(r *runner, j *job, at *merge.Status) bool {
	if !at.Lost {
		return false
	}
	problem := merge.OpenedMissing(j.into.Name)
	r.update(j.Merge, KindFailed, problem, func(rec *record) {
		rec.rest(Failed, problem, []string{"When it is restored:", r.opts.Command("verify", j.Name()),
			"If it is lost for good, return to the worlds:", r.opts.Command("undo -force", j.Name())}, nil)
	})
	return true
}

// noteLater records to which later merge an opened database went as a world, as it is found.
func noteLater(r *runner, j *job, at *merge.Status) {
	if rec := r.recordOf(j); rec.Later != at.Later {
		r.update(j.Merge, "", "", func(rec *record) { rec.Later = at.Later })
	}
}

// skippedBegun looks whether a merge that was skipped has begun, which the state does not know if it was lost or is older.
func skippedBegun(ctx context.Context, r *runner, j *job, rec *record) {
	if rec.Phase != Skipped || rec.begun() {
		return
	}
	plan, err := r.planOf(ctx, j)
	if err != nil || plan == nil {
		return // of one that was never planned, nothing can tell
	}
	at, err := begunAlready(ctx, plan, j.into, j.databases)
	switch {
	case err != nil:
		r.opts.Warn(fmt.Sprintf("whether the merge %s had begun when it was skipped is not known: %s", j.Name(), plainly(err)))
	case at == nil, lost(r, j, at):
	case at.State == merge.StateOpen:
		r.adopt(j, plan, at)
	default:
		r.update(j.Merge, KindSkipped, skippedText, func(rec *record) {
			rec.describe(j, plan)
			rec.Problem = skippedText
		})
	}
}

// begunState is the state of a merge, and whether it has begun. The new database says so, or the state of the
// campaign if that does not answer, or cannot be asked without the plan. "" is not known.
func begunState(ctx context.Context, r *runner, j *job, rec *record) (state merge.State, begun bool) {
	plan, err := r.planOf(ctx, j)
	if err != nil || plan == nil { // without a record nothing was made, unless it was opened once
		return "", rec.begun() && (err != nil || rec.Open)
	}
	at, err := merge.LookUp(ctx, plan, j.into, j.databases)
	if err != nil {
		return "", rec.begun()
	}
	switch {
	case at.State.Nothing() && rec.Phase.IsTry():
		r.update(j.Merge, "", "", (*record).dropped) // by another program
	case !at.State.Nothing() && (rec.Plan == "" || at.State == merge.StateTried):
		r.adopt(j, plan, at)
	}
	return at.State, !at.State.Nothing()
}

// makeReady makes sure before the first write that merges can be carried out, and fences their
// worlds. It returns those that can.
func makeReady(ctx context.Context, r *runner, jobs []*job) ([]*job, error) {
	ready, err := lookAll(ctx, r, jobs)
	if err != nil {
		return nil, err
	}
	for { // if one cannot be fenced, the fences of all were lifted again
		n := len(ready)
		for _, j := range ready {
			j.fenced = true
		}
		r.noteFences(ready)
		err := fenceAll(ctx, r.book.campaign, ready, r.book.now)
		r.noteFences(ready)
		if ready, err = leaveOut(r, err, ready); err != nil {
			return nil, err
		}
		if len(ready) == n {
			return ready, nil
		}
	}
}

// noteFences records which of the merges may have fenced worlds: a kill leaves these.
func (r *runner) noteFences(jobs []*job) {
	r.log(func(ctx context.Context, s state) error {
		for _, j := range jobs {
			if err := s.set(ctx, j.Merge, func(rec *record) { rec.Fenced = j.fenced }); err != nil {
				return err
			}
		}
		return nil
	})
}

// lookAll returns the merges that can be carried out or, with Try, tried.
func lookAll(ctx context.Context, r *runner, jobs []*job) ([]*job, error) {
	ready, unplanned := prepareAll(ctx, r, jobs)
	before, notReady := errors.AsType[*NotReadyError](unplanned)
	if unplanned != nil && !notReady {
		return nil, unplanned
	}
	notes, err := lookReady(ctx, r.book.campaign, ready, r.book.now, r.opts.Try)
	for _, note := range notes {
		r.opts.Warn(note)
	}
	if not, ok := errors.AsType[*NotReadyError](err); ok && notReady {
		not.Problems = append(before.Problems, not.Problems...)
	} else if err == nil {
		err = unplanned
	}
	return leaveOut(r, err, ready)
}

// prepareAll returns the merges that have a plan which can be carried out. What is wrong with the
// others is a [*NotReadyError].
func prepareAll(ctx context.Context, r *runner, jobs []*job) (all []*job, err error) {
	var problems []Problem
	for _, j := range jobs {
		problem, err := prepare(ctx, r, j)
		switch {
		case err != nil:
			return nil, err
		case problem != "":
			problems = append(problems, Problem{Merge: j.Name(), Reason: problem})
		default:
			all = append(all, j)
		}
	}
	if len(problems) > 0 {
		err = &NotReadyError{problems}
	}
	return all, err
}

// prepare reads what has to be looked at before the first write of a merge. problem is why it
// cannot be carried out.
func prepare(ctx context.Context, r *runner, j *job) (problem string, err error) {
	rec := r.recordOf(j)
	plan, err := r.book.readPlan(j.Name())
	again := "plan first: " + r.opts.Command("plan", j.Name())
	switch {
	case err != nil:
		return fmt.Sprintf("its plan cannot be read: %s; %s", plainly(err), again), nil
	case plan == nil || rec.Plan == "":
		return "it has no plan: " + again, nil
	case rec.Phase.IsTry() && !r.opts.Try:
		return "it was made by a rehearsal and can never be opened: drop it first: " + r.opts.Command("undo", j.Name()), nil
	case plan.ID != rec.Plan:
		return fmt.Sprintf("its plan is not the latest one of the campaign: %s", again), nil
	case !j.fits(plan):
		return "its plan makes a different new database than the campaign file: " + again, nil
	case len(plan.Refusals) > 0:
		return "its plan is refused: " + refused(plan.Refusals), nil
	}
	if problem := r.limits.tooLong(j); problem != "" {
		return problem, nil
	}
	options, stop, err := r.work(ctx, plan)
	if err != nil {
		return "", err
	}
	stop() // nothing is read by them now
	var told sync.Once
	options.Retrying = func(why error) {
		told.Do(func() {
			r.opts.Warn(fmt.Sprintf("%s: %s; it will be retried", printable.Text(j.Name()), plainly(why)))
		})
	}
	j.plan, j.options = plan, options
	return "", nil
}

// leaveOut leaves merges out that are not ready, if err says so and the campaign continues without
// them.
func leaveOut(r *runner, err error, all []*job) ([]*job, error) {
	if err == nil {
		return all, nil
	}
	not, ok := errors.AsType[*NotReadyError](err)
	if !ok {
		return nil, err
	}
	if err := recordNotReady(r, not); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(j *job) bool {
		return slices.ContainsFunc(not.Problems, func(p Problem) bool { return p.Merge == j.Name() })
	}), nil
}

// recordNotReady records what is not ready. It returns the error, unless the campaign continues without
// these merges.
func recordNotReady(r *runner, not *NotReadyError) error {
	reasons, findings, fenced := make(map[string][]string), make(map[string]bool), make(map[string]bool)
	general := false
	for _, p := range not.Problems {
		if p.Merge == "" {
			general = true
			continue
		}
		reason := p.Reason
		if p.World != "" && p.World != p.Merge {
			reason = fmt.Sprintf("world %s: %s", p.World, reason)
		}
		reasons[p.Merge] = append(reasons[p.Merge], reason)
		findings[p.Merge] = findings[p.Merge] || !p.Incomplete
		fenced[p.Merge] = fenced[p.Merge] || p.Fenced
	}
	for _, m := range r.book.campaign.Merges {
		if all := reasons[m.Name()]; len(all) > 0 {
			const most = 5
			problem := "not ready: " + printable.List(all, "; ", most)
			r.update(m, KindRefused, problem, func(rec *record) {
				rec.Problem, rec.Incomplete = problem, !findings[m.Name()]
				if rec.Plan != "" && !rec.Phase.IsTry() {
					rec.Phase = Refused
				}
				again := []string{r.opts.Command("plan", m.Name()), r.opts.Command(r.command())}
				if fenced[m.Name()] {
					again = slices.Insert(again, 0, r.opts.Command("undo", m.Name()))
				}
				rec.Advice = append([]string{"Nothing was written. When it is fixed:"}, again...)
				if rec.Phase.IsTry() {
					rec.Advice = []string{"To drop what the rehearsal made:", r.opts.Command("undo", m.Name())}
				}
			})
		}
	}
	if general || !r.limits.Continue {
		return not
	}
	return nil
}

// unfence lifts the fences of merges that were fenced and did not begin.
func unfence(ctx context.Context, r *runner, jobs []*job) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, j := range jobs {
		if r.recordOf(j).Phase.Begun() {
			continue
		}
		plan, err := r.book.readPlan(j.Name())
		if err != nil || plan == nil {
			continue
		}
		if _, err := merge.Unfence(ctx, plan, j.into, j.databases, r.opts.Work); err != nil {
			if _, begun := errors.AsType[*merge.RefusedError](err); !begun {
				r.opts.Warn(fmt.Sprintf("the fences of the merge %s were not lifted: %s; to lift them: %s",
					j.Name(), plainly(err), r.opts.Command("undo", j.Name())))
			}
			continue
		}
		j.fenced = false
	}
	r.noteFences(slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.fenced }))
}

// inOrder are the jobs that are in one of the lists, in the order of all.
func inOrder(all []*job, lists ...[]*job) []*job {
	in := slices.Concat(lists...)
	return slices.DeleteFunc(slices.Clone(all), func(j *job) bool { return !slices.Contains(in, j) })
}
