package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// packed is what the fastest generators that carry time do for one ID, and
// nothing more: read the clock, and raise one word of milliseconds and
// sequence. No ID is made of it, no reservation checked, nothing counted.
type packed struct {
	word  atomic.Uint64
	start time.Time
}

func (p *packed) next() uint64 {
	now := uint64(time.Since(p.start) / time.Millisecond)
	for {
		last := p.word.Load()
		word := last + 1
		if now > last>>16 {
			word = now << 16
		}
		if p.word.CompareAndSwap(last, word) {
			return word
		}
	}
}

// locked is the same under a mutex.
type locked struct {
	mu    sync.Mutex
	word  uint64
	start time.Time
}

func (l *locked) next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := uint64(time.Since(l.start) / time.Millisecond)
	l.word++
	if now > (l.word-1)>>16 {
		l.word = now << 16
	}
	return l.word
}

// Names of baselines that goals use.
const (
	baselineC     = "C: one atomic word + time.Since" // the reference of every ratio
	baselineMutex = "C under a mutex"
)

func runC() func(n int) error {
	p := &packed{start: time.Now()}
	return func(n int) error { return calls(n, func(int) uint64 { return p.next() }) }
}

func runMutex() func(n int) error {
	l := &locked{start: time.Now()}
	return func(n int) error { return calls(n, func(int) uint64 { return l.next() }) }
}

func runSince() func(n int) error {
	start := time.Now()
	return func(n int) error { return calls(n, func(int) time.Duration { return time.Since(start) }) }
}

func runCounter() func(n int) error {
	var word atomic.Uint64
	return func(n int) error { return calls(n, func(int) uint64 { return word.Add(1) }) }
}

// reference is the candidate that everything is compared with.
func reference() candidate {
	return candidate{section: oneGoroutine, name: baselineC, note: "the reference of all ratios", run: runC()}
}

func baselines(cores int) []candidate {
	return []candidate{
		{section: oneGoroutine, name: baselineMutex, note: "the reference's loop, locked", run: runMutex()},
		{section: oneGoroutine, name: "time.Since alone", note: "no ID", run: runSince()},
		{section: oneGoroutine, name: "one atomic counter", note: "no time, lost at a restart", run: runCounter()},
		{section: allCores, name: onAll(baselineC), run: runC(), workers: cores},
		{section: allCores, name: onAll(baselineMutex), run: runMutex(), workers: cores},
		{section: allCores, name: onAll("one atomic counter"), run: runCounter(), workers: cores},
	}
}
