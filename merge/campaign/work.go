package campaign

import (
	"context"
	"errors"

	"mergesafe/merge/transfer"
)

// start begins the work on a merge. stop must be called when it has ended.
func (r *runner) start(ctx context.Context, j *job) (_ *worker, _ context.Context, stop func()) {
	ctx, skip := context.WithCancelCause(ctx)
	w := &worker{skip: skip}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.working[j.Target] = w
	return w, ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.working, j.Target)
		skip(nil)
	}
}

// work returns the options for working through a plan. stop ends its codecs.
func (r *runner) work(ctx context.Context, plan *transfer.Plan) (o transfer.Options, stop func(), err error) {
	o, stop = r.opts.Work, func() {}
	if r.opts.Codecs != nil {
		if o.Codecs, stop, err = r.opts.Codecs(ctx, plan); err != nil {
			return o, nil, err
		}
	}
	o.Pause = r.pause
	if plan.Fleet != "" {
		o.Reserve = func(ctx context.Context) error {
			if r.opts.Ranges == nil {
				return errors.New(noRanges)
			}
			return r.opts.Ranges.Reserve(ctx, plan)
		}
	}
	return o, stop, nil
}

// noRanges says that what a plan gives cannot be recorded.
const noRanges = "its plan was made with a fleet registry, which has to record the keys that it gives: name the registry again, with -fleet or [registry] in the configuration"

// watched has the options tell a worker how far it is.
func (w *worker) watched(o transfer.Options) transfer.Options {
	o.Progress, o.Retrying = w.meter.report, w.meter.waits
	return o
}
