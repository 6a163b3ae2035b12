package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
)

// Undo takes merges out of their targets again: see [transfer.Undo]. It lifts the fences of
// merges that were fenced and did not begin. A merge that cannot be undone does not keep the
// others from it.
func (b *Book) Undo(ctx context.Context, o Options) (*Status, error) {
	return b.run(ctx, doingUndo, o, func(ctx context.Context, r *runner, jobs []*job) error {
		l := r.campaign.limits()
		l.window, l.continues, l.retries = nil, true, 0
		r.schedule(ctx, jobs, l, func(ctx context.Context, j *job) ending {
			w, ctx, stop := r.start(ctx, j)
			defer stop()
			return r.undoOne(ctx, j, w, "")
		})
		return nil
	})
}

// undoOne undoes one merge. failure is why, if it failed.
func (r *runner) undoOne(ctx context.Context, j *job, w *worker, failure string) ending {
	began, rec := r.now(), r.recordOf(j)
	plan, err := r.planOf(ctx, j)
	if err == nil && plan == nil {
		if !rec.begun() {
			return done // it was never planned
		}
		err = r.planGone(j.Target)
	}
	var options transfer.Options
	stop := func() {}
	if err == nil {
		options, stop, err = r.work(ctx, plan)
	}
	if err != nil && plan == nil && !rec.begun() {
		// Only its plan is lost; as one that has begun and failed it would never get a new one.
		problem := "it has not begun, and its plan cannot be read: " + plainly(err)
		r.tell(j.Merge, KindRefused, problem, func(now *record) {
			now.idle()
			now.Phase, now.Plan, now.Problem = Refused, "", problem
			now.Advice = []string{"To plan it again:", r.opts.Command("plan", j.Target)}
		})
		return failed
	}
	if err != nil {
		return r.notUndone(j, failure, err, plainly(err), nil, nil)
	}
	defer stop()
	if rec.Phase.begun() || rec.Phase == Skipped {
		r.tell(j.Merge, KindUndoing, "being undone", func(r *record) {
			r.Phase, r.Active = Undoing, true
			if failure != "" {
				r.Problem = failure
			}
		})
	}
	undone, err := transfer.Undo(ctx, plan, j.target(), j.sources(), transfer.UndoOptions{Options: w.watched(options), Force: r.opts.Force})
	switch {
	case errors.Is(err, transfer.ErrNoMerge) && !rec.begun():
		r.tell(j.Merge, "", "", func(now *record) { now.idle(); now.Phase = rec.Phase })
		return done
	case err == nil:
		o := r.outcome("undo", plan, nil)
		o.Undone, o.Forced = undone, r.opts.Force
		o.Began, o.Ended = began, r.now()
		if !rec.Phase.begun() && undone.NoRecord {
			kind, text := "", ""
			if len(undone.Lifted) > 0 {
				kind, text = KindUndone, "its fences were lifted"
			}
			r.tell(j.Merge, kind, text, func(now *record) { now.idle(); now.Phase = rec.Phase })
			return done
		}
		r.undone(j, failure, o.Words().Sentence, began, r.report(j, o, "undo"))
		return done
	case ctx.Err() != nil:
		r.tell(j.Merge, "", "", (*record).idle)
		return done
	}
	o := r.outcome("undo", plan, err)
	if o == nil && errors.Is(err, transfer.ErrBusy) {
		return r.notUndone(j, failure, err, plainly(err), busy(r.opts.Command("undo", j.Target)), nil)
	}
	if o == nil {
		return r.notUndone(j, failure, err, plainly(err), nil, nil)
	}
	o.Undone, o.Forced = undone, r.opts.Force
	o.Began, o.Ended = began, r.now()
	problem, advice := explain(o)
	return r.notUndone(j, failure, err, problem, advice, r.report(j, o, "undo"))
}

// undone records that a merge was undone.
func (r *runner) undone(j *job, failure, text string, began time.Time, reports []string) {
	now := r.now().UTC()
	r.tell(j.Merge, KindUndone, text, func(rec *record) {
		rec.idle()
		rec.Phase, rec.Ended, rec.Advice = Undone, &now, nil
		if failure == "" && rec.Problem != "" && r.doing == doingUndo {
			rec.Problem = ""
		}
		rec.Took += r.now().Sub(began).Seconds()
		rec.Advice = []string{"To merge it after all, when the cause is fixed:", r.opts.Command("plan", j.Target), r.opts.Command("apply", j.Target)}
		rec.reported(reports)
	})
}

// notUndone records that a merge could not be undone.
func (r *runner) notUndone(j *job, failure string, err error, problem string, advice, reports []string) ending {
	text := "it could not be undone: " + problem
	if failure != "" {
		text = fmt.Sprintf("%s; and %s", failure, text)
	}
	if advice == nil {
		advice = []string{"When it is fixed:", r.opts.Command("undo", j.Target)}
	}
	r.tell(j.Merge, KindFailed, printable.Text(text), func(rec *record) {
		rec.idle()
		rec.Phase, rec.Problem, rec.Incomplete, rec.Advice = Failed, text, failure == "" && !lasting(err), advice
		rec.reported(reports)
	})
	return failed
}
