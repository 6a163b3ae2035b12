package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/printable"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// applyOne carries out one merge and proves it.
func applyOne(ctx context.Context, r *runner, j *job) ending {
	m, ctx, stop := r.start(ctx, j)
	defer stop()
	if !r.opts.Try && r.recordOf(j).Phase == Undoing { // what was begun comes to its end
		return undoOne(ctx, r, j, m, "")
	}
	t := &attempt{r: r, job: j, meter: m, began: r.book.now(), before: r.recordOf(j)}
	how := t.run(ctx)
	took := r.book.now().Sub(t.began).Seconds()
	if r.opts.Try {
		return how
	}
	r.update(j.Merge, "", "", func(rec *record) {
		now := r.book.now().UTC()
		rec.Took += took
		rec.Ended = &now
		if rec.Phase == Verified && t.whole {
			rec.Measured = took
		}
	})
	return how
}

// attempt is one attempt at a merge.
type attempt struct {
	r     *runner
	job   *job
	meter *meter
	plan  *merge.Plan // nil: it could not be read
	began time.Time
	whole bool // it began with the first row

	before *record // the attempt
}

func (t *attempt) run(ctx context.Context) ending {
	plan, err := t.r.planOf(ctx, t.job)
	if err == nil && plan == nil {
		err = t.r.book.planGone(t.job.Name())
	}
	if err != nil {
		return t.fail(ctx, "apply", err)
	}
	options, stop, err := t.r.work(ctx, plan)
	if err != nil {
		return t.fail(ctx, "apply", err)
	}
	defer stop()
	options = t.meter.watch(options)
	t.meter.expect(plan, t.r.opts.Rest, !t.r.opts.Try)
	t.plan = plan
	t.job.tries++
	now := t.r.book.now().UTC()
	var first *time.Time
	phase, kind := Copying, KindMerging
	if t.r.opts.Try {
		phase, kind = Trying, ""
	}
	t.r.update(t.job.Merge, kind, report.Merging(plan), func(rec *record) {
		rec.describe(t.job, plan)
		rec.Phase, rec.Active, rec.Problem, rec.Incomplete, rec.Fenced = phase, true, "", false, false
		rec.Advice, rec.Ended = nil, nil
		if t.r.opts.Try {
			return
		}
		rec.Attempts++
		if rec.Began == nil {
			rec.Began = &now
		}
		first = rec.Began
	})
	if !t.r.opts.Try {
		switch t.at(ctx).State {
		case merge.StateOpening, merge.StateOpen: // an earlier run made it
			return t.open(ctx, options)
		}
	}
	result, err := merge.Apply(ctx, plan, t.job.into, t.job.databases, options)
	if err != nil {
		return t.fail(ctx, "apply", err)
	}
	t.whole = !result.Resumed
	if t.r.opts.Try {
		return t.tried(plan, result)
	}
	applied := t.r.outcome("apply", plan, t.began, nil)
	applied.Applied = &report.Applied{
		Rows: result.Rows, Renames: result.Renames, Resumed: result.Resumed, RowsNow: result.Wrote, Began: first, Notes: result.Notes,
	}
	reports := t.r.report(t.job, applied, "apply")
	text := fmt.Sprintf("%s is made, with %s", plan.New.Name, printable.Count(plan.Rows(), "row", "rows"))
	t.r.update(t.job.Merge, KindMerged, text, func(rec *record) {
		rec.Phase = Verifying
		rec.reported(reports)
	})
	return t.open(ctx, options)
}

// open proves a new database and opens it. From then on the world may be started there.
func (t *attempt) open(ctx context.Context, options merge.Options) ending {
	t.r.update(t.job.Merge, "", "", func(rec *record) { rec.Phase, rec.Active = Verifying, true })
	began := t.r.book.now()
	opened, err := merge.Open(ctx, t.plan, t.job.into, t.job.databases, merge.OpenOptions{
		Options: options,
		Placing: func(ctx context.Context) error {
			t.r.update(t.job.Merge, "", "", func(rec *record) { rec.Phase = Opening })
			return t.r.move(ctx, t.job, t.plan, false)
		},
	})
	o := t.r.outcome("open", t.plan, began, nil)
	if errors.Is(err, merge.ErrNotProved) {
		o.Open(opened, false)
		reports := t.r.report(t.job, o, "open")
		if o.Ending == report.Differs {
			problem, advice := explain(o)
			return t.failed(ctx, t.at(ctx).State, nil, problem, advice, reports)
		}
		recordProof(t.r, t.job, o, reports, t.at(ctx).State)
		return done
	}
	if err != nil {
		return t.fail(ctx, "open", err)
	}
	if opened.Before {
		return t.wasOpen()
	}
	o.Open(opened, true)
	reports := t.r.report(t.job, o, "open")
	text := fmt.Sprintf("every row is as planned, and %s is open", t.plan.New.Name)
	t.r.update(t.job.Merge, KindVerified, text, func(rec *record) {
		rec.rest(Verified, "", nil, reports)
		rec.Open = true
	})
	return done
}

// wasOpen ends an attempt that found the new database open: nothing was proved now, and what a proof has found since stays.
func (t *attempt) wasOpen() ending {
	if t.before.Phase == Failed && t.before.Open {
		t.r.update(t.job.Merge, "", "", func(rec *record) { rec.rest(Failed, t.before.Problem, t.before.Advice, nil) })
		return failed
	}
	text := fmt.Sprintf("%s was open already: it was proved when it was opened, and not again now", t.plan.New.Name)
	t.r.update(t.job.Merge, KindVerified, text, func(rec *record) {
		rec.rest(Verified, "", nil, nil)
		rec.Open = true
	})
	return done
}

// fail ends an attempt that ended with an error.
func (t *attempt) fail(ctx context.Context, command string, err error) ending {
	if ctx.Err() != nil {
		return t.interrupted(ctx)
	}
	var reports, advice []string
	problem, at := plainly(err), t.at(ctx)
	if lost(t.r, t.job, at) {
		return failed
	}
	if t.plan != nil {
		if o := t.r.outcome(command, t.plan, t.began, err); o != nil {
			reports = t.r.report(t.job, o, command)
			problem, advice = explain(o)
		} else {
			const again = "When it is fixed, run the same command again; completed work is kept:"
			advice = []string{again, t.r.opts.Command(t.r.command())}
		}
	}
	if !lasting(err) && t.plan != nil && t.job.tries <= t.r.limits.Retries {
		text := fmt.Sprintf("%s; it will be retried after %s", problem, t.r.opts.retryAfter)
		t.r.update(t.job.Merge, KindRetry, text, func(rec *record) {
			rec.rest(rec.Phase, problem, advice, reports)
		})
		return again
	}
	if errors.Is(err, merge.ErrBusy) {
		phase := Failed
		if t.r.opts.Try {
			phase = Trying
		}
		t.r.update(t.job.Merge, KindFailed, problem, func(rec *record) {
			rec.rest(phase, problem, busy(t.r.opts.Command(t.r.command())), reports)
		})
		return failed // never undone: the merge is the other one's
	}
	return t.failed(ctx, at.State, err, problem, advice, reports)
}

// busy is what to do if another process works on a merge.
func busy(again string) []string {
	return []string{"It may be a process with a copy of the campaign. Wait until it has ended, " +
		"then run the same command again; it resumes, or finds the merge done:", again}
}

// interrupted ends an attempt that the operator ended.
func (t *attempt) interrupted(ctx context.Context) ending {
	if t.r.opts.Try || !errors.Is(context.Cause(ctx), errSkipped) {
		t.r.update(t.job.Merge, "", "", (*record).idle)
		return done
	}
	nothing := t.at(ctx).State.Nothing()
	t.r.log(func(ctx context.Context, s state) error {
		r, err := s.merge(ctx, t.job.Merge)
		if err != nil {
			return err
		}
		if nothing {
			r.Phase = Planned
		}
		return t.r.book.skip(ctx, s, r)
	})
	return done
}

// at is how far the merge is, by the databases; without a state if they cannot be read.
func (t *attempt) at(ctx context.Context) *merge.Status {
	if t.plan == nil {
		return &merge.Status{}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	at, err := merge.LookUp(ctx, t.plan, t.job.into, t.job.databases)
	if err != nil {
		return &merge.Status{}
	}
	return at
}

// failed ends an attempt that failed for good, in a state that is "" if it is not known: if nothing was written it is refused, and otherwise
// undone if the campaign says so, which drops the new database; one that is open stays. err is nil if a
// completed proof says FAIL. A merge that is completed may be a good one until then, and an error is no
// proof: it stays, and so does one of which the new database does not say how far it is, or which the
// same call can resume when a database answers again.
func (t *attempt) failed(ctx context.Context, state merge.State, err error, problem string, advice, reports []string) ending {
	phase, kind := Failed, KindFailed
	switch {
	case t.plan == nil && !t.r.recordOf(t.job).begun(), state.Nothing():
		phase, kind = Refused, KindRefused
	case t.r.opts.Try:
		phase = Trying
		advice = append(advice, "Or drop what the rehearsal made:", t.r.opts.Command("undo", t.job.Name()))
	case state == merge.StateOpen && lasting(err): // such as a copy from before an undo
	case state.Whole() && err != nil:
		phase, kind, problem = Made, KindNotVerified, "it is made, and not open: "+problem
		if state != merge.StateMade {
			phase = Opening
		}
		advice = []string{"The new database is made but not open. When the cause is fixed, run the same command again, " +
			"which proves the merge and opens the new database:", t.r.opts.Command("apply", t.job.Name())}
	}
	t.r.update(t.job.Merge, kind, problem, func(rec *record) {
		rec.rest(phase, problem, advice, reports)
		rec.Incomplete = err != nil && !lasting(err)
	})
	resumable := errors.Is(err, merge.ErrStopped)
	if phase == Failed && !resumable && (state != "" || err == nil) && t.r.book.campaign.Undo && !t.job.used {
		undoOne(ctx, t.r, t.job, t.meter, problem)
	}
	return failed
}
