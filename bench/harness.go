package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// candidate is one way to do one thing.
type candidate struct {
	section string // where the table shows it
	name    string // unique
	note    string // what the thing carries or promises
	peer    bool   // another library's: listed after ours, the fastest first
	goals   []goal // of ours
	noAlloc bool   // must not allocate

	// run does the thing n times. It loops by itself, so that the harness
	// costs nothing per operation. With several workers it runs in each.
	run func(n int) error

	before  func() error // puts things in order first; not measured; may be nil
	workers int          // goroutines that share the n operations; 0 means 1

	// elapsed replaces the harness's stopwatch where run has to pause.
	elapsed func(n int) (time.Duration, error)

	n    int // operations in one measurement; 0 means as many as fit the slice
	most int // limit of n; 0 means none
}

// calls is the loop of a candidate: it calls f n times and keeps the results,
// so that nothing is optimised away. The compiler inlines it where f is a
// function literal, so every candidate gets a loop of its own with no call
// through a function value.
func calls[T any](n int, f func(i int) T) error {
	var last T
	for i := range n {
		last = f(i)
	}
	runtime.KeepAlive(last)
	return nil
}

// tries is calls for what can fail.
func tries[T any](n int, f func(i int) (T, error)) (err error) {
	var last T
	for i := range n {
		if last, err = f(i); err != nil {
			return err
		}
	}
	runtime.KeepAlive(last)
	return nil
}

// pace says how often and how long everything is measured.
type pace struct {
	rounds int
	slice  time.Duration
}

// samples is what was measured of one candidate, one value for each round.
type samples struct {
	ns     []float64 // per operation; with several workers, of the clock on the wall
	ratio  []float64 // to the reference, measured just before and just after
	allocs float64   // per operation
}

func (s *samples) add(ns, ratio float64) {
	s.ns = append(s.ns, ns)
	s.ratio = append(s.ratio, ratio)
}

// results are samples by the name of the candidate.
type results map[string]*samples

// measure measures all candidates in turn, over and over, with the reference
// between them: what else goes on in the machine hits all alike, and two
// numbers that are compared were measured side by side. With an empty list it
// measures the reference alone.
//
// [testing.Benchmark] could do the measuring, but not this pairing: it looks
// for an n of its own every time, and what it tries on the way lies between a
// measurement and its reference.
func measure(ctx context.Context, p pace, ref candidate, list []candidate) (results, error) {
	all := append([]candidate{ref}, list...)
	found := make(results, len(all))
	for i := range all {
		allocs, err := all[i].calibrate(ctx, p.slice)
		if err != nil {
			return nil, err
		}
		found[all[i].name] = &samples{allocs: allocs}
	}
	ref, list = all[0], all[1:]
	var err error
	once := func(c *candidate) (ns float64) {
		if err == nil {
			ns, _, err = c.once(ctx)
		}
		return ns
	}
	before := once(&ref)
	if len(list) == 0 {
		found[ref.name].add(before, 1)
	}
	for range p.rounds {
		for i := range list {
			ns, after := once(&list[i]), once(&ref)
			if err != nil {
				return nil, err
			}
			found[list[i].name].add(ns, ns/((before+after)/2))
			found[ref.name].add(after, after/before)
			before = after
		}
		slices.Reverse(list) // so that no candidate always comes after the same one
	}
	return found, err
}

// calibrate finds the n that fills a slice, and counts allocations.
func (c *candidate) calibrate(ctx context.Context, slice time.Duration) (allocs float64, err error) {
	for found := c.n > 0; !found; {
		c.n = max(1, c.n)
		ns, _, err := c.once(ctx)
		if err != nil {
			return 0, err
		}
		fit := float64(slice) / ns
		if c.most > 0 {
			fit = min(fit, float64(c.most))
		}
		if found = float64(c.n) >= fit/4; found {
			c.n = max(1, int(fit))
		} else {
			c.n = max(2*c.n, int(fit/2))
		}
	}
	_, allocs, err = c.once(ctx)
	return allocs, err
}

// once measures c.n operations and returns the nanoseconds and allocations of
// each.
func (c *candidate) once(ctx context.Context) (ns, allocs float64, err error) {
	runtime.GC() // no candidate pays for the garbage of another
	if c.before != nil {
		err = c.before()
	}
	var took time.Duration
	var start, end runtime.MemStats
	if err == nil {
		runtime.ReadMemStats(&start)
		took, err = c.time()
		runtime.ReadMemStats(&end)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", c.name, err)
	}
	n := float64(c.n)
	return float64(took.Nanoseconds()) / n, float64(end.Mallocs-start.Mallocs) / n, nil
}

func (c *candidate) time() (time.Duration, error) {
	if c.elapsed != nil {
		return c.elapsed(c.n)
	}
	workers := max(1, c.workers)
	each := max(1, c.n/workers)
	c.n = each * workers
	return together(workers, func(int) error { return c.run(each) })
}

// together lets n goroutines run f at the same time. It returns how long all of
// them took, and the first error.
func together(n int, f func(i int) error) (time.Duration, error) {
	if n == 1 {
		start := time.Now()
		err := f(0)
		return time.Since(start), err
	}
	errs := make([]error, n)
	gate := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-gate
			errs[i] = f(i)
		})
	}
	ready.Wait()
	start := time.Now()
	close(gate)
	done.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return took, nil
}

// quantile returns the value below which the share q of values lies, between
// two values in proportion. It is 0 for no values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := int(at)
	next := sorted[min(i+1, len(sorted)-1)]
	return sorted[i] + (at-float64(i))*(next-sorted[i])
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// quotients divides round by round.
func quotients(a, b []float64) []float64 {
	q := make([]float64, min(len(a), len(b)))
	for i := range q {
		q[i] = a[i] / b[i]
	}
	return q
}
