package sim

import (
	"errors"
	"time"

	"mergesafe/gameid"
)

// action is something that the driver may do. do returns false where it makes
// no sense.
type action struct {
	weight int
	copies bool // it makes a database forget, or two of one
	clocks bool // it makes a clock wrong
	do     func(*world) bool
}

// usual is the weight from which an action is part of every world.
const usual = 20

// actions returns all that may happen in a world.
func actions() []action {
	return []action{
		{weight: 120, do: (*world).someMint},
		{weight: 12, do: (*world).mintAtTheCap},
		{weight: 8, do: (*world).someStart},
		{weight: 6, do: (*world).startTwice},
		{weight: 6, do: (*world).someClose},
		{weight: 2, do: (*world).someStop},
		{weight: 10, do: (*world).someCrash},
		{weight: 8, do: (*world).someFreeze},
		{weight: 10, clocks: true, do: (*world).stepClock},
		{weight: 3, clocks: true, do: (*world).jumpClock},
		{weight: 5, clocks: true, do: (*world).runClock},
		{weight: 3, clocks: true, do: (*world).stepDatabaseClock},
		{weight: 8, do: (*world).databaseDown},
		{weight: 10, do: (*world).changeWeather},
		{weight: 8, do: (*world).inspect},
		{weight: 10, copies: true, do: (*world).copyDatabase},
		{weight: 6, copies: true, do: (*world).restoreDatabase},
		{weight: 6, copies: true, do: (*world).loseRow},
		{weight: 10, copies: true, do: (*world).loseCommits},
		{weight: 2, copies: true, do: (*world).cloneDatabase},
		{weight: 3, copies: true, do: (*world).moveProcess},
	}
}

// fixes end what some actions began.
var fixes = []func(*world) bool{(*world).someThaw, (*world).rightClock, (*world).rightDatabaseClock, (*world).databaseUp}

// act does something, or fixes something.
func (w *world) act() {
	if w.chance(w.plan.fix) && pick(w, fixes...)(w) {
		return
	}
	actions, total := actions(), 0
	for _, weight := range w.plan.weights {
		total += weight
	}
	for range 8 {
		x := w.rnd.IntN(total)
		for i, weight := range w.plan.weights {
			if x -= weight; x < 0 {
				if actions[i].do(w) {
					return
				}
				break
			}
		}
	}
}

// one returns one of the processes for which f is true, or nil.
func (w *world) one(f func(*process) bool) *process {
	found := w.living(f)
	if len(found) == 0 {
		return nil
	}
	return pick(w, found...)
}

func anyone(*process) bool   { return true }
func isLive(p *process) bool { return p.state == live && p.frozen == nil }

func (w *world) someMint() bool {
	p := w.one(isLive)
	if p == nil {
		return w.someStart()
	}
	if p.node.Err() != nil && w.chance(0.3) {
		w.close(p) // there is nothing more to come
		return true
	}
	lanes := 1
	if w.chance(0.2) {
		lanes = 3
	}
	for range lanes {
		j := job{kind: w.rnd.IntN(3), calls: 1, stale: w.chance(0.5)}
		switch x := w.rnd.IntN(20); {
		case x < 9:
			j.calls = 1 + w.rnd.IntN(8)
		case x < 15:
			j.size, j.calls = 1+w.rnd.IntN(200), 1+w.rnd.IntN(3)
		case x < 18 || w.plan.budget <= 0:
			j.size = 1 + w.rnd.IntN(4000)
		default:
			j.size = 1 + w.rnd.IntN(1<<17)
			j.calls = 1 + w.rnd.IntN(4)
			w.plan.budget -= j.size * j.calls
		}
		w.mint(p, j)
	}
	return true
}

// mintAtTheCap mints all that is reserved, and then some more at once.
func (w *world) mintAtTheCap() bool {
	p := w.one(isLive)
	if p == nil {
		return false
	}
	size := int(p.stats().Left.Milliseconds()+1) << gameid.SequenceBits
	if size > w.plan.budget {
		return false
	}
	w.plan.budget -= size
	w.mint(p, job{size: size, calls: 1})
	w.settle()
	w.sleep(w.upTo(60 * time.Microsecond))
	w.mint(p, job{calls: 3})
	return true
}

func (w *world) someStart() bool {
	db := pick(w, w.dbs...)
	if len(w.living(anyone)) >= 5 || db.down && w.chance(0.8) {
		return false
	}
	w.startOne(db, w.rnd.IntN(3))
	return true
}

func (w *world) startOne(db *database, machine int) {
	opts, wall, wait := w.plan.opts, time.Now().Round(0), time.Duration(0)
	if w.chance(0.1) {
		// All processes of a server have one limit, or one that crashed could
		// leave a mark that is too far ahead for the next.
		for skew, window := opts.MaxSkew, opts.Window; ; {
			opts = w.options(window <= 200*time.Millisecond)
			if opts.MaxSkew = skew; 2*opts.Window <= skew {
				break
			}
		}
	}
	if w.plan.skew > 0 {
		wall = wall.Add(time.Duration(w.rnd.Int64N(int64(2*w.plan.skew))) - w.plan.skew)
	}
	if !w.plan.rightClocks && w.chance(0.05) {
		wall = wall.Add(w.step(w.plan.opts.MaxSkew * 2))
		w.fault("process started with a wrong clock")
		w.clocksWrong = true
	}
	if w.chance(0.1) {
		wait = w.upTo(4 * timeoutOf(opts))
	}
	w.start(db, machine, opts, wall, wait)
}

func (w *world) startTwice() bool {
	if len(w.living(anyone)) >= 4 {
		return false
	}
	db := pick(w, w.dbs...)
	w.fault("two processes started at the same moment")
	w.startOne(db, w.rnd.IntN(3))
	w.startOne(db, w.rnd.IntN(3))
	return true
}

func (w *world) someClose() bool {
	p := w.one(isLive)
	if p == nil {
		return false
	}
	w.close(p)
	return true
}

func (w *world) someStop() bool {
	p := w.one(isLive)
	if p == nil || p.node.Err() != nil {
		return false
	}
	p.node.Fail(errStopped)
	w.mu.Lock()
	defer w.mu.Unlock()
	p.stopped = true
	w.fault("node stopped by its owner")
	w.log(p, "is stopped by its owner")
	return true
}

var errStopped = errors.New("the owner of the node stops it")

func (w *world) someCrash() bool {
	p := w.one(anyone)
	if p == nil {
		return false
	}
	w.mu.Lock()
	if kind := w.rnd.IntN(4); kind == 0 {
		p.crash = crashBeforeWrite
		w.log(p, "is to crash with a claim on the way")
	} else if kind == 1 {
		p.crash = crashAfterWrite
		w.log(p, "is to crash between write and answer")
	} else {
		w.fault("crash")
		w.log(p, "crashes")
		p.die()
	}
	db, gone := p.conn.db, p.gone
	w.mu.Unlock()
	if gone && w.chance(0.6) {
		w.settle()
		machine := p.machine
		if w.chance(0.3) {
			machine = w.rnd.IntN(3)
		}
		w.startOne(db, machine)
	}
	return true
}

func (w *world) someFreeze() bool {
	p := w.one(func(p *process) bool { return p.frozen == nil })
	if p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// A suspended machine fires no timers, which cannot be had here: with a
	// clock that stands still, who waits for it would wake in vain all the time.
	suspend := w.chance(0.5) && len(p.minters) == 0 && !w.plan.rightClocks
	if suspend {
		w.fault("machine suspended")
		w.clocksWrong = true
	} else {
		w.fault("process stopped")
	}
	w.log(p, "freezes, its machine too: %t", suspend)
	p.freeze(suspend)
	return true
}

func (w *world) someThaw() bool {
	p := w.one(func(p *process) bool { return p.frozen != nil })
	if p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(p, "thaws")
	p.thaw()
	return true
}

// step returns by how much a clock steps, of any magnitude up to most.
func (w *world) step(most time.Duration) time.Duration {
	d := w.upTo(most)
	if w.chance(0.5) {
		return -d
	}
	return d
}

func (w *world) stepClock() bool {
	p := w.one(anyone)
	if p == nil {
		return false
	}
	w.setWall(p, "clock stepped", w.step(2*p.opts.MaxSkew))
	return true
}

func (w *world) jumpClock() bool {
	p := w.one(anyone)
	if p == nil {
		return false
	}
	const year = 365 * 24 * time.Hour
	w.setWall(p, "clock jumped by years", pick[time.Duration](w, -20, -5, -1, 1, 10, 100, 290)*year)
	return true
}

func (w *world) setWall(p *process, kind string, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault(kind)
	w.clocksWrong = true
	w.log(p, "%s: %s", kind, d)
	now := time.Now()
	p.clock.wall.set(now, p.clock.wall.at(now).Add(d), p.clock.wall.rate)
}

func (w *world) runClock() bool {
	p := w.one(func(p *process) bool { return p.frozen == nil })
	if p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	rate := pick[int64](w, 0, slowest, rightRate*9/10, rightRate*11/10, 2*rightRate)
	if w.chance(0.5) && rate > 0 {
		w.fault("measured time slow or fast")
		w.clocksWrong = true
		w.log(p, "measures time at %d/%d", rate, rightRate)
		p.clock.elapsed.set(now, p.clock.elapsed.at(now), rate)
		return true
	}
	w.fault("clock stopped, slow or fast")
	w.clocksWrong = true
	w.log(p, "its clock runs at %d/%d", rate, rightRate)
	p.clock.wall.set(now, p.clock.wall.at(now), rate)
	return true
}

func (w *world) rightClock() bool {
	p := w.one(func(p *process) bool { return p.frozen == nil })
	if p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(p, "its clock is set right")
	p.rightClock()
	return true
}

// rightClock sets the clock of a process right. The world's mutex is held.
func (p *process) rightClock() {
	now := time.Now()
	if p.clock.wall.rate <= slowest {
		p.clock.stood = now
	}
	p.clock.wall.set(now, now.Round(0), rightRate)
	p.clock.elapsed.set(now, p.clock.elapsed.at(now), rightRate)
}

func (w *world) stepDatabaseClock() bool {
	db, d := pick(w, w.dbs...), w.step(2*w.plan.opts.MaxSkew)
	if w.chance(0.1) {
		d = pick[time.Duration](w, -10, 1, 10) * 365 * 24 * time.Hour
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault("clock of the database stepped")
	w.clocksWrong = true
	w.log(nil, "the clock of database %d steps by %s", db.name, d)
	now := time.Now()
	db.clock.set(now, db.clock.at(now).Add(d), pick[int64](w, rightRate, rightRate, rightRate*11/10))
	return true
}

func (w *world) rightDatabaseClock() bool {
	db, now := pick(w, w.dbs...), time.Now().Round(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	if db.clock.at(now).Equal(now) && db.clock.rate == rightRate {
		return false
	}
	w.log(nil, "the clock of database %d is set right", db.name)
	db.clock.set(now, now, rightRate)
	return true
}

func (w *world) databaseDown() bool { return w.turnDatabase(true) }
func (w *world) databaseUp() bool   { return w.turnDatabase(false) }

func (w *world) turnDatabase(down bool) bool {
	db := pick(w, w.dbs...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if db.down == down {
		return false
	}
	if db.down = down; down {
		w.fault("database away")
	}
	w.log(nil, "database %d is away: %t", db.name, down)
	return true
}

func (w *world) changeWeather() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.weather
	w.weather = pick(w, w.plan.weathers[:]...)
	w.log(nil, "weather: %v", w.weather)
	return w.weather != was
}

func (w *world) copyDatabase() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	db := pick(w, w.dbs...)
	db.copies = append(db.copies, db.copy())
	w.log(nil, "database %d is copied", db.name)
	return true
}

func (w *world) restoreDatabase() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	db := pick(w, w.dbs...)
	if len(db.copies) == 0 {
		return false
	}
	w.fault("database restored from an older copy")
	db.become(pick(w, db.copies...))
	w.log(nil, "database %d is restored: epoch %d, mark %d", db.name, db.row.epoch, db.row.reserved)
	return true
}

func (w *world) loseRow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	db := pick(w, w.dbs...)
	if db.row.epoch == 0 {
		return false
	}
	w.fault("row lost")
	db.become(snapshot{stored: db.stored, floor: db.floor})
	w.log(nil, "database %d loses the row", db.name)
	return true
}

// loseCommits lets a database forget the last claims that it confirmed.
func (w *world) loseCommits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	db := pick(w, w.dbs...)
	if len(db.before) == 0 {
		return false
	}
	w.fault("commits lost")
	db.row = db.before[max(0, len(db.before)-1-w.rnd.IntN(4))].row
	db.before, db.rewound = nil, time.Now()
	db.forget(db.row.reserved)
	w.log(nil, "database %d loses commits: epoch %d, mark %d", db.name, db.row.epoch, db.row.reserved)
	return true
}

// cloneDatabase makes a second database, from what the first one is or was: a
// replica that is promoted. The first one may be away then.
func (w *world) cloneDatabase() bool {
	if len(w.dbs) >= 3 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	of := pick(w, w.dbs...)
	w.fault("database cloned")
	db := w.addDatabase()
	db.clock = of.clock
	if is := of.copy(); len(of.copies) > 0 && w.chance(0.5) {
		db.become(pick(w, of.copies...))
	} else {
		db.become(is)
	}
	of.down = of.down || w.chance(0.5)
	w.log(nil, "database %d is cloned: %d; it is away: %t", of.name, db.name, of.down)
	return true
}

func (w *world) moveProcess() bool {
	if len(w.dbs) < 2 {
		return false
	}
	p := w.one(anyone)
	if p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault("process led to another copy of the database")
	p.moved, p.conn.db = true, pick(w, w.dbs...)
	w.log(p, "is led to database %d", p.conn.db.name)
	return true
}

// inspect compares a node's statistics with what the world knows.
func (w *world) inspect() bool {
	p := w.one(isLive)
	if p == nil {
		return false
	}
	s, err := p.stats(), p.node.Err()
	w.mu.Lock()
	defer w.mu.Unlock()
	mark, _ := gameid.MillisOf(s.Mark)
	newest, _ := gameid.MillisOf(s.Newest)
	var issued, returned uint64
	for _, n := range s.Minted {
		issued += n
	}
	for _, m := range p.minted {
		returned += uint64(m.last - m.first + 1)
	}
	switch {
	case s.Server != w.server, newest < p.last.ms(), mark < newest, mark > p.conn.asked, s.Left < 0, issued < returned,
		(err == nil) != (s.Lease == gameid.LeaseHeld || s.Lease == gameid.LeaseExpired):
		p.violates("stats: %+v, but the last ID was %s, %d were returned, and its end: %v", s, p.last, returned, err)
	}
	return true
}
