package sim

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
)

// hand is a clock that can be set, stopped, and run fast or slow.
type hand struct {
	since time.Time // when, in truth, it showed value
	value time.Time
	rate  int64 // in 1024ths of the right rate
}

const rightRate = 1024

func (h hand) at(now time.Time) time.Time {
	d := int64(now.Sub(h.since))
	return h.value.Add(time.Duration(d/rightRate*h.rate + d%rightRate*h.rate/rightRate))
}

func (h *hand) set(now, value time.Time, rate int64) {
	h.since, h.value, h.rate = now, value, rate
}

// clock is what a process reads the time from. It also knows, from what it
// showed to the node, which times the node's IDs may have.
type clock struct {
	p       *process
	wall    hand
	elapsed hand

	stood    time.Time // when the wall clock, stopped or slow, was set right
	shown    time.Time // what Wall returned last
	compared time.Time // what it returned when the node, being opened, had read the row
	fresh    bool      // the node has read the row and not yet looked at the clock

	// low is the earliest time that an ID may have, and most the latest that the node was
	// shown and may have followed; both as of an elapsed time of 0.
	low, most time.Time

	registry time.Time // the registry's clock, as of an elapsed time of 0
}

func newClock(p *process, now, wall time.Time) *clock {
	return &clock{
		p:       p,
		wall:    hand{now, wall, rightRate},
		elapsed: hand{now, time.Time{}, rightRate},
	}
}

func (c *clock) sinceStart() time.Duration { return c.elapsed.at(time.Now()).Sub(time.Time{}) }

// Wall implements [gameid.Clock].
func (c *clock) Wall() time.Time {
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	wall := c.wall.at(time.Now())
	if !c.p.peeking {
		c.reading(wall)
	}
	return wall
}

// Elapsed implements [gameid.Clock]. A goroutine that reads it to take an ID
// goes on only when the world tells it to: see [world.settle].
func (c *clock) Elapsed() time.Duration {
	w := c.p.w
	w.mu.Lock()
	elapsed, minting := c.sinceStart(), len(c.p.minters) > 0
	w.mu.Unlock()
	if !minting {
		return elapsed
	}
	lane := takingLane()
	if lane < 0 {
		return elapsed
	}
	w.mu.Lock()
	m := c.p.minters[lane]
	w.mu.Unlock()
	m.park()
	if m.stale {
		return elapsed // it was held up after it had read the clock
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return c.sinceStart()
}

// takingLane returns the lane of the minter that runs on this goroutine if it
// is about to take an ID, otherwise -1. There, and nowhere else, a node reads
// the clock without holding a lock, so that the goroutine may be held up.
func takingLane() int {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	takes := false
	for depth := 0; ; depth++ {
		frame, more := frames.Next()
		takes = takes || depth < 3 && strings.HasSuffix(frame.Function, ".(*Node).take")
		if depth >= 3 && !takes || !more {
			return -1
		}
		if lane := slices.Index(laneNames[:], frame.Function); lane >= 0 {
			return lane
		}
	}
}

func clamp(t time.Time) time.Time {
	if t.Before(gameid.Epoch()) {
		return gameid.Epoch()
	}
	if t.After(gameid.Last()) {
		return gameid.Last()
	}
	return t
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// heard notes that the node is told the registry's clock. It goes by that
// until it is told another that its own agrees with.
func (c *clock) heard(registry time.Time) {
	now, wall := c.sinceStart(), c.wall.at(time.Now())
	if c.p.state == opening || wall.Sub(registry).Abs() <= c.p.opts.MaxSkew {
		c.registry = clamp(registry).Add(-now)
	}
}

// reading notes that the node is shown wall. A node may, and must, follow a
// wall clock that is ahead of the registry's by no more than MaxSkew.
func (c *clock) reading(wall time.Time) {
	c.shown = wall
	base := clamp(wall).Add(-c.sinceStart())
	if c.fresh {
		// Here it decides where to begin.
		c.fresh, c.compared = false, wall
		c.low, c.most = base, base
		begin, _ := gameid.MillisOf(latest(clamp(wall), clamp(c.p.conn.loaded.Now)))
		c.p.conn.loaded.begin = begin + max(c.p.conn.loaded.Window, c.p.opts.Window, c.p.window).Milliseconds()
		return
	}
	if base.Sub(c.registry) <= c.p.opts.MaxSkew {
		c.low, c.most = base, latest(c.most, base)
		for _, m := range c.p.minters {
			m.low = earliest(m.low, base)
		}
	}
}

// horizon is the last time, in milliseconds, that the node may reserve now
// unless a clock was set back: the later of the two clocks, and the window.
func (c *clock) horizon(window time.Duration) int64 {
	ms, _ := gameid.MillisOf(clamp(latest(c.most, c.registry).Add(c.sinceStart())))
	return ms + window.Milliseconds()
}

// now is the time, in milliseconds, that an ID must have now at least.
func (c *clock) now() int64 {
	ms, _ := gameid.MillisOf(clamp(c.low.Add(c.sinceStart())))
	return ms
}
