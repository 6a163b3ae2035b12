package campaign

import (
	"context"

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
	if r.opts.Ranges != nil && plan.Fleet != "" {
		o.Reserve = func(ctx context.Context) error { return r.opts.Ranges.Reserve(ctx, plan) }
	}
	return o, stop, nil
}

// watched has the options tell a worker how far it is.
func (w *worker) watched(o transfer.Options) transfer.Options {
	o.Progress, o.Retrying = w.meter.report, w.meter.waits
	return o
}
