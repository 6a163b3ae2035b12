package transfer

import (
	"context"
	"fmt"
	"sync"
)

// DefaultParallel is the default of [Options.Parallel].
const DefaultParallel = 4

// part is what one worker does at a time: the rows that one database has, or
// had, in one table.
type part struct {
	table  int // of the plan
	source int // of the plan; or ofTarget
}

const ofTarget = -1

// parts are those of the whole plan, from a database on. Those of one table come
// together: the target is busy in one place at a time.
func (r *run) parts(from int) (all []part) {
	for i := range r.plan.Tables {
		for j := from; j < len(r.plan.Sources); j++ {
			all = append(all, part{i, j})
		}
	}
	return all
}

// What workers do with the target.
const (
	writing = true
	reading = false
)

// together does all parts, several at a time. A worker is a run of its own, with
// connections of its own. The first error ends the work of all, and is
// returned.
func (r *run) together(ctx context.Context, writes bool, parts []part, do func(ctx context.Context, w *run, p part) error) error {
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
			for _, s := range w.sources {
				s.drop() // or every worker would come to hold a connection to every source
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
	w.moved = 0
	w.target = r.target.fork(n)
	w.manifest = &manifest{on: w.target, id: r.manifest.id}
	w.sources = make([]*link, len(r.sources))
	for i, s := range r.sources {
		w.sources[i] = s.fork(n)
	}
	return &w
}

// fork returns a link to the same database that is one of n.
func (l *link) fork(n int) *link {
	return &link{Database: l.Database, writes: l.writes, trip: l.trip, unchecked: l.unchecked, share: n}
}

// tally counts the rows of a step, over all workers. It is locked also while
// something of [Options] is called back.
type tally struct {
	mu          sync.Mutex
	done, total int64
}

// step begins a step of so many rows.
func (r *run) step(total int64) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.done, r.tally.total = 0, total
}

// waiting tells why a database is waited for.
func (r *run) waiting(why error) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	if r.opts.Waiting != nil {
		r.opts.Waiting(why)
	}
}

// progress tells of more rows.
func (r *run) progress(step, database, table string, rows int) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.done += int64(rows)
	r.told += int64(rows)
	if r.opts.Progress != nil {
		r.opts.Progress(Progress{Step: step, Database: database, Table: table, Rows: r.tally.done, Total: r.tally.total})
	}
}

// do calls f until it returns, like persist. The rows of which it tells count
// anew with every call.
func (r *run) do(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	r.told = 0
	return r.persist(ctx, doing, func(soft context.Context) error {
		r.tally.mu.Lock()
		r.tally.done -= r.told
		r.told = 0
		r.tally.mu.Unlock()
		return f(soft)
	})
}

// ownRows is how many rows the target had itself in the tables of the plan.
func (r *run) ownRows() (n int64) {
	for i := range r.plan.Tables {
		n += r.plan.Tables[i].Target.Rows
	}
	return n
}

// readAll reads the rows that the target and the sources have in the tables of
// the plan and sums them up: by table, the target first. With copied it reads of
// the sources what has been copied of them, which must be as it was then.
func (r *run) readAll(ctx context.Context, step string, copied bool) ([][]Content, error) {
	r.step(r.ownRows() + 2*r.plan.Rows())
	found := make([][]Content, len(r.plan.Tables))
	for i := range found {
		found[i] = make([]Content, 1+len(r.plan.Sources))
	}
	err := r.together(ctx, reading, r.parts(ofTarget), func(ctx context.Context, w *run, p part) error {
		l, on := w.layout(w.plan.Tables[p.table].Name), w.target
		if p.source != ofTarget {
			on = w.sources[p.source]
		}
		return w.do(ctx, fmt.Sprintf("reading table %q of %q", l.table, on.Name), func(soft context.Context) error {
			var was *mark
			var change changer
			most := int64(all)
			if p.source != ofTarget && copied {
				var err error
				if was, err = w.manifest.mark(soft, StepCopy, on.Name, l.table); err != nil {
					return err
				}
				most, change = was.rows, w.renames.of(on.Name, l)
			}
			c, err := contents(soft, on, l, most, change, func(n int) error {
				w.progress(step, on.Name, l.table, n)
				return w.between(ctx)
			})
			if err == nil && was != nil && (c.Rows != was.rows || c.Sum != was.sum) {
				err = &ChangedError{Database: on.Name, Table: l.table, Rows: c.Rows, Want: was.rows}
			}
			found[p.table][1+p.source] = c
			return err
		})
	})
	return found, err
}
