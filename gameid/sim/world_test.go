package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/gameid"
)

// world is one simulated world. One goroutine drives it: it draws what happens
// next, lets it happen, and waits until nothing moves. Whatever runs besides
// is started by it, or by a timer; no two timers fire at the same nanosecond,
// so a seed gives the same events every time.
type world struct {
	seed   uint64
	rnd    *rand.Rand // for the driver only
	began  time.Time
	server gameid.ServerID
	plan   plan

	mu       sync.Mutex
	dbs      []*database
	procs    []*process
	tokens   map[string]*process // by the token of the node's holder
	grants   []*grant
	forks    map[[2]*process]string // whose ranges overlap, and why they may: see doc.go
	weather  weather
	inFlight time.Time // when the last request now under way will have ended
	parked   []*minter
	finished []finished
	signal   chan struct{}

	clocksWrong bool          // a clock was, at some time
	widest      time.Duration // the largest window that a process reserved with
	events      []event
	broken      string // the promise that was not kept
	ids         uint64
	tally       tally
}

// finished is something that ended and that the driver is to look at.
type finished struct {
	p    *process
	lane int
	look func()
}

// event is a line of the trace.
type event struct {
	at     time.Duration
	p      int // -1: the world
	format string
	args   []any
}

func (e event) String() string {
	who := "world"
	if e.p >= 0 {
		who = fmt.Sprintf("p%d", e.p)
	}
	return fmt.Sprintf("%14.6fs  %-5s  %s", e.at.Seconds(), who, fmt.Sprintf(e.format, e.args...))
}

// trace returns what happened, in order. Events of one instant are put in the
// order of the processes: their goroutines ran side by side.
func (w *world) trace() []event {
	slices.SortStableFunc(w.events, func(a, b event) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.p - b.p
	})
	return w.events
}

// simulate lets the world of a seed live from its beginning to its end.
func simulate(t *testing.T, seed uint64) *world {
	w := &world{
		seed: seed, rnd: rand.New(rand.NewPCG(seed, 1)),
		tokens: make(map[string]*process), forks: make(map[[2]*process]string),
		tally: newTally(),
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)))
		w.began, w.signal = time.Now(), make(chan struct{}, 1)
		w.addDatabase()
		w.live()
		w.end()
		w.tally.lived = time.Since(w.began)
	})
	w.verify()
	for _, db := range w.dbs[1:] {
		if err := w.seenByMergeCheck(w.dbs[0], db); err != nil {
			w.violates("merge check: %v", err)
		}
	}
	return w
}

func (w *world) addDatabase() *database {
	now := time.Now().Round(0)
	db := &database{w: w, name: len(w.dbs), clock: hand{now, now, rightRate}}
	w.dbs = append(w.dbs, db)
	return db
}

// random returns a source of randomness of its own for a part of the world.
func (w *world) random() *rand.Rand { return rand.New(rand.NewPCG(w.rnd.Uint64(), w.rnd.Uint64())) }

// log adds to the trace. The mutex is held.
func (w *world) log(p *process, format string, args ...any) {
	id := -1
	if p != nil {
		id = p.id
	}
	w.events = append(w.events, event{time.Since(w.began), id, format, args})
}

// note is log without the mutex.
func (w *world) note(p *process, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(p, format, args...)
}

// fault counts a fault. The mutex is held.
func (w *world) fault(kind string) { w.tally.faults[kind]++ }

// violates notes that a promise was not kept. The mutex is held.
func (w *world) violates(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
	w.log(nil, "VIOLATION: "+format, args...)
}

// failed tells whether a promise was not kept.
func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken != ""
}

// finish hands something that ended to the driver. The mutex is held.
func (w *world) finish(p *process, lane int, look func()) {
	w.finished = append(w.finished, finished{p, lane, look})
	w.wake()
}

// wake makes the driver look around.
func (w *world) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// sleep lets time pass.
func (w *world) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			w.settle()
			return
		case <-w.signal:
			w.settle()
		}
	}
}

// settle goes on until nothing moves any more at this instant. Of the minters
// that are about to take an ID it lets go one at a time.
func (w *world) settle() {
	for {
		synctest.Wait()
		w.look()
		m := w.turn()
		if m == nil {
			return
		}
		close(m.resume)
	}
}

// look looks at what ended, in an order that does not depend on which
// goroutine was faster.
func (w *world) look() {
	for {
		w.mu.Lock()
		ended := w.finished
		w.finished = nil
		w.mu.Unlock()
		if ended == nil {
			return
		}
		slices.SortStableFunc(ended, func(a, b finished) int {
			if a.p != b.p {
				return a.p.id - b.p.id
			}
			return a.lane - b.lane
		})
		for _, e := range ended {
			e.look()
		}
		synctest.Wait()
	}
}

// turn chooses the minter that goes on next, or nil. Now and then one is held
// up.
func (w *world) turn() *minter {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.parked, func(a, b *minter) int {
		if a.p != b.p {
			return a.p.id - b.p.id
		}
		return a.lane - b.lane
	})
	for {
		var ready []int
		for i, m := range w.parked {
			if m.p.gone || m.p.frozen == nil && !time.Now().Before(m.until) {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			return nil
		}
		i := ready[w.rnd.IntN(len(ready))]
		m := w.parked[i]
		if !m.p.gone && m.until.IsZero() && w.rnd.Float64() < w.plan.holdUp {
			d := w.upTo(2 * leaseOf(m.p.opts))
			w.fault("goroutine held up")
			w.log(m.p, "lane %d is held up for %s", m.lane, d)
			m.until = time.Now().Add(d)
			time.AfterFunc(d, w.wake)
			continue
		}
		w.parked = slices.Delete(w.parked, i, i+1)
		w.tally.turns++
		m.waited += time.Since(m.parked)
		m.until = time.Time{}
		return m
	}
}

// upTo returns a duration up to d, of any magnitude.
func (w *world) upTo(d time.Duration) time.Duration {
	d >>= w.rnd.IntN(12)
	return 1 + time.Duration(w.rnd.Int64N(int64(d)))
}

// end kills what is still there, so that all goroutines end.
func (w *world) end() {
	w.mu.Lock()
	for _, p := range w.procs {
		p.die()
		p.rightClock()
	}
	w.mu.Unlock()
	w.settle()
	w.sleep(time.Second) // some may wait for their clock to open
	for _, p := range w.procs {
		if len(p.minters) > 0 {
			p.violates("time: a call did not return even when the node was closed")
			panic(w.report()) // these goroutines cannot be ended
		}
	}
}

// living returns the processes for which f is true.
func (w *world) living(f func(*process) bool) []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []*process
	for _, p := range w.procs {
		if !p.gone && f(p) {
			found = append(found, p)
		}
	}
	return found
}
