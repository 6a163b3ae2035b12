package gameid

import (
	"math"
	"time"
)

// clockStep is the least change of the wall clock against the elapsed time
// that counts as a step, not as drift.
const clockStep = 10 * time.Millisecond

// bothClocks reads the wall clock and the elapsed time of one moment. A pause
// between two readings would count as a step of the wall clock, so it reads
// again, up to four times, until they lie less than half a millisecond apart.
// What then remains of a pause makes wall earlier than it is, never later.
func bothClocks(c Clock) (wall time.Time, elapsed time.Duration) {
	const near = 500 * time.Microsecond
	shortest := time.Duration(math.MaxInt64)
	before := c.Elapsed()
	for range 4 {
		w := c.Wall()
		after := c.Elapsed()
		if took := after - before; took < shortest {
			wall, elapsed, shortest = w, after, took
		}
		if shortest < near {
			break
		}
		before = after
	}
	return wall, elapsed
}

// readClock follows the wall clock if it is within Options.MaxSkew of registry,
// which is the registry's clock now or zero if that was not read, or of the
// registry's clock as last read plus the time since. So a clock that jumps by
// years, or by minutes again and again, does not use up the layout. It reports
// whether the wall clock is followed. Callers hold mu.
func (n *Node) readClock(registry time.Time) bool {
	wall, elapsed := bothClocks(n.clock)
	is := nanosOf(wall)
	agrees := !registry.IsZero() && wall.Sub(registry).Abs() <= n.opts.MaxSkew
	if agrees {
		n.hear(registry, elapsed)
	} else if is.sub(n.lease.clock+nanos(elapsed)).Abs() > n.opts.MaxSkew {
		n.counts.refused = wall
		return false
	}
	n.counts.refused = time.Time{}
	if step := is.sub(nanos(n.shift.Load()) + nanos(elapsed)); step.Abs() >= clockStep {
		n.counts.steps++
		n.lease.doubt = n.lease.doubt || step < 0
	}
	n.shift.Store(uint64(is - nanos(elapsed)))
	return true
}

// hear notes the registry's clock at an elapsed time. Callers hold mu.
func (n *Node) hear(registry time.Time, elapsed time.Duration) {
	n.lease.clock, n.lease.heard = nanosOf(registry)-nanos(elapsed), elapsed
}
