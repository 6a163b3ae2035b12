package sim

import (
	"time"

	"mergesafe/gameid"
)

// plan is what a world is like. Most worlds know only some of the faults:
// that shows more than a little of everything everywhere.
type plan struct {
	opts        gameid.Options
	actions     int
	weights     []int
	budget      int     // IDs for bursts
	store       float64 // how many of the IDs are stored in the database
	floor       bool    // the database looks for the largest ID in its tables
	holdUp      float64 // how often a goroutine is held up
	fix         float64 // how often a fault is ended
	skew        time.Duration
	rightClocks bool       // no clock is ever wrong
	weathers    [2]weather // fair and foul
}

// slowest is the lowest rate at which a process measures time.
const slowest = rightRate / 2

func pick[T any](w *world, of ...T) T { return of[w.rnd.IntN(len(of))] }

func (w *world) chance(p float64) bool { return w.rnd.Float64() < p }

func (w *world) options(burst bool) gameid.Options {
	window := pick(w, 100*time.Millisecond, 300*time.Millisecond, time.Second, 3*time.Second, 10*time.Second, 30*time.Second)
	if burst {
		window = pick(w, 100*time.Millisecond, 200*time.Millisecond)
	}
	return gameid.Options{
		Window:  window,
		MaxSkew: pick(w, 5*time.Minute, time.Hour, 2*window, 3*window, 10*window),
	}
}

// How long a lease lasts, and a call to the registry may take, as documented.
func leaseOf(o gameid.Options) time.Duration   { return o.Window * 3 / 2 }
func timeoutOf(o gameid.Options) time.Duration { return o.Window / 4 }

func (w *world) draw() {
	burst := w.chance(0.1)
	p := &w.plan
	p.opts = w.options(burst)
	p.actions = 40 + w.rnd.IntN(100)
	if burst {
		p.budget = 1 << 21
	}
	p.fix = pick(w, 0.1, 0.3, 0.5)
	p.floor = w.chance(0.7)
	p.store = pick(w, 0, 0.5, 1)
	if w.chance(0.5) {
		p.holdUp = 0.02
	}
	if w.chance(0.5) {
		p.skew = time.Duration(w.rnd.Int64N(int64(min(p.opts.MaxSkew/2, time.Minute))))
	}
	replicas := w.chance(0.2)
	for i := range p.weathers {
		most := []float64{0.03, 0.4}[i]
		odds := func() float64 {
			if w.chance(0.4) {
				return 0
			}
			return most * w.rnd.Float64()
		}
		p.weathers[i] = weather{odds(), odds(), odds(), odds(), 0}
		if replicas {
			p.weathers[i].stale = odds()
		}
	}
	copies := w.chance(0.25)
	if p.rightClocks = w.chance(0.2) || copies && w.chance(0.5); p.rightClocks {
		p.skew = 0
	}
	for _, a := range actions() {
		weight := a.weight * (1 + w.rnd.IntN(3))
		if a.weight < usual && w.chance(0.4) || a.copies && !copies || a.clocks && p.rightClocks {
			weight = 0
		}
		p.weights = append(p.weights, weight)
	}
	w.weather = p.weathers[0]
	w.clocksWrong = p.skew > 0
	w.server = 1 + gameid.ServerID(w.rnd.IntN(int(gameid.MaxServer)))
}
