package campaign

import (
	"context"
	"time"

	"mergesafe/merge"
)

// start begins the work on a merge, which the meter measures. stop must be called when it has ended.
func (r *runner) start(ctx context.Context, j *job) (_ *meter, _ context.Context, stop func()) {
	ctx, skip := context.WithCancelCause(ctx)
	w := &worker{skip: skip}
	w.meter.held = r.held
	r.mu.Lock()
	defer r.mu.Unlock()
	r.working[j.Name()] = w
	return &w.meter, ctx, func() {
		skip(nil)
		r.mu.Lock()
		delete(r.working, j.Name())
		r.mu.Unlock()
		w.meter.end(time.Now())
		r.update(j.Merge, "", "", w.meter.trace)
	}
}

// work returns the options for working through a plan. stop ends its codecs.
func (r *runner) work(ctx context.Context, plan *merge.Plan) (o merge.Options, stop func(), err error) {
	o = r.opts.Work
	if o.Codecs, stop, err = r.opts.codecsOf(ctx, plan); err != nil {
		return o, nil, err
	}
	o.Try = r.opts.Try
	return o, stop, nil
}

// watch has the work report to the meter.
func (m *meter) watch(o merge.Options) merge.Options {
	o.Progress, o.Retrying, o.Pause = m.report, m.waits, m.rests(o.Pause)
	return o
}

// recordOf is the record of a merge now.
func (r *runner) recordOf(j *job) *record {
	rec := new(record)
	// If it cannot be read, nothing is known of it.
	_ = r.book.look(context.Background(), func(ctx context.Context, s state) error {
		at, err := s.merge(ctx, j.Merge)
		if err == nil {
			rec = at
		}
		return err
	})
	return rec
}
