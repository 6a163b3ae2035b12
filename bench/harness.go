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

// results are samples by the name of the candidate.
type results map[string]*samples

// measure measures all candidates in turn, over and over, with the reference
// between them: what else goes on in the machine hits all alike, and two
// numbers that are compared were measured side by side. With an empty list it
// measures the reference alone.
func measure(ctx context.Context, p pace, ref candidate, list []candidate) (results, error) {
	all := append([]candidate{ref}, list...)
	found := make(results, len(all))
	for i := range all {
		allocs, err := all[i].calibrate(p.slice)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
		found[all[i].name] = &samples{allocs: allocs}
	}
	ref, list = all[0], all[1:]
	once := func(c *candidate) (float64, error) {
		ns, err := c.once()
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", c.name, err)
		}
		return ns, nil
	}
	before, err := once(&ref)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		found[ref.name].add(before, 1)
	}
	for range p.rounds {
		for i := range list {
			ns, err := once(&list[i])
			if err != nil {
				return nil, err
			}
			after, err := once(&ref)
			if err != nil {
				return nil, err
			}
			found[list[i].name].add(ns, ns/((before+after)/2))
			found[ref.name].add(after, after/before)
			before = after
		}
		slices.Reverse(list) // so that nobody always comes after the same one
	}
	return found, nil
}

func (s *samples) add(ns, ratio float64) {
	s.ns = append(s.ns, ns)
	s.ratio = append(s.ratio, ratio)
}

// calibrate finds the n that fills a slice, and counts allocations.
func (c *candidate) calibrate(slice time.Duration) (allocs float64, err error) {
	if c.n == 0 {
		c.n = 1
		for {
			ns, err := c.once()
			if err != nil {
				return 0, err
			}
			fit := float64(slice) / ns
			if c.most > 0 {
				fit = min(fit, float64(c.most))
			}
			if float64(c.n) >= fit/4 {
				c.n = max(1, int(fit))
				break
			}
			c.n = max(2*c.n, int(fit/2))
		}
	}
	var before, after runtime.MemStats
	if err := c.prepare(); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&before)
	if _, err := c.time(); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(c.n), nil
}

// once measures c.n operations and returns the nanoseconds for each.
func (c *candidate) once() (float64, error) {
	if err := c.prepare(); err != nil {
		return 0, err
	}
	took, err := c.time()
	return float64(took.Nanoseconds()) / float64(c.n), err
}

func (c *candidate) prepare() error {
	runtime.GC() // nobody pays for another's garbage
	if c.before != nil {
		return c.before()
	}
	return nil
}

func (c *candidate) time() (time.Duration, error) {
	if c.elapsed != nil {
		return c.elapsed(c.n)
	}
	if c.workers <= 1 {
		start := time.Now()
		err := c.run(c.n)
		return time.Since(start), err
	}
	c.n = max(1, c.n/c.workers) * c.workers
	errs := make([]error, c.workers)
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range c.workers {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			errs[i] = c.run(c.n / c.workers)
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
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
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
