package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"mergesafe/gameid"
)

// database is a game's database: the row of the world's server, and the IDs
// that were stored. The world's mutex guards it.
type database struct {
	w       *world
	name    int
	clock   hand
	down    bool
	row     row
	before  []former // for replicas that lag
	stored  []span   // IDs in the tables
	floor   int64    // the largest time among them
	rewound time.Time
	copies  []snapshot
}

type row struct {
	epoch, reserved int64
	window          time.Duration
	holder          gameid.Holder
	until           time.Time
	wrong           bool // the clock was, when until was written
}

// former is what the row was until some time.
type former struct {
	row
	until time.Time
}

// snapshot is a copy of a database.
type snapshot struct {
	row    row
	stored []span
	floor  int64
	known  []*grant
}

// grant is a range of times, from and to included, that a database gave to a
// process, which uses it from use on. It is known to those databases that
// remember it.
type grant struct {
	p             *process
	from, use, to int64
	begun         time.Time // when the process had read the row that it began on
	asked         time.Time // when the process decided on it
	known         map[*database]bool
}

func (db *database) now() time.Time { return db.clock.at(time.Now()) }

// view is the row as a process sees it.
type view struct {
	gameid.Record
	dead  bool      // the holder ended on the machine of the process
	read  time.Time // when the process had it
	begin int64     // the second defence: a node that opens on it begins after this
}

// load reads the row as it was lag ago, as a replica has it.
func (db *database) load(p *process, lag time.Duration) view {
	row := db.row
	for i := len(db.before) - 1; i >= 0 && time.Since(db.before[i].until) < lag; i-- {
		row = db.before[i].row
	}
	v := view{Record: gameid.Record{
		Epoch: row.epoch, Reserved: row.reserved, Window: row.window, Holder: row.holder, LeaseUntil: row.until, Now: db.now(),
	}}
	if holder := db.w.tokens[v.Holder.Token]; holder != nil && holder.gone && holder.machine == p.machine && v.Holder.Process != "" {
		// All processes of the world are one, which is alive. The name of one
		// with another start time is that of a dead one.
		v.Holder.Process += "0"
		v.dead = true
	}
	return v
}

func (db *database) compareAndSet(p *process, basis view, starting bool, asked time.Time, over gameid.Record, c gameid.Claim) bool {
	if db.row.epoch != over.Epoch || db.row.holder.Token != over.Holder.Token {
		return false
	}
	db.account(p, basis, starting, asked, c)
	db.before = append(db.before, former{db.row, time.Now()})
	db.row = row{epoch: over.Epoch + 1, reserved: c.Reserved, window: c.Window, holder: c.Holder, until: db.now().Add(c.Lease), wrong: !db.now().Equal(time.Now())}
	return true
}

func (db *database) store(spans []span) {
	db.stored = append(db.stored, spans...)
	for _, s := range spans {
		db.floor = max(db.floor, s.last.ms())
	}
}

func (db *database) copy() snapshot {
	s := snapshot{row: db.row, stored: db.stored[:len(db.stored):len(db.stored)], floor: db.floor}
	for _, g := range db.w.grants {
		if g.known[db] {
			s.known = append(s.known, g)
		}
	}
	return s
}

// become makes the database what it was when it was copied. It no longer knows
// what it granted since.
func (db *database) become(s snapshot) {
	db.row, db.before, db.stored, db.floor = s.row, nil, s.stored, s.floor
	for _, g := range db.w.grants {
		delete(g.known, db)
	}
	for _, g := range s.known {
		g.known[db] = true
	}
	db.rewound = time.Now()
}

// conn is a process's connection to a database: the registry as its node sees
// it. The world's mutex guards it.
type conn struct {
	p   *process
	db  *database
	rnd *rand.Rand

	floor   int64         // that the node was told
	loaded  view          // what the node last read
	took    time.Duration // how long that took, by the clock of the process
	newest  time.Time     // the latest registry's time that it read
	asked   int64         // the largest mark that it asked for
	failing error         // why its newest attempt failed, if it did
}

var _ gameid.Floorer = (*conn)(nil)

// weather is how likely a call to a database suffers each fault.
type weather struct{ request, answer, late, slow, stale float64 }

// fate is what becomes of one call.
type fate struct {
	kind        string
	there, back time.Duration // how long the request and the answer take
	lost, mute  bool          // the request, the answer does not arrive
	lag         time.Duration // a read is answered by a replica that lags by this
	fails       time.Duration // the caller gets an error after this; 0: it does not
}

// Errors that a simulated database or connection gives.
var (
	errLost    = errors.New("the connection was lost")
	errRefused = errors.New("the database refuses connections")
	errDead    = errors.New("the process is dead")
)

// fate draws what becomes of a call.
func (c *conn) fate(weather weather, timeout, lease time.Duration) fate {
	r := c.rnd
	between := func(a, b time.Duration) time.Duration { return a + time.Duration(r.Int64N(int64(b-a))) }
	quick := min(timeout/8, 2*time.Millisecond)
	f := fate{there: between(quick/16, quick), back: between(quick/16, quick)}
	whole := f.there + f.back
	x := r.Float64()
	hit := func(p float64, kind string) bool {
		if x -= p; x >= 0 {
			return false
		}
		f.kind = kind
		return true
	}
	fails := func(d time.Duration) {
		if r.IntN(2) == 0 {
			f.fails = d // otherwise the caller waits until it gives up
		}
	}
	switch {
	case hit(weather.request, "request lost"):
		f.lost = true
		fails(between(whole/2, 2*whole))
	case hit(weather.answer, "answer lost"):
		f.mute = true
		fails(between(whole/2, 2*whole)) // perhaps before it is carried out
	case hit(weather.late, "request late"):
		if f.there = between(timeout, 8*timeout); r.IntN(8) == 0 {
			f.there = between(timeout, 3*lease)
		}
		fails(between(whole/2, 2*whole))
	case hit(weather.slow, "call slow"):
		f.there, f.back = between(quick, timeout), between(quick, timeout)
	case hit(weather.stale, "read from a replica that lags"):
		f.lag = between(0, 2*timeout)
	}
	return f
}

// Floor implements [gameid.Floorer]. It takes no time: it is asked once, when nothing is
// at stake yet.
func (c *conn) Floor(context.Context, gameid.ServerID) (int64, error) {
	if err := c.p.running(); err != nil {
		return 0, err
	}
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	switch {
	case c.p.state == live:
		c.p.violates("floor: a node that runs asks for it")
	case c.db.down:
		return 0, errRefused
	case c.p.w.plan.floor:
		c.floor = c.db.floor
	}
	return c.floor, nil
}

// Load implements [gameid.Reserver].
func (c *conn) Load(ctx context.Context, _ gameid.ServerID) (gameid.Record, error) {
	w := c.p.w
	w.mu.Lock()
	asked := c.p.clock.sinceStart()
	w.mu.Unlock()
	r := c.call(ctx, "load", func(db *database, f fate) reply { return reply{view: db.load(c.p, f.lag)} })
	if r.err != nil {
		return gameid.Record{}, r.err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c.p.clock.heard(r.view.Now)
	c.loaded, c.took = r.view, c.p.clock.sinceStart()-asked
	c.loaded.read = time.Now()
	c.p.clock.fresh = c.p.state == opening
	c.newest = latest(c.newest, r.view.Now)
	return r.view.Record, nil
}

// CompareAndSet implements [gameid.Reserver].
func (c *conn) CompareAndSet(ctx context.Context, _ gameid.ServerID, row gameid.Record, claim gameid.Claim) (bool, error) {
	p, w := c.p, c.p.w
	w.mu.Lock()
	if !claim.Holder.IsZero() && !p.gone {
		w.tokens[claim.Holder.Token] = p
		p.asks(claim)
	}
	basis, starting, asked := c.loaded, p.state == opening, time.Now()
	w.mu.Unlock()
	r := c.call(ctx, "claim", func(db *database, _ fate) reply {
		ok := db.compareAndSet(p, basis, starting, asked, row, claim)
		w.log(p, "database %d: claim of %d over epoch %d: %t", db.name, claim.Reserved, row.Epoch, ok)
		if ok && p.crash == crashAfterWrite {
			w.fault("crash between write and answer")
			p.die()
		}
		return reply{ok: ok}
	})
	if r.err != nil {
		return false, r.err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c.failing = nil
	if !r.ok {
		c.failing = errOvertaken
	}
	return r.ok, nil
}

var errOvertaken = errors.New("another claim came first")

// reply is what the database answers.
type reply struct {
	view view
	ok   bool
	err  error
}

// call sends a request, which do carries out in the database, and waits for
// the answer, as the weather allows.
func (c *conn) call(ctx context.Context, what string, do func(*database, fate) reply) reply {
	r := c.exchange(ctx, what, do)
	if r.err != nil {
		w := c.p.w
		w.mu.Lock()
		defer w.mu.Unlock()
		c.failing = r.err
		w.log(c.p, "%s: %v", what, r.err)
	}
	return r
}

func (c *conn) exchange(ctx context.Context, what string, do func(*database, fate) reply) reply {
	p, w := c.p, c.p.w
	if err := p.running(); err != nil {
		return reply{err: err}
	}
	if err := ctx.Err(); err != nil {
		return reply{err: err}
	}
	w.mu.Lock()
	db := c.db
	f := c.fate(w.weather, timeoutOf(p.opts), leaseOf(p.opts))
	if f.kind != "" {
		w.fault(f.kind)
	}
	w.log(p, "%s at database %d %s", what, db.name, f.kind)
	answer := make(chan reply, 1)
	if !f.lost {
		w.inFlight = latest(w.inFlight, time.Now().Add(f.there+f.back))
		time.AfterFunc(f.there, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			r := reply{err: errRefused}
			if db.down {
				w.fault("call to a database that is away")
			} else {
				r = do(db, f)
			}
			if !f.mute {
				time.AfterFunc(f.back, func() { answer <- r })
			}
		})
	}
	if what == "claim" && p.crash == crashBeforeWrite {
		w.fault("crash with a claim on the way")
		p.die()
	}
	w.mu.Unlock()

	var fails <-chan time.Time
	if f.fails > 0 {
		fails = time.After(f.fails)
	}
	var r reply
	select {
	case r = <-answer:
	case <-fails:
		r.err = errLost
	case <-ctx.Done():
		r.err = ctx.Err()
	case <-p.dead:
	}
	if err := p.running(); err != nil {
		return reply{err: err}
	}
	if r.err == nil && ctx.Err() != nil && c.rnd.IntN(2) == 0 {
		r = reply{err: ctx.Err()} // it was frozen when the answer came
	}
	return r
}

// grant notes that the database gave a range.
func (db *database) grant(is *grant) {
	p, w := is.p, db.w
	if is.from > is.to {
		return
	}
	for _, g := range w.grants {
		if g.p == p {
			continue
		}
		if g.known[db] && g.from <= g.to && g.to >= is.from && g.from <= is.to {
			p.violates("ranges: it got %d to %d, but %s has %d to %d", is.from, is.to, g.p, g.from, g.to)
		}
		if g.use <= g.to && is.use <= is.to && g.to >= is.use && g.use <= is.to {
			w.overlap(is, g)
		}
	}
	is.known = map[*database]bool{db: true}
	w.grants = append(w.grants, is)
}

// overlap notes that two processes may use the same times, because the database
// forgot about one of them. The second defence keeps them apart all the same:
// the later one begins beyond all that the other had decided to reserve by then.
// It takes a wrong clock to break it, or two that live side by side.
func (w *world) overlap(a, b *grant) {
	if a.begun.Before(b.begun) {
		a, b = b, a
	}
	why := ""
	switch {
	case b.asked.After(a.begun):
		why = twoLive
	case w.clocksWrong:
		why = wrongClock
	case a.p.window < w.widest:
		why = lowered
	default:
		w.violates("second defence: %s begins with %d, and %s had reserved %d to %d before", a.p, a.use, b.p, b.use, b.to)
	}
	if key := [2]*process{a.p, b.p}; w.forks[key] != twoLive { // the one that says least
		w.forks[key] = why
	}
}

// Why two processes may use the same times after a database forgot.
const (
	twoLive    = "two nodes were alive at the same time"
	wrongClock = "a clock was wrong too"
	lowered    = "Options.Window had been lowered, and the row did not tell"
)

// forget makes the database forget what it granted beyond mark.
func (db *database) forget(mark int64) {
	for _, g := range db.w.grants {
		if g.to > mark {
			delete(g.known, db)
		}
	}
}
