package transfer

import (
	"context"
	"sync"
)

// DefaultParallel is the default of [Options.Parallel].
const DefaultParallel = 4

// part is what one worker does at a time: the rows of one database in one table, or
// one range of them.
type part struct {
	table  int // of the plan
	source int // of the plan; or ofTarget
	number int // of the range
}

const ofTarget = -1

// Whether the rows of a source in one table are one part, or several.
const (
	whole   = false
	divided = true
)

// parts are those of the whole plan, from a database on. The parts of one table
// come together, so that the target is busy in one place at a time.
func (r *run) parts(from int, divided bool) (all []part) {
	for i := range r.plan.Tables {
		for j := from; j < len(r.plan.Sources); j++ {
			n := 1
			if divided && j != ofTarget {
				n = len(r.plan.Tables[i].Sources[j].parts())
			}
			for k := range n {
				all = append(all, part{i, j, k})
			}
		}
	}
	return all
}

// What workers do with the target.
const (
	writing = true
	reading = false
)

// inParallel does all parts, several at a time. A worker is a run of its own,
// with its own connections. The first error stops all workers, and is returned.
func (r *run) inParallel(ctx context.Context, writes bool, parts []part, do func(ctx context.Context, w *run, p part) error) error {
	n := min(r.opts.Parallel, len(parts))
	if writes && !r.target.dialect().mysql() {
		n = 1 // SQLite has one writer at a time
	}
	if n <= 1 {
		for _, p := range parts {
			if err := do(ctx, r, p); err != nil {
				return err
			}
		}
		return nil
	}
	return spread(ctx, n, parts, func(ctx context.Context, queue <-chan part) error {
		w := r.fork(n)
		defer w.close()
		for p := range queue {
			if err := do(ctx, w, p); err != nil {
				return err
			}
			for _, c := range w.sources {
				c.drop() // or every worker would keep a connection to every source
			}
		}
		return nil
	})
}

// spread lets n workers take work from a queue. The first error ends their
// context, and is returned when all have ended.
func spread[T any](ctx context.Context, n int, work []T, worker func(ctx context.Context, queue <-chan T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan T, len(work))
	for _, w := range work {
		queue <- w
	}
	close(queue)
	var first error
	var once sync.Once
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if err := worker(ctx, queue); err != nil {
				once.Do(func() { first = err })
				cancel(err)
			}
		})
	}
	all.Wait()
	return first
}

// fork returns a worker, one of n that share the memory for rows.
func (r *run) fork(n int) *run {
	w := *r
	w.committed = 0
	w.target = r.target.fork(n)
	w.manifest = &manifest{on: w.target, id: r.manifest.id}
	w.sources = make([]*connection, len(r.sources))
	for i, c := range r.sources {
		w.sources[i] = c.fork(n)
	}
	return &w
}

// fork returns a connection to the same database that is one of n.
func (c *connection) fork(n int) *connection {
	return &connection{Database: c.Database, writes: c.writes, fail: c.fail, unchecked: c.unchecked, withheld: c.withheld, share: n}
}
