package check

import (
	"context"

	"mergesafe/merge/verdict"
)

// Only reads the keys and carries out some tasks; no rule judges anything else.
func Only(ctx context.Context, f *Facts, tasks ...Task) (*verdict.Report, error) {
	r := newRun(f, f.Opts.Stamp())
	if err := r.findEnds(ctx); err != nil {
		return nil, err
	}
	r.tasks = append(keyTasks(f, Rules()), tasks...)
	for len(r.tasks) > 0 {
		o, err := r.tasks[0].Run(ctx, r.reader)
		if err != nil {
			return nil, err
		}
		r.tasks = r.tasks[1:]
		r.take(o)
	}
	return r.report(""), nil
}
