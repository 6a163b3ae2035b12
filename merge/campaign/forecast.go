package campaign

import "time"

// Work is what merges have to do, for a prediction.
type Work struct {
	Merges, Worlds int
	Rows           int64 // of all worlds
}

// What a small machine does, with durable commits. Even without rows there are processes and
// connections to begin, and catalogues to read.
const (
	perMerge        = 400 * time.Millisecond
	perWorld        = 200 * time.Millisecond
	copiedPerSecond = 40_000
	readPerSecond   = 120_000
)

// Typical is how many rows come in a second there: each is copied and read.
const Typical = copiedPerSecond * readPerSecond / (copiedPerSecond + readPerSecond)

// Weight is how long the work takes on a small machine.
func (w Work) Weight() time.Duration {
	return w.fixed() + rows(w.Rows, copiedPerSecond) + rows(w.Rows, readPerSecond)
}

// applyWeight is how long it takes there without the proof.
func (w Work) applyWeight() time.Duration { return w.fixed() + rows(w.Rows, copiedPerSecond) }

func (w Work) fixed() time.Duration {
	return time.Duration(w.Merges)*perMerge + time.Duration(w.Worlds)*perWorld
}

func rows(n, perSecond int64) time.Duration {
	return time.Duration(n*int64(time.Second/time.Microsecond)/perSecond) * time.Microsecond
}

// Rate is how fast merges are: how many rows come in a second, from their copying to
// their proof. What does not depend on rows is faster or slower by as much.
type Rate struct {
	Slowest int64 `json:"slowest"`
	Fastest int64 `json:"fastest"`
}

// DefaultRate holds as long as nothing was measured: machines differ by that, see docs/fleet.md.
var DefaultRate = Rate{Slowest: Typical / 4, Fastest: Typical * 4}

// Takes is how long work of a weight takes, at the least and at the most.
func (r Rate) Takes(weight time.Duration) (least, most time.Duration) {
	at := func(perSecond int64) time.Duration {
		return time.Duration(weight.Microseconds()*Typical/perSecond) * time.Microsecond
	}
	return at(r.Fastest), at(r.Slowest)
}
