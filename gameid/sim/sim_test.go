package sim

import (
	"flag"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

var (
	flagSeeds  = flag.Int("sim.seeds", servertest.Scale(40, 10_000), "simulate this many worlds")
	flagFirst  = flag.Uint64("sim.first", 1, "the seed of the first one")
	flagCoarse = flag.Bool("sim.coarse", false, "nodes do not read their clock for every ID, whose times may be a little before it")
	flagSeed   = flag.Uint64("sim.seed", 0, "simulate only the world of this seed, and tell all that happens in it")
)

// live drives a world through a life with faults, and then through its end,
// when there are none.
func (w *world) live() {
	w.draw()
	w.startOne(w.dbs[0], 0)
	for range w.plan.actions {
		window := w.plan.opts.Window
		w.sleep(w.upTo(pick(w, window/100, window/4, window/4, window/2, 2*window)))
		w.act()
		w.settle()
		if w.failed() {
			return
		}
	}
	w.recover()
}

// recover ends all faults and demands that all is well soon.
func (w *world) recover() {
	w.mu.Lock()
	w.log(nil, "all faults end")
	w.weather, w.plan.holdUp = weather{}, 0
	for _, db := range w.dbs {
		db.down = false
		db.clock.set(time.Now(), time.Now().Round(0), rightRate)
	}
	longest := 2 * leaseOf(w.plan.opts)
	for _, p := range w.procs {
		if p.frozen != nil && !p.gone {
			p.thaw()
		}
		p.crash = noCrash
		p.rightClock()
		longest = max(longest, 2*leaseOf(p.opts))
	}
	for _, m := range w.parked {
		m.until = time.Now()
	}
	longest += max(0, time.Until(w.inFlight))
	w.mu.Unlock()
	w.settle()
	w.sleep(longest)

	holders := make(map[*database]*process)
	for _, p := range w.living(anyone) {
		if p.node == nil || p.node.Err() != nil {
			continue
		}
		w.mu.Lock()
		if other := holders[p.conn.db]; other != nil {
			w.violates("alive: %s and %s are both alive on database %d", other, p, p.conn.db.name)
		} else if holder := w.tokens[p.conn.db.row.holder.Token]; holder != p {
			w.violates("alive: %s is alive, but database %d knows %s", p, p.conn.db.name, holder)
		}
		holders[p.conn.db] = p
		if len(p.minters) > 0 {
			p.violates("recovery: a call still waits for IDs")
		}
		w.mu.Unlock()
		w.mintsWell(p)
	}
	for _, p := range w.living(anyone) {
		w.close(p)
		w.sleep(2 * timeoutOf(p.opts))
		w.endedWell(p)
	}
	for _, db := range w.dbs {
		if !w.failed() {
			w.reopens(db)
		}
	}
}

// mintsWell demands that a node mints, with the right time, now that there are
// no faults.
func (w *world) mintsWell(p *process) {
	before := p.last
	now, _ := gameid.MillisOf(time.Now())
	w.mint(p, job{calls: 3})
	w.sleep(timeoutOf(p.opts) + 5*time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.last == before || p.last.ms() < now {
		p.violates("recovery: it does not mint, or not with the right time: %s, then %s, at %d", before, p.last, now)
	}
}

// endedWell demands that a process that ended holds nothing.
func (w *world) endedWell(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	db := p.conn.db
	holder := w.tokens[db.row.holder.Token]
	switch {
	case !p.gone:
		p.violates("recovery: it does not close")
	case holder == p && !p.lost && !p.stopped && !db.rewound.After(p.started):
		p.violates("recovery: it closed, but the row still says that it is there")
	case p.gaveBack && db.row.reserved < p.last.ms():
		p.violates("recovery: it closed, and the row says %d, but its last ID was %s", db.row.reserved, p.last)
	}
}

// reopens demands that a new process can take the server over. Where a clock
// was wrong before, it may need an operator first.
func (w *world) reopens(db *database) {
	for range 4 {
		p := w.start(db, 0, w.plan.opts, time.Now().Round(0), 0)
		w.sleep(8*timeoutOf(p.opts) + longestWait)
		if p.state == live {
			w.mintsWell(p)
			w.close(p)
			w.sleep(2 * timeoutOf(p.opts))
			w.endedWell(p)
			return
		}
		if rec := p.conn.loaded; !rec.Holder.IsZero() && rec.Now.Before(rec.LeaseUntil) {
			w.way(p, "clear a lease that the database gave with a wrong clock", db.row.wrong)
			w.mu.Lock()
			db.row.until = db.now()
			w.mu.Unlock()
		} else {
			mark := gameid.TimeOf(max(rec.Reserved, p.conn.floor))
			w.way(p, "wait for a mark that a wrong clock left in the future", w.clocksWrong)
			w.sleep(time.Until(mark))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violates("recovery: nobody can open database %d", db.name)
}

// way notes that an operator has to help, and why.
func (w *world) way(p *process, what string, why bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(p, "an operator has to %s", what)
	w.tally.refusals["an operator had to "+what]++
	if !why {
		p.violates("recovery: an operator had to %s, but there was none", what)
	}
}

func TestSimulation(t *testing.T) {
	if *flagSeed != 0 {
		w := simulate(t, *flagSeed)
		var b strings.Builder
		for _, e := range w.trace() {
			fmt.Fprintln(&b, e)
		}
		t.Logf("%s%d IDs; faults: %v; refusals: %v", &b, w.ids, w.tally.faults, w.tally.refusals)
		if w.broken != "" {
			t.Error(w.broken)
		}
		return
	}
	total, began := newTally(), time.Now()
	next, last, failures := *flagFirst, *flagFirst+uint64(*flagSeeds), 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for next < last && failures < 3 {
				seed := next
				next++
				mu.Unlock()
				w := simulate(t, seed)
				mu.Lock()
				total.add(w)
				if w.broken != "" {
					failures++
					t.Error(w.report())
				}
			}
		})
	}
	wg.Wait()
	if total.ids > 0 && total.turns == 0 {
		t.Error("nodes read the clock elsewhere than takingLane knows: the goroutines that mint were not scheduled by the worlds")
	}
	t.Log(total.String(time.Since(began)))
}

// report says what was not kept, how to see it again, and what came before.
func (w *world) report() string {
	const tail = 40
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nto see all of it: go test ./gameid/sim -run TestSimulation -sim.seed %d -v\n", w.broken, w.seed)
	events := w.trace()
	until := 1 + slices.IndexFunc(events, func(e event) bool { return strings.HasPrefix(e.format, "VIOLATION") })
	for _, e := range events[max(0, until-tail):until] {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// A seed gives the same world every time, to the last ID and nanosecond.
func TestSeedReplays(t *testing.T) {
	for seed := uint64(1); seed <= uint64(servertest.Scale(8, 30)); seed++ {
		var sums [2]uint64
		for i := range sums {
			h := fnv.New64a()
			for _, e := range simulate(t, seed).trace() {
				fmt.Fprintln(h, e)
			}
			sums[i] = h.Sum64()
		}
		if sums[0] != sums[1] {
			t.Errorf("the world of seed %d is not the same twice", seed)
		}
	}
}
