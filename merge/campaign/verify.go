package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// Verify proves merges that are completed once more: see [merge.Verify]. It only reads.
// Merges that are not completed are left out, unless Merges names them.
func Verify(ctx context.Context, b *Book, o Options) (*Status, error) {
	return run(ctx, b, doingVerify, o, func(ctx context.Context, r *runner, jobs []*job) error {
		r.schedule(ctx, jobs, verifyOne)
		return nil
	})
}

func verifyOne(ctx context.Context, r *runner, j *job) ending {
	m, ctx, stop := r.start(ctx, j)
	defer stop()
	before := r.recordOf(j)
	var at *merge.Status
	// not says why there is no proof. The merge stays what it is.
	not := func(err error) ending {
		if ctx.Err() != nil {
			r.update(j.Merge, "", "", func(rec *record) { rec.idle(); rec.Phase = before.Phase })
			return done
		}
		problem, phase := "it could not be verified: "+plainly(err), before.Phase
		if phase == Verified && (lasting(err) || at != nil && at.State != merge.StateOpen) {
			phase = Failed // what was verified is not there any more, or not alone
		}
		r.update(j.Merge, KindNotVerified, problem, func(rec *record) {
			rec.rest(phase, problem, []string{"When it is fixed:", r.opts.Command("verify", j.Name())}, nil)
		})
		return failed
	}
	plan, err := r.planOf(ctx, j)
	if err == nil && plan == nil {
		switch err = errors.New("it has no plan"); {
		case before.Open:
			err = r.book.planGone(j.Name())
		case !j.named:
			return done
		}
	}
	if err != nil {
		return not(err)
	}
	at, err = merge.LookUp(ctx, plan, j.into, j.databases)
	if err == nil && lost(r, j, at) {
		return failed
	}
	if err == nil {
		if before.Plan == "" && !at.State.Nothing() { // the state was lost
			r.adopt(j, plan, at)
		}
		noteLater(r, j, at)
	}
	if err == nil && !at.State.Whole() {
		switch {
		case before.Phase == Verified && gone(ctx, r, j), before.Phase == Undone && at.State.Nothing():
			return failed
		case !j.named && (at.State.Nothing() || at.State == merge.StateTried):
			return done
		}
		err = fmt.Errorf("the merge is not completed (%s)", at.State)
		if at.State.Nothing() {
			err = cmp.Or(j.elsewhere(ctx, plan, "verify"), err)
		}
	}
	if err != nil {
		return not(err)
	}
	options, stopCodecs, err := r.work(ctx, plan)
	if err != nil {
		return not(err)
	}
	defer stopCodecs()
	r.update(j.Merge, "", "", func(rec *record) { rec.Phase, rec.Active = Verifying, true })
	o, reports, err := prove(ctx, r, j, plan, m.watch(options))
	if err != nil {
		return not(err)
	}
	recordProof(r, j, o, reports, at.State)
	if o.Ending == report.Differs {
		return failed
	}
	if before.Phase == Skipped && at.State != merge.StateOpen { // it stays out, whatever was proved
		r.update(j.Merge, "", "", func(rec *record) { rec.rest(Skipped, skippedText, nil, nil) })
	}
	return done
}

// prove verifies a new database, and writes the reports about it.
func prove(ctx context.Context, r *runner, j *job, plan *merge.Plan, options merge.Options) (
	o *report.Outcome, reports []string, err error,
) {
	began := r.book.now()
	proof, err := merge.Verify(ctx, plan, j.into, j.databases, options)
	if err != nil {
		return nil, nil, err
	}
	o = r.outcome("verify", plan, began, nil)
	o.Prove(proof)
	return o, r.report(j, o, "verify"), nil
}

// recordProof records what the proof of a merge found that is in a state.
func recordProof(r *runner, j *job, o *report.Outcome, reports []string, state merge.State) {
	kind, phase, text := KindVerified, Verified, "every row is as planned"
	problem, advice := "", []string(nil)
	switch o.Ending {
	case report.NotVerified:
		kind, phase = KindNotVerified, Made
	case report.Differs:
		kind, phase = KindFailed, Failed
	}
	if phase == Verified && state != merge.StateOpen {
		if kind, phase = "", Made; state == merge.StateOpening {
			phase = Opening
		}
		text += fmt.Sprintf("; %s is not open yet", j.into.Name)
		advice = []string{"To open it:", r.opts.Command("apply", j.Name())}
	}
	if o.Ending != report.Done {
		problem, advice = explain(o)
		text = problem
	}
	r.update(j.Merge, kind, text, func(rec *record) { rec.rest(phase, problem, advice, reports) })
}
