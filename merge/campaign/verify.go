package campaign

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
)

// Verify proves merges that are completed once more: see [transfer.Verify]. It only reads.
// Merges that are not completed are left out, unless Targets names them.
func (b *Book) Verify(ctx context.Context, o Options) (*Status, error) {
	return b.run(ctx, doingVerify, o, func(ctx context.Context, r *runner, jobs []*job) error {
		l := r.campaign.limits()
		l.window, l.continues, l.retries = nil, true, 0
		a := &applier{runner: r, limits: l}
		a.schedule(ctx, jobs, l, a.verifyOne)
		return nil
	})
}

func (a *applier) verifyOne(ctx context.Context, j *job) ending {
	w, ctx, stop := a.start(ctx, j)
	defer stop()
	before := a.recordOf(j)
	// not says why there is no proof. The merge stays what it is.
	not := func(err error) ending {
		if ctx.Err() != nil {
			a.tell(j.Merge, "", "", func(r *record) { r.idle(); r.Phase = before.Phase })
			return done
		}
		problem := "it could not be verified: " + plainly(err)
		a.tell(j.Merge, KindNotVerified, problem, func(r *record) {
			r.idle()
			r.Phase, r.Problem = before.Phase, problem
			r.Advice = []string{"When it is fixed:", a.opts.Command("verify", j.Target)}
		})
		return failed
	}
	plan, err := a.planOf(ctx, j)
	if err == nil && plan == nil {
		err = errors.New("it has no plan")
		if !j.named {
			return done
		}
	}
	if err != nil {
		return not(err)
	}
	at, err := transfer.LookUp(ctx, plan, j.target(), j.sources())
	if err == nil && at.State != transfer.StateCopied {
		if !j.named && at.State == transfer.StateNone {
			return done
		}
		err = fmt.Errorf("the merge is not completed (%s)", at.State)
	}
	if err != nil {
		return not(err)
	}
	options, stopCodecs, err := a.work(ctx, plan)
	if err != nil {
		return not(err)
	}
	defer stopCodecs()
	a.tell(j.Merge, "", "", func(r *record) { r.Phase, r.Active = Verifying, true })
	began := a.now()
	proof, err := transfer.Verify(ctx, plan, j.target(), j.sources(), w.watched(options))
	if err != nil {
		return not(err)
	}
	o := a.outcome("verify", plan, nil)
	o.Began, o.Ended = began, a.now()
	o.Prove(proof)
	a.proved(j, o, a.report(j, o, "verify"))
	if o.Ending == report.Differs {
		return failed
	}
	return done
}
