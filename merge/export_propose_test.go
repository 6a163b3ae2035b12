package merge

import "context"

// Propose classifies the columns, and checks nothing.
func Propose(ctx context.Context, sources []Source, opts Options) (*Report, error) {
	opts = opts.withDefaults()
	opts.Propose = true
	f, err := describeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	r := newRun(f, newReader(f, newProgress(f.resolved)), newSummaries(f), opts.stamp(), rules())
	if err := r.countRows(ctx); err != nil {
		return nil, err
	}
	r.tasks = append(keyTasks(f, r.rules), proposalTasks(f)...)
	for len(r.tasks) > 0 {
		t := r.tasks[0]
		r.tasks = r.tasks[1:]
		if err := r.do(ctx, t); err != nil {
			return nil, err
		}
	}
	return r.report(""), nil
}
