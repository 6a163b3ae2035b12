package sim

import (
	"context"
	"time"

	"mergesafe/gameid"
)

// process is a game server's process, from its start to its end. The world's
// mutex guards it.
type process struct {
	w       *world
	id      int
	machine int
	opts    gameid.Options
	clock   *clock
	conn    *conn
	node    *gameid.Node
	kinds   []kind

	state   state
	gone    bool          // it has ended, and whoever looks at its machine can see that
	dead    chan struct{} // closed when it crashes
	crash   crash         // when it is to crash by itself
	frozen  chan struct{} // nil, or closed when it thaws
	slept   time.Duration // how long it was frozen, up to since
	since   time.Time
	peeking bool // the world looks at its node's statistics

	started  time.Time
	ended    time.Time     // zero as long as it lives
	base     int64         // its ranges began after this
	begun    time.Time     // when it had read the row that it began with
	window   time.Duration // as it claims
	moved    bool          // it was led from one database to another
	lost     bool          // its lease, as it found when it closed, or before
	gaveBack bool          // the database has carried out that it gives its lease back
	stopped  bool          // its owner stopped its node
	minters  map[int]*minter
	last     word   // the greatest ID that a call returned
	minted   []span // in the order in which calls returned
}

type state int

const (
	opening state = iota
	live
	closing
	over
)

type crash int

const (
	noCrash crash = iota
	crashBeforeWrite
	crashAfterWrite
)

// running waits while the process is frozen. It returns an error if it crashed.
func (p *process) running() error {
	for {
		p.w.mu.Lock()
		frozen := p.frozen
		p.w.mu.Unlock()
		if frozen != nil {
			select {
			case <-frozen:
			case <-p.dead:
			}
		}
		select {
		case <-p.dead:
			return errDead
		default:
			if frozen == nil {
				return nil
			}
		}
	}
}

func (p *process) crashed() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// asleep is how long the process was frozen up to now.
func (p *process) asleep() time.Duration {
	if p.frozen == nil {
		return p.slept
	}
	return p.slept + time.Since(p.since)
}

// end notes that the process has ended. The world's mutex is held.
func (p *process) end() { p.gone, p.state, p.ended = true, over, time.Now() }

// die ends the process at once. What its node still does reaches nobody.
func (p *process) die() {
	if p.gone {
		return
	}
	p.end()
	close(p.dead)
	p.w.finish(p, -1, func() {
		p.w.note(p, "is dead")
		if p.node != nil {
			go p.node.Close()
		}
	})
}

// freeze stops the process; with it its measure of time, where the machine is
// suspended.
func (p *process) freeze(suspend bool) {
	now := time.Now()
	p.frozen, p.since = make(chan struct{}), now
	if suspend {
		p.clock.elapsed.set(now, p.clock.elapsed.at(now), 0)
	}
}

func (p *process) thaw() {
	now := time.Now()
	p.slept += now.Sub(p.since)
	if p.clock.elapsed.rate == 0 {
		p.clock.elapsed.set(now, p.clock.elapsed.at(now), rightRate)
	}
	close(p.frozen)
	p.frozen = nil
}

// start opens a node in a new process. It is done when the world says so.
func (w *world) start(db *database, machine int, opts gameid.Options, wall time.Time, wait time.Duration) *process {
	w.mu.Lock()
	p := &process{
		w: w, id: len(w.procs), started: time.Now(), machine: machine, opts: opts,
		dead: make(chan struct{}), minters: make(map[int]*minter),
	}
	p.clock = newClock(p, time.Now(), wall)
	p.conn = &conn{p: p, db: db, rnd: w.random()}
	p.opts.Clock = p.clock
	w.procs = append(w.procs, p)
	w.log(p, "starts on machine %d at database %d, its clock %s off", machine, db.name, time.Until(wall))
	w.mu.Unlock()

	go func() {
		ctx := context.Background()
		if wait > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, wait)
			defer cancel()
		}
		began := time.Now()
		node, err := gameid.OpenNode(ctx, w.server, p.conn, p.opts)
		var kinds []kind
		if err == nil {
			kinds = kindsOf(node)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		awake := time.Since(began) - p.asleep()
		p.node = node
		if p.gone {
			if node != nil {
				go node.Close()
			}
			return
		}
		if err == nil {
			p.state, p.kinds = live, kinds
		} else {
			p.end()
		}
		w.finish(p, -1, func() { w.opened(p, awake, err) })
	}()
	return p
}

// close closes the node of a live process, which then ends.
func (w *world) close(p *process) {
	w.mu.Lock()
	p.state = closing
	began, slept := time.Now(), p.asleep()
	w.log(p, "closes")
	w.mu.Unlock()
	go func() {
		lost := p.node.Err()
		err := p.node.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		if p.gone {
			return
		}
		awake := time.Since(began) - (p.asleep() - slept)
		p.end()
		w.finish(p, -1, func() { w.closed(p, awake, lost, err) })
	}()
}
