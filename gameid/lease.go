package gameid

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// lease is what a node has reserved, and the state of reserving more. Node.mu
// guards it.
type lease struct {
	epoch int64 // of the row, as far as known
	mark  int64 // times up to here are ours, in milliseconds
	reach int64 // how far mark lay ahead of the node when it was set

	// unsure is set when the row may not be what we think it is: the outcome
	// of a compare-and-set is unknown, or one was refused.
	unsure bool

	until   time.Duration // end of the lease, by Clock.Elapsed
	pace    int64         // time of the newest ID when mark was set
	front   nanos         // see frontier
	clock   nanos         // the registry's clock is this + Elapsed, as it was last read and agreed with ours
	failure error         // why the last attempt to reserve failed
	ended   error         // why the node will mint no more
	lost    bool          // another process has the lease
	changed chan struct{} // closed when any of the above may have changed
}

func (l *lease) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// minReach is the least that a renewal reserves beyond the newest ID, in
// milliseconds: 4.2 million IDs. A node whose clock is behind its IDs reserves
// in such small steps, growing with demand, so that a crash loop does not run
// further and further ahead.
const minReach = 64

// OpenNode starts the node of a server: it takes the lease and reserves the
// first times. The caller closes it.
//
// It returns a [*HeldError] if another live process has the number, a
// [*ClockError] if the wall clock disagrees with the registry's, a
// [*MarkError] if times far in the future were reserved before, and a
// [*ServerError] for a bad number. A process that ended without closing its
// node, on this machine, does not count as live (Linux); elsewhere its lease
// has to run out first.
//
// A registry that cannot be read is an error at once. Where it is not known
// whether the claim was made, or another process was faster, OpenNode tries up
// to four times. Each is two calls to the registry, so in the worst case it
// takes 8 times Options.Timeout, 20 s by default; give a ctx that ends sooner
// where that is too long.
func OpenNode(ctx context.Context, server ServerID, r Reserver, opts Options) (*Node, error) {
	if err := server.Validate(); err != nil {
		return nil, err
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{
		server:   server,
		clock:    opts.Clock,
		reserver: r,
		opts:     opts,
		kick:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		idle:     make(chan struct{}),
		done:     make(chan struct{}),
		kinds:    make(map[reflect.Type]*kindCount),
		lease:    lease{changed: make(chan struct{})},
	}
	if n.clock == nil {
		n.clock, n.fresh = SystemClock(), freshCycles()
	}
	wall := n.clock.Wall()
	if _, err := MillisOf(wall); err != nil {
		return nil, fmt.Errorf("the clock of this machine: %w", err)
	}
	n.shift.Store(uint64(nanosOf(wall)) - uint64(n.clock.Elapsed()))
	n.holder = newHolder(wall)
	if err := n.acquire(ctx); err != nil {
		return nil, err
	}
	go n.renewals()
	return n, nil
}

// acquire takes the lease. Where the outcome of a compare-and-set is unknown
// or another process was faster, it looks at the row again.
func (n *Node) acquire(ctx context.Context) error {
	const attempts = 4
	var failure error
	for range attempts {
		ok, err := n.tryAcquire(ctx)
		var unknown *unknownError
		switch {
		case ok:
			return nil
		case err != nil && !errors.As(err, &unknown):
			return err
		case err != nil:
			failure = unknown.cause
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failure == nil {
		failure = fmt.Errorf("other processes changed its row %d times in a row", attempts)
	}
	return fmt.Errorf("gameid: reserving times for server %d: %w", n.server, failure)
}

// unknownError is a compare-and-set whose outcome is unknown.
type unknownError struct{ cause error }

func (e *unknownError) Error() string { return e.cause.Error() }

func (n *Node) tryAcquire(ctx context.Context) (bool, error) {
	load, cancel := context.WithTimeout(ctx, n.opts.Timeout)
	defer cancel()
	asked := n.clock.Elapsed()
	rec, err := n.reserver.Load(load, n.server)
	if err != nil {
		return false, fmt.Errorf("gameid: reading the registry row of server %d: %w", n.server, err)
	}
	other := !rec.Holder.IsZero() && rec.Holder.Token != n.holder.Token
	if other && rec.Now.Before(rec.LeaseUntil) && !rec.Holder.Ended() {
		return false, &HeldError{Server: n.server, Holder: rec.Holder, LeaseUntil: rec.LeaseUntil, Now: rec.Now}
	}
	// The registry read its clock at some moment since it was asked: that the
	// answer took its time is no disagreement.
	elapsed, wall := n.clock.Elapsed(), n.clock.Wall()
	if rec.Now.Before(wall.Add(asked-elapsed-n.opts.MaxSkew)) || rec.Now.After(wall.Add(n.opts.MaxSkew)) {
		return false, &ClockError{Local: wall, Registry: rec.Now, Limit: n.opts.MaxSkew}
	}
	// All of these may have been used. Time 0 is never used, so that a row
	// without a mark needs no case of its own.
	old := max(rec.Reserved, rec.Floor, 0)
	if now := later(wall, rec.Now); TimeOf(old).Sub(now) > n.opts.MaxSkew {
		return false, &MarkError{Server: n.server, Mark: TimeOf(old), Now: now, Limit: n.opts.MaxSkew}
	}

	window := n.opts.Window.Milliseconds()
	// Go by the clock that was compared, which may not be what it was before.
	n.shift.Store(uint64(nanosOf(wall)) - uint64(elapsed))
	mark := min(max(int64(n.now())+window, old+minReach), MaxMillis)
	asked = n.clock.Elapsed()
	set, cancel := context.WithTimeout(ctx, n.opts.Timeout)
	defer cancel()
	ok, err := n.reserver.CompareAndSet(set, n.server, rec, Claim{Reserved: mark, Holder: n.holder, Lease: n.opts.Lease})
	if err != nil {
		return false, &unknownError{err}
	}
	if !ok {
		return false, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.word.Store(uint64(old+1)<<SequenceBits - 1)
	n.lease.front = max(nanos(n.shift.Load()+uint64(asked)), nanos(old+1)*nanos(time.Millisecond)) - nanos(asked)
	n.lease.clock = nanosOf(rec.Now) - nanos(elapsed)
	n.lease.epoch = rec.Epoch
	n.extend(mark, asked)
	return true, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// extend records that times up to mark are ours. Callers hold mu.
func (n *Node) extend(mark int64, asked time.Duration) {
	last := int64(n.word.Load() >> SequenceBits)
	n.lease.epoch++
	n.lease.mark = mark
	n.lease.reach = mark - max(last, int64(n.now()))
	n.lease.pace = last
	n.lease.until = asked + n.opts.Lease
	n.lease.failure = nil
	n.counts.renewals++
	n.raise()
	n.lease.wake()
}

// frontier is where a clock would be that was never behind the IDs and never
// stepped back, in milliseconds. Running ahead is measured against it, so that
// a node whose wall clock was set back mints on as fast as ever. Callers hold
// mu.
func (n *Node) frontier() int64 {
	elapsed := n.clock.Elapsed()
	front := max(n.lease.front+nanos(elapsed), nanos(n.shift.Load())+nanos(elapsed))
	n.lease.front = front - nanos(elapsed)
	return front.millis()
}

// raise sets the limit as far as the reservation and the clock allow, or to 0
// if that leaves no room, and asks for more in good time. It reports whether
// there is room. Callers hold mu.
func (n *Node) raise() bool {
	if n.lease.ended != nil {
		return false
	}
	mark := n.lease.mark
	top := min(mark, n.frontier()+n.opts.Ahead.Milliseconds())
	// The limit stops first half-way to the mark, to ask for the next range
	// before this one is used up.
	if warn := mark - n.lease.reach/2; n.next() < wordOf(warn+1) {
		top = min(top, warn)
	} else if n.lease.failure == nil {
		n.hurry()
	}
	limit := wordOf(top + 1)
	if n.next() >= limit {
		limit = 0
	}
	n.limit.Store(limit)
	return limit != 0
}

func wordOf(ms int64) uint64 { return uint64(ms) << SequenceBits }

// next is the least word that could be issued now.
func (n *Node) next() uint64 { return max(n.word.Load()+1, n.now()<<SequenceBits) }

func (n *Node) hurry() {
	select {
	case n.kick <- struct{}{}:
	default: // it was asked already
	}
}

// await returns nil when there is room for more IDs, and otherwise an error
// that says why there is not.
func (n *Node) await(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for waited := false; ; waited = true {
		if n.lease.ended != nil {
			return n.lease.ended
		}
		n.readClock(time.Time{})
		if n.raise() {
			return nil
		}
		if !waited {
			n.counts.waits++
		}
		var timer <-chan time.Time
		if ahead := n.frontier() + n.opts.Ahead.Milliseconds(); ahead < n.lease.mark {
			// At the cap of the layout: the clock has to move on.
			behind := int64(n.next()>>SequenceBits) - ahead
			timer = time.After(time.Duration(max(behind, 1)) * time.Millisecond)
		} else if n.lease.failure != nil {
			return &ExhaustedError{Server: n.server, Until: TimeOf(n.lease.mark), Cause: n.lease.failure}
		} else if n.lease.mark == MaxMillis {
			return &TimeError{Time: Last().Add(time.Millisecond)}
		} else {
			n.hurry()
		}
		changed := n.lease.changed
		n.mu.Unlock()
		var err error
		select {
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-changed:
		case <-timer:
		}
		n.mu.Lock()
		if err != nil {
			return err
		}
	}
}

// renewals keeps the reservation and the lease ahead of the clock until the
// node ends.
func (n *Node) renewals() {
	defer close(n.idle)
	every := n.opts.Window / 3
	timer := time.NewTimer(every)
	defer timer.Stop()
	retry := every / 32
	for {
		select {
		case <-n.stop:
			return
		case <-n.done:
			return
		case <-n.kick:
		case <-timer.C:
		}
		select {
		case <-n.stop: // these go first: Close waits
			return
		case <-n.done:
			return
		default:
		}
		if err := n.renew(); err != nil {
			timer.Reset(retry)
			retry = min(2*retry, every/2)
		} else {
			timer.Reset(every)
			retry = every / 32
		}
	}
}

// renew reserves the next range. It returns what kept it from that, after
// recording it.
func (n *Node) renew() error {
	ctx, cancel := context.WithTimeout(context.Background(), n.opts.Timeout)
	defer cancel()
	err := n.reserve(ctx)
	if err == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts.failures++
	n.lease.failure = err
	n.lease.wake()
	return err
}

func (n *Node) reserve(ctx context.Context) error {
	const attempts = 3
	for range attempts {
		if err := n.settle(ctx); err != nil {
			return err
		}
		n.mu.Lock()
		row, mark := n.row(), n.nextMark()
		n.mu.Unlock()
		asked := n.clock.Elapsed()
		ok, err := n.reserver.CompareAndSet(ctx, n.server, row, Claim{Reserved: mark, Holder: n.holder, Lease: n.opts.Lease})
		n.mu.Lock()
		if ok && err == nil {
			n.extend(mark, asked)
		} else {
			n.lease.unsure = true
		}
		n.mu.Unlock()
		if ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("gameid: the registry row of server %d changed under this process %d times in a row", n.server, attempts)
}

// row is what identifies the row as this node left it. Callers hold mu.
func (n *Node) row() Record { return Record{Epoch: n.lease.epoch, Holder: n.holder} }

// nextMark decides what to reserve next. Callers hold mu.
func (n *Node) nextMark() int64 {
	window := n.opts.Window.Milliseconds()
	last := int64(n.word.Load() >> SequenceBits)
	demand := min(max(2*(last-n.lease.pace), minReach), window/2)
	mark := min(max(int64(n.now())+window, last+demand), n.frontier()+window, MaxMillis)
	return max(mark, n.lease.mark)
}

// settle looks at the row where we cannot be sure what is in it, or where the
// clock is so far off that the registry's has to tell whether it is right.
func (n *Node) settle(ctx context.Context) error {
	n.mu.Lock()
	sure := n.readClock(time.Time{}) && !n.lease.unsure
	n.mu.Unlock()
	if sure {
		return nil
	}
	rec, err := n.reserver.Load(ctx, n.server)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if rec.Holder.Token != n.holder.Token {
		n.lease.lost = true
		n.end(&LostError{Server: n.server, Holder: rec.Holder})
		return n.lease.ended
	}
	n.readClock(rec.Now)
	// Only this node writes its token, so what the row reserves is ours. The
	// row may also be older than what we know, in a database that was
	// restored: then we keep our mark, and write it again.
	n.lease.epoch = rec.Epoch
	n.lease.mark = max(n.lease.mark, rec.Reserved)
	n.lease.unsure = false
	return nil
}

// clockStep is the least change of the wall clock against the elapsed time
// that counts as a step rather than as drift.
const clockStep = 10 * time.Millisecond

// readClock follows the wall clock as long as it is within Options.MaxSkew of
// the registry's: as that was last read and has gone on since, or if that is
// too far off, as it is given. So a clock that jumps by years, or by minutes
// again and again, does not burn the range. It reports whether the wall clock
// is followed. Callers hold mu.
func (n *Node) readClock(registry time.Time) bool {
	elapsed, wall := n.clock.Elapsed(), n.clock.Wall()
	is := nanosOf(wall)
	agrees := !registry.IsZero() && wall.Sub(registry).Abs() <= n.opts.MaxSkew
	if agrees {
		n.lease.clock = nanosOf(registry) - nanos(elapsed)
	} else if is.sub(n.lease.clock+nanos(elapsed)).Abs() > n.opts.MaxSkew {
		n.counts.refused = wall
		return false
	}
	n.counts.refused = time.Time{}
	if step := is.sub(nanos(n.shift.Load()) + nanos(elapsed)); step.Abs() >= clockStep {
		n.counts.steps++
	}
	n.shift.Store(uint64(is - nanos(elapsed)))
	return true
}

// release gives the lease back and lowers the mark to what was used.
func (n *Node) release(ctx context.Context, used int64) error {
	n.mu.Lock()
	unsure, row := n.lease.unsure, n.row()
	used = min(used, n.lease.mark) // beyond the mark nothing was issued
	n.mu.Unlock()
	if unsure {
		rec, err := n.reserver.Load(ctx, n.server)
		if err != nil {
			return n.releaseError(err)
		}
		if rec.Holder.Token != n.holder.Token {
			return n.releaseError(&LostError{Server: n.server, Holder: rec.Holder})
		}
		row = rec
	}
	ok, err := n.reserver.CompareAndSet(ctx, n.server, row, Claim{Reserved: used})
	if err == nil && !ok {
		err = errors.New("the registry row was changed by another process")
	}
	if err != nil {
		return n.releaseError(err)
	}
	return nil
}

func (n *Node) releaseError(err error) error {
	return fmt.Errorf("gameid: giving back the lease of server %d: %w", n.server, err)
}
