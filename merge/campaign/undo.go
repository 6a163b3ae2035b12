package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge"
	mergerecord "mergesafe/merge/record"
)

// Undo drops the new databases of merges: see [merge.Undo]. It lifts the fences of merges that were
// fenced and did not begin. A merge that was tried can be carried out then. A merge that cannot be undone does not keep the
// others from it.
func Undo(ctx context.Context, b *Book, o Options) (*Status, error) {
	return run(ctx, b, doingUndo, o, func(ctx context.Context, r *runner, jobs []*job) error {
		r.schedule(ctx, jobs, func(ctx context.Context, r *runner, j *job) ending {
			m, ctx, stop := r.start(ctx, j)
			defer stop()
			return undoOne(ctx, r, j, m, "")
		})
		return nil
	})
}

// undoOne undoes one merge. failure is why, if it failed.
func undoOne(ctx context.Context, r *runner, j *job, m *meter, failure string) ending {
	began, rec := r.book.now(), r.recordOf(j)
	plan, err := r.planOf(ctx, j)
	not := func(err error, problem string, advice, reports []string) ending {
		return recordNotUndone(ctx, r, j, rec, plan, failure, err, problem, advice, reports)
	}
	nothing := func() ending { return nothingLeft(ctx, r, j, rec, plan, failure, began) }
	if err == nil && plan == nil {
		return nothing()
	}
	var options merge.Options
	stop := func() {}
	if err == nil {
		options, stop, err = r.work(ctx, plan)
	}
	if err != nil && plan == nil && !rec.begun() && !errors.Is(err, merge.ErrPartOfPlan) {
		if fence, unread := j.fence(ctx); fence != "" || unread != nil {
			return nothing()
		}
		// Only its plan is lost; as one that has begun and failed it would never get a new one.
		problem := "it has not begun, and its plan cannot be read: " + plainly(err)
		r.update(j.Merge, KindRefused, problem, func(now *record) {
			now.rest(Refused, problem, []string{"To plan it again:", r.opts.Command("plan", j.Name())}, nil)
			now.Plan = ""
		})
		return failed
	}
	if err != nil {
		return not(err, plainly(err), nil, nil)
	}
	defer stop()
	at, unread := begunAlready(ctx, plan, j.into, j.databases)
	if unread == nil && at == nil {
		return nothing()
	}
	if at != nil && at.State.Nothing() { // its fences would be lifted, and the database would stay where it is
		if err := j.elsewhere(ctx, plan, "undo"); err != nil {
			return not(err, plainly(err), nil, nil)
		}
	}
	begun := ""
	if at != nil {
		begun = at.Begun
	}
	tried := rec.Phase.IsTry() || at != nil && at.State == merge.StateTried
	switch {
	case tried: // also after a kill
		r.update(j.Merge, "", "", func(rec *record) { rec.Active = true })
	case rec.Phase.Begun() || rec.Phase == Skipped:
		r.update(j.Merge, KindUndoing, "being undone", func(rec *record) {
			rec.Phase, rec.Active = Undoing, true
			if failure != "" {
				rec.Problem = failure
			}
		})
	}
	force := merge.UndoOptions{Options: m.watch(options), Force: r.opts.Force, Begun: begun, MayPlace: func(ctx context.Context) error { return r.mayMoveBack(ctx, j, plan) }, Placing: func(ctx context.Context) error { return r.move(ctx, j, plan, true) }}
	undone, err := merge.Undo(ctx, plan, j.into, j.databases, force)
	switch {
	case errors.Is(err, merge.ErrNoMerge):
		return nothing()
	case tried && err == nil:
		recordDropped(r, j)
		return done
	case err == nil:
		o := r.outcome("undo", plan, began, nil)
		o.Undone, o.Forced = undone, r.opts.Force
		if !rec.Phase.Begun() && undone.NoRecord {
			kind, text, did := "", "", Undid("")
			if len(undone.Lifted) > 0 {
				kind, text, did = KindUndone, "its fences were lifted", UndidFences
			}
			r.update(j.Merge, kind, text, func(now *record) {
				now.idle()
				now.Phase, now.Undo, now.Fenced = rec.Phase, did, false
				if now.Phase == Skipped { // nothing is left of what it had begun
					now.Problem = ""
				}
			})
			return done
		}
		recordUndone(r, j, failure, o.View().Sentence, began, r.report(j, o, "undo"))
		return done
	case ctx.Err() != nil:
		r.update(j.Merge, "", "", (*record).idle)
		return done
	}
	o := r.outcome("undo", plan, began, err)
	if o == nil {
		var advice []string
		if errors.Is(err, merge.ErrBusy) {
			advice = busy(r.opts.Command("undo", j.Name()))
		}
		return not(err, plainly(err), advice, nil)
	}
	o.Undone, o.Forced = undone, r.opts.Force
	problem, advice := explain(o)
	return not(err, problem, advice, r.report(j, o, "undo"))
}

// nothingLeft ends the undo of a merge without a record and without a fence of its plan. plan is nil if it is lost. The worlds may
// still be fenced by a lost plan, also if there is a new plan by now: then the undo fails, and names the fence.
func nothingLeft(ctx context.Context, r *runner, j *job, rec *record, plan *merge.Plan, failure string, began time.Time) ending {
	fence, err := j.fence(ctx)
	switch {
	case ctx.Err() != nil:
		r.update(j.Merge, "", "", (*record).idle)
		return done
	case err != nil:
		return recordNotUndone(ctx, r, j, rec, plan, failure, err, plainly(err), nil, nil)
	case fence != "":
		problem := "its plan is lost, and " + fence
		advice := []string{"Undo that merge with a copy of its plan; without one, and if no new database was made or it is lost for good:", "gameid servers release -h"}
		r.update(j.Merge, KindRefused, problem, func(now *record) { now.rest(Refused, problem, advice, nil); now.Undo = UndidNothing })
		return failed
	case rec.Phase.IsTry():
		recordDropped(r, j)
		return done
	case !rec.begun():
		r.update(j.Merge, "", "", func(now *record) { now.idle(); now.Phase, now.Fenced = rec.Phase, false })
		return done
	}
	if plan != nil { // an earlier undo was killed before it could say so
		if err := r.move(ctx, j, plan, true); err != nil {
			return recordNotUndone(ctx, r, j, rec, plan, failure, err, plainly(err), nil, nil)
		}
	}
	recordUndone(r, j, failure, "there was nothing to drop", began, nil)
	return done
}

// fence says which server of the worlds a merge into the new database has fenced, by whatever plan; "" if there is none.
func (j *job) fence(ctx context.Context) (string, error) {
	for _, d := range j.databases {
		servers, err := mergerecord.Servers(ctx, d)
		if err != nil {
			return "", fmt.Errorf("whether a merge has fenced %s is not known: %w", printable.Text(d.Name), err)
		}
		for _, s := range servers {
			if fence, fenced := worldregistry.FenceOf(s.Holder); fenced && !fence.Here && fence.Into == j.into.Name {
				return fmt.Sprintf("server %s of %s is fenced: %s", s.ID, printable.Text(d.Name), fence), nil
			}
		}
	}
	return "", nil
}

// recordDropped records that a rehearsal was undone.
func recordDropped(r *runner, j *job) {
	r.update(j.Merge, KindUndone, "the database of the rehearsal was dropped", func(now *record) { now.dropped(); now.Undo = UndidRehearsal })
}

// recordUndone records that a merge was undone.
func recordUndone(r *runner, j *job, failure, text string, began time.Time, reports []string) {
	now := r.book.now().UTC()
	r.update(j.Merge, KindUndone, text, func(rec *record) {
		rec.idle()
		rec.Phase, rec.Open, rec.Fenced, rec.Ended, rec.Undo = Undone, false, false, &now, UndidMerge
		if failure == "" && r.doing == doingUndo {
			rec.Problem = ""
		}
		rec.Took += r.book.now().Sub(began).Seconds()
		rec.Advice = []string{"To merge it when the cause is fixed:", r.opts.Command("plan", j.Name()), r.opts.Command("apply", j.Name())}
		rec.reported(reports)
	})
}

// recordNotUndone records that a merge could not be undone. before is its record from before the undo. If it was verified, and the undo
// is refused while it is open, it stays verified: a later merge may have taken it as a world, or a game may have written there.
func recordNotUndone(
	ctx context.Context, r *runner, j *job, before *record, plan *merge.Plan, failure string, err error, problem string, advice, reports []string,
) ending {
	text := "it could not be undone: " + problem
	if failure != "" {
		text = fmt.Sprintf("%s; and %s", failure, text)
	}
	if advice == nil {
		advice = []string{"When it is fixed:", r.opts.Command("undo", j.Name())}
	}
	phase, kind := Failed, KindFailed
	if plan == nil && !before.begun() {
		phase, kind = Refused, KindRefused
	}
	if before.Phase == Verified && plan != nil && lasting(err) {
		if at, err := merge.LookUp(ctx, plan, j.into, j.databases); err == nil && at.State == merge.StateOpen {
			phase, kind = Verified, KindRefused
			noteLater(r, j, at)
		}
	}
	r.update(j.Merge, kind, printable.Text(text), func(rec *record) {
		rec.rest(phase, text, advice, reports)
		rec.Undo = UndidNothing
		rec.Incomplete = failure == "" && !lasting(err)
	})
	return failed
}
