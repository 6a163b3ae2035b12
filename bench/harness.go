package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// candidate is one way to do one thing.
type candidate struct {
	name string
	note string // what the thing carries or promises

	// run does the thing n times. It loops by itself, so that the harness
	// costs nothing per operation. With several workers it runs in each.
	run func(n int) error

	before  func() error // puts things in order first; not measured; may be nil
	workers int          // goroutines that share the n operations; 0 means 1

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
	candidate
	ns     []float64 // per operation; with several workers, of the clock on the wall
	ratio  []float64 // to the reference, measured just before and just after
	allocs float64   // per operation
}

// measure measures the reference and all candidates in turn, over and over, with the
// reference between them: what else goes on in the machine hits all alike, and two
// numbers that are compared were measured side by side.
//
// [testing.Benchmark] could do the measuring, but not this pairing: it looks
// for an n of its own every time, and what it tries on the way lies between a
// measurement and its reference.
func measure(ctx context.Context, p pace, ref candidate, list []candidate) (found []samples, err error) {
	for _, c := range append([]candidate{ref}, list...) {
		s := samples{candidate: c}
		if s.allocs, err = s.calibrate(ctx, p.slice); err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	before, _, err := found[0].once(ctx)
	for round := range p.rounds {
		for i := 1; i < len(found) && err == nil; i++ {
			s := &found[i]
			if round%2 > 0 { // so that no candidate always comes after the same one
				s = &found[len(found)-i]
			}
			var ns, after float64
			if ns, _, err = s.once(ctx); err == nil {
				after, _, err = found[0].once(ctx)
			}
			s.ns, s.ratio = append(s.ns, ns), append(s.ratio, ns/((before+after)/2))
			found[0].ns, found[0].ratio = append(found[0].ns, after), append(found[0].ratio, after/before)
			before = after
		}
	}
	return found, err
}

// row shows what was measured, and ratios.
func (s samples) row(measured string, ratios []float64) row {
	return row{what: s.name, measured: measured, allocs: allocs(s.allocs), note: s.note}.compared(ratios)
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

// time lets the workers run the candidate at the same time. It returns how long all of them took.
func (c *candidate) time() (time.Duration, error) {
	workers := max(1, c.workers)
	each := max(1, c.n/workers)
	c.n = each * workers
	errs := make([]error, workers)
	gate := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(workers)
	for i := range errs {
		done.Go(func() {
			ready.Done()
			<-gate
			errs[i] = c.run(each)
		})
	}
	ready.Wait()
	start := time.Now()
	close(gate)
	done.Wait()
	return time.Since(start), errors.Join(errs...)
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
