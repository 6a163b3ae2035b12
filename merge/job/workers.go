package job

import (
	"context"
	"sync"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// DefaultParallel is the default of [Options.Parallel].
const DefaultParallel = 4

// keptOpen is to how many worlds each worker keeps a connection.
const keptOpen = 4

// What workers do with the new database.
const (
	Writing = true
	Reading = false
)

// InParallel does all parts, several at a time. A worker is a run of its own,
// with its own connections. The first error stops all workers, and is returned.
func (r *Run) InParallel(ctx context.Context, writes bool, parts []plan.Part, do func(ctx context.Context, w *Run, p plan.Part) error) error {
	n := min(r.Opts.Parallel, len(parts))
	if writes && !r.New.Dialect().MySQL() {
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
	return Spread(ctx, n, parts, func(ctx context.Context, queue <-chan plan.Part) error {
		w := r.fork(n)
		defer w.Close()
		for p := range queue {
			if err := do(ctx, w, p); err != nil {
				return err
			}
			for i, c := range w.Worlds {
				if i != p.World && len(w.Worlds) > keptOpen {
					c.Drop()
				}
			}
		}
		return nil
	})
}

// Spread lets n workers take work from a queue. The first error ends their
// context, and is returned when all have ended.
func Spread[T any](ctx context.Context, n int, work []T, worker func(ctx context.Context, queue <-chan T) error) error {
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
func (r *Run) fork(n int) *Run {
	w := *r
	w.Committed = 0
	w.New = Fork(r.New, n)
	w.Manifest = r.Manifest.Over(w.New)
	w.Worlds = make([]*world.Connection, len(r.Worlds))
	for i, c := range r.Worlds {
		w.Worlds[i] = Fork(c, n)
	}
	return &w
}

// Fork returns a connection to the same database that is one of n.
func Fork(c *world.Connection, n int) *world.Connection {
	return &world.Connection{Database: c.Database, Writes: c.Writes, Fail: c.Fail, Unchecked: c.Unchecked, Withheld: c.Withheld, Sifted: c.Sifted, Share: n}
}
