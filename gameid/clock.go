package gameid

import "time"

// Clock gives a [Node] the time. As long as the registry keeps what it has confirmed, the
// node does not issue an ID twice, whatever a Clock returns: the clock decides only which times
// the IDs carry. If the registry forgets, IDs do not repeat unless the clock is wrong: see [Node].
type Clock interface {
	// Wall is the time of day. It may be wrong, and may step forward or back.
	Wall() time.Time

	// Elapsed is the time since a moment that is fixed for this Clock. It
	// never goes back. It may stand still while the machine is suspended.
	Elapsed() time.Duration
}

// SystemClock returns the clock of this machine. Embed it to change one of its
// methods in a test.
func SystemClock() Clock { return systemClock{start: time.Now()} }

type systemClock struct{ start time.Time }

func (systemClock) Wall() time.Time          { return time.Now() }
func (c systemClock) Elapsed() time.Duration { return time.Since(c.start) }

// moment is what both clocks show.
type moment struct {
	wall    time.Time
	elapsed time.Duration
}

func (m moment) add(d time.Duration) moment { return moment{m.wall.Add(d), m.elapsed + d} }

// after returns how long m is after another moment by the clock by which it is less, 0 if it is
// not: while the machine sleeps, one of them may stand still.
func (m moment) after(o moment) time.Duration {
	return max(0, min(m.elapsed-o.elapsed, m.wall.Sub(o.wall)))
}

// bothClocks reads the clocks. A pause between two readings would count as a step of the
// wall clock, so it reads again, up to four times, until they lie less than half a
// millisecond apart. What then remains of a pause makes wall earlier than it is, never later.
func bothClocks(c Clock) (m moment) {
	const near = 500 * time.Microsecond
	for range 4 {
		before := c.Elapsed()
		m = moment{c.Wall(), c.Elapsed()}
		if m.elapsed-before < near {
			break
		}
	}
	return m
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// nanos is time since the epoch. Unlike time.Duration, which ends after 292
// years, it reaches to the end of the layout.
type nanos uint64

// nanosOf returns t as time since the epoch, limited to the layout.
func nanosOf(t time.Time) nanos {
	switch {
	case t.Before(Epoch()):
		return 0
	case t.After(Last()):
		return nanos(MaxMillis) * nanos(time.Millisecond)
	}
	return nanos(t.Unix()-EpochMillis/1000)*nanos(time.Second) + nanos(t.Nanosecond())
}

func (n nanos) millis() int64 { return int64(n / nanos(time.Millisecond)) }

// sub returns n - m, limited to what time.Duration can hold.
func (n nanos) sub(m nanos) time.Duration {
	const most = nanos(1<<63 - 1)
	if n < m {
		return -time.Duration(min(m-n, most))
	}
	return time.Duration(min(n-m, most))
}
