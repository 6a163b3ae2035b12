package gameid

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Node is the source of all IDs of one running game server. Generators of every kind
// take from it, so its IDs are unique and rise strictly across kinds.
//
// Its promises, and why they hold:
//
//   - No ID is issued twice, by this process or by any other that was or will
//     be the same server on the same registry. The node uses only times that
//     it has reserved, and a reservation is a compare-and-set that hands a
//     range of times to exactly one caller. No clock is trusted for this.
//   - If the registry forgets (a backup is restored, a replica that lags is
//     promoted, a commit is lost), no ID is issued twice either. A reservation
//     ends at most Options.Window ahead of the later of two clocks, the machine's and the
//     registry's. Every node begins beyond that. A node whose lease had ended
//     continues beyond it too. A duplicate then needs a wrong clock
//     as well, or two processes that both renew their reservations: one on the original
//     registry, one on the registry that forgot.
//   - Every ID is greater than every ID that the node returned before. The whole
//     state of the node is one word, milliseconds and sequence, that only rises. So a
//     clock that steps back is harmless: the next ID follows the last one.
//   - The time of an ID is that of the clock (the later of the two), or up to
//     Options.Window later: in the first Window after the start, or after an outage that
//     was longer than the lease, and when the node mints faster than 65,536 IDs per millisecond.
//     After a clock was set back it can be still later: then IDs continue right above the last
//     ones, and their time rises only as the node mints.
//   - While the registry cannot be reached, the node mints to the end of its
//     reservation. Then it returns an [*ExhaustedError]. It recovers by itself.
//   - When another process has taken over, the node ends permanently with a
//     [*LostError]. Its owner can end it too, with a reason: see [Node.Fail].
//
// A node cannot prevent duplicates if its virtual machine is cloned while
// running (two processes with the same memory), or if two registries give out
// the same server. A fleet registry detects the second case.
//
// All methods may be called from any number of goroutines.
type Node struct {
	_    [64]byte
	word atomic.Uint64 // the last ID issued: milliseconds<<16 | sequence
	_    [56]byte      // word is written by every mint, what follows rarely

	limit atomic.Uint64 // the first word that may not be issued yet
	read  atomic.Uint64 // cycles when word was last set by the clock
	fresh uint64        // for how many cycles after read the clock need not be read again
	shift atomic.Uint64 // nanos: time since the epoch = shift + clock.Elapsed()

	server   ServerID
	clock    Clock
	reserver Reserver
	opts     Options
	holder   Holder
	floor    int64 // the largest time among the IDs that the registry saw at the start

	kick  chan struct{} // asks the renewal to hurry
	idle  chan struct{} // closed when the renewal has ended
	done  chan struct{} // closed when the node will mint no more
	close func() error  // gives the lease back, once

	mu      sync.Mutex    // guards what follows
	changed sync.Cond     // of any of it
	window  time.Duration // Options.Window, or the longer one that the row tells of
	epoch   int64         // of the row, as far as known
	unsure  bool          // a claim was refused or its outcome is unknown: epoch and mark may be wrong
	mark    int64         // the last millisecond that is reserved
	reach   int64         // how far mark was ahead of the node when it was set
	until   moment        // the end of the lease
	seen    moment        // the clocks, as last read
	agreed  nanos         // the registry's clock is this + Elapsed, as last read and found to agree with ours
	heard   time.Duration // when that was read, by Clock.Elapsed
	doubt   bool          // our clock was set back since: the registry's may have been too
	failure error         // why the last attempt to reserve failed
	ended   error         // why the node mints no more
	lost    bool          // another process has the lease
	final   uint64        // what word was when the node ended
	kinds   map[reflect.Type]*atomic.Uint64
	counts  counts
}

// spread is what a new millisecond keeps of the running sequence. At low
// rates the low bits of the IDs then still take all values in turn, so shards
// that are chosen by them fill evenly.
const spread = 63

// stopped is the word of a node that has ended. No limit is above it.
const stopped = 1 << 63

// take issues up to want consecutive words. It returns the first, and how many
// they are: 0 if there is no room.
//
// Reading the clock costs more than the rest of a mint. So it is read only
// every 30 to 130 microseconds, and the cycle counter of the processor says
// when. The counter need not be exact, or the same on every core: its error can
// make the time in an ID late, by at most the difference of two cores'
// counters, but cannot make an ID repeat. With it a mint takes 20 ns instead of 47 at 100 IDs
// once in a millisecond, and 13 instead of 45 flat out (one core of an AMD EPYC).
func (n *Node) take(want uint64) (first, got uint64) {
	read, now := cycles(), uint64(0)
	fresh := read-n.read.Load() < n.fresh // then word is not behind the clock
	if !fresh {
		now = n.now()
	}
	for {
		last := n.word.Load()
		first = last + 1
		if now > last>>SequenceBits {
			first = now<<SequenceBits | first&spread
		}
		limit := n.limit.Load()
		if first >= limit {
			return 0, 0
		}
		got = min(want, limit-first)
		if n.word.CompareAndSwap(last, first+got-1) {
			if !fresh { // only now: word must not be older than read says
				n.read.Store(read)
			}
			return first, got
		}
	}
}

// now is the time since the epoch in milliseconds, by the clock.
func (n *Node) now() uint64 {
	return (n.shift.Load() + uint64(n.clock.Elapsed())) / uint64(time.Millisecond)
}

// next is the least word that could be issued now.
func (n *Node) next() uint64 { return max(n.word.Load()+1, n.now()<<SequenceBits) }

// id makes the ID of a word.
func (n *Node) id(word uint64) ID {
	return ID{hi: word>>SequenceBits<<ServerBits | uint64(n.server), lo: uint16(word)}
}

func wordOf(ms int64) uint64 { return uint64(ms) << SequenceBits }

// raise sets the limit as far as the reservation allows, and asks for the next range
// before this one is used up. It reports whether there is room. Callers hold mu.
func (n *Node) raise() bool {
	if n.ended != nil {
		return false
	}
	// The limit stops half-way to the mark first: await then calls raise again.
	top := n.mark - n.reach/2
	if n.next() >= wordOf(top+1) {
		top = n.mark
		n.hurry()
	}
	limit := wordOf(top + 1)
	n.limit.Store(limit)
	return n.next() < limit
}

// hurry asks for the next range, if there is one. A registry that fails is asked at
// growing intervals only. Callers hold mu.
func (n *Node) hurry() {
	if n.failure != nil || n.mark == MaxMillis {
		return
	}
	select {
	case n.kick <- struct{}{}:
	default: // it was asked already
	}
}

// await waits until there is room for more IDs. Its error says why there is
// none.
func (n *Node) await() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for waited := false; ; waited = true {
		if n.ended != nil {
			return n.ended
		}
		n.readClock(time.Time{})
		if n.raise() {
			return nil
		}
		if n.failure != nil {
			return &ExhaustedError{Server: n.server, Until: TimeOf(n.mark), Cause: n.failure}
		}
		if n.mark == MaxMillis {
			return &TimeError{Time: Last().Add(time.Millisecond)}
		}
		if !waited {
			n.counts.waits++
		}
		n.changed.Wait()
	}
}

// OpenNode starts the node of a server: it takes the lease and reserves the
// first times. The caller closes the node.
//
// The node begins after the mark in the row, after the largest ID that the registry
// sees (see [Floorer]), and Options.Window ahead of the later of the two clocks. At first
// it may issue no IDs, so OpenNode waits until the clock allows some: 16 ms, and at
// most 64 ms if a clock is a little behind. If a clock was set back by more than that,
// OpenNode does not wait, and the node begins right after the mark.
//
// It returns a [*HeldError] if another live process has the server, a
// [*ClockError] if the wall clock disagrees with the registry's, a
// [*MarkError] if times far in the future were reserved before, and a
// [*ServerError] if the server is out of range. A process that ended without
// closing its node counts as live until its lease runs out, except on Linux, if it ran
// on this machine.
//
// OpenNode fails at once if it cannot read the registry. If the outcome of its
// claim is unknown, or another process was faster, it tries up to four times.
// Each attempt waits for the clock and makes two calls to the registry, each of at most a
// quarter of Options.Window. If the outcome stays unknown, one more call gives the lease back.
// So OpenNode takes at most two and a quarter times Window and a
// quarter of a second, by default 22.75 s, and before that up to a minute for a [Floorer]. Pass
// a ctx that ends sooner if that is too long: then the lease runs out by itself.
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
		window:   opts.Window,
		kick:     make(chan struct{}, 1),
		idle:     make(chan struct{}),
		done:     make(chan struct{}),
		kinds:    make(map[reflect.Type]*atomic.Uint64),
	}
	n.changed.L, n.close = &n.mu, sync.OnceValue(n.release)
	if n.clock == nil {
		n.clock, n.fresh = SystemClock(), freshCycles()
	}
	wall := n.clock.Wall()
	if _, err := MillisOf(wall); err != nil {
		return nil, fmt.Errorf("the clock of this machine: %w", err)
	}
	n.holder = newHolder(wall)
	if f, ok := r.(Floorer); ok {
		ctx, cancel := context.WithTimeout(ctx, floorTimeout)
		defer cancel()
		if n.floor, err = f.Floor(ctx, server); err != nil {
			return nil, fmt.Errorf("gameid: looking for the largest ID of server %d: %w", server, err)
		}
	}
	if err := n.acquire(ctx); err != nil {
		return nil, err
	}
	go n.renewals()
	return n, nil
}

// floorTimeout bounds how long a [Floorer] looks: thousands of tables on a busy
// server take it longer than a claim may take.
const floorTimeout = time.Minute

// acquire takes the lease, in several attempts if need be. Up to its end no other
// goroutine has the node, so what mu guards is used without it.
func (n *Node) acquire(ctx context.Context) error {
	const attempts = 4
	failure := fmt.Errorf("other processes changed its row %d times in a row", attempts)
	unknown := false
	for range attempts {
		rec, used, err := n.admit(ctx)
		if err != nil {
			return err
		}
		ok, err := n.begin(ctx, rec, used)
		if ok {
			return nil
		}
		if err != nil {
			failure, unknown = err, true
		}
		if ctx.Err() != nil {
			if err == nil {
				failure = context.Cause(ctx)
			}
			break
		}
	}
	if unknown && ctx.Err() == nil {
		n.unsure = true
		n.claim(ctx, func() Claim { return Claim{Reserved: n.mark, Window: n.window} }) // otherwise the lease runs out
	}
	return fmt.Errorf("gameid: reserving times for server %d: %w", n.server, failure)
}

// admit reads the row, and decides whether the node may begin. It then begins after
// used: times up to that may have been used.
func (n *Node) admit(ctx context.Context) (rec Record, used int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.opts.timeout())
	defer cancel()
	asked := n.clock.Elapsed()
	if rec, err = n.load(ctx); err != nil {
		return rec, 0, fmt.Errorf("gameid: reading the registry row of server %d: %w", n.server, err)
	}
	other := !rec.Holder.IsZero() && rec.Holder.Token != n.holder.Token
	if other && rec.Now.Before(rec.LeaseUntil) && !rec.Holder.Ended() {
		return rec, 0, &HeldError{Server: n.server, Holder: rec.Holder, LeaseUntil: rec.LeaseUntil, Now: rec.Now}
	}
	n.seen = bothClocks(n.clock)
	wall, elapsed := n.seen.wall, n.seen.elapsed
	// The registry read its clock at some moment since it was asked, so a slow
	// answer does not count as a disagreement.
	if rec.Now.Before(wall.Add(asked-elapsed-n.opts.MaxSkew)) || rec.Now.After(wall.Add(n.opts.MaxSkew)) {
		return rec, 0, &ClockError{Local: wall, Registry: rec.Now, Limit: n.opts.MaxSkew}
	}
	n.window = max(n.window, rec.Window)
	used = max(rec.Reserved, min(n.floor, MaxMillis))
	now := later(wall, rec.Now)
	if limit := max(n.opts.MaxSkew, 2*n.window); TimeOf(used).Sub(now) > limit {
		return rec, 0, &MarkError{Server: n.server, Mark: TimeOf(used), Now: now, Limit: limit}
	}
	n.shift.Store(uint64(nanosOf(wall) - nanos(elapsed)))
	n.hear(rec.Now, elapsed)
	// Whatever the row says, it may have forgotten: a backup was restored, a
	// commit was lost. All that a predecessor can have reserved by a clock that
	// was not ahead of this one lies up to the horizon.
	return rec, max(used, n.horizon()), nil
}

// load reads the row, limited to what a node can have written: one that was written by hand may say more.
func (n *Node) load(ctx context.Context) (Record, error) {
	rec, err := n.reserver.Load(ctx, n.server)
	rec.Reserved = min(max(rec.Reserved, 0), MaxMillis) // time 0 is never used
	rec.Window = min((rec.Window + time.Millisecond - 1).Truncate(time.Millisecond), maxWindow)
	return rec, err
}

// begin claims the row that was read. It reports false if the row has to be read
// anew: the outcome of the claim is unknown because of err, or, if err is nil,
// another process was faster.
func (n *Node) begin(ctx context.Context, rec Record, used int64) (ok bool, err error) {
	mark, err := n.firstMark(ctx, used)
	if err != nil {
		return false, err
	}
	asked := n.seen
	ctx, cancel := context.WithTimeout(ctx, n.opts.timeout())
	defer cancel()
	ok, err = n.reserver.CompareAndSet(ctx, n.server, rec, n.reservation(mark))
	if err != nil || !ok {
		return false, err
	}
	n.word.Store(wordOf(used+1) - 1)
	n.epoch = rec.Epoch
	n.extend(mark, asked)
	return true, nil
}

// firstMark decides what to reserve first, after used. That lies at the horizon
// or beyond, so there is no room yet: firstMark waits until the clock allows a
// little, at most 64 ms. If the clock was set back so far that this would take
// longer, it does not wait.
func (n *Node) firstMark(ctx context.Context, used int64) (int64, error) {
	for began := n.clock.Elapsed(); ; n.readClock(time.Time{}) {
		missing := n.missing(used)
		switch {
		case missing <= 0:
			return n.horizon(), nil
		case missing > minReach || n.clock.Elapsed()-began >= minReach*time.Millisecond:
			return min(used+minReach, MaxMillis), nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(time.Duration(missing) * time.Millisecond):
		}
	}
}

// minStep is the least that is reserved within the window, in milliseconds: 1
// million IDs. The node waits until its clock allows that much.
const minStep = 16

// minReach is what a node whose clock was set back reserves at once beyond the
// window, in milliseconds: 4.2 million IDs. It is also the longest that a node
// waits for its clock before that counts as set back.
const minReach = 64

// horizon is the last time, in milliseconds, that may be reserved now: the later
// of the two clocks, plus the window. Callers hold mu.
func (n *Node) horizon() int64 {
	// The registry's clock may have been read long ago. A thousandth is more
	// than what two clocks drift apart, so this is never ahead of it.
	elapsed := n.clock.Elapsed()
	registry := n.agreed + nanos(elapsed) - nanos((elapsed-n.heard)/1000)
	return min(max(int64(n.now()), registry.millis())+n.window.Milliseconds(), MaxMillis)
}

// missing is how many milliseconds the clock has yet to go before there are minStep to
// reserve after mark. If it is more than minReach, the clock was set back; if it is less,
// the clock was only adjusted, or another machine's is a little behind. Callers hold mu.
func (n *Node) missing(mark int64) int64 { return mark + minStep - n.horizon() }

// nextMark decides what to reserve next: all up to the horizon. If the mark, or the
// word that skip set, is far beyond because the clock was set back, it reserves the next times
// when they are needed, so that minting does not wait for the clock. Callers hold mu.
func (n *Node) nextMark() int64 {
	last := int64(n.last() >> SequenceBits)
	if from := max(n.mark, last); n.missing(from) > minReach && last+minReach/2 >= n.mark {
		return min(from+minReach, MaxMillis)
	}
	return max(n.mark, n.horizon())
}

// last is the last word that was issued or skipped, also when the node has ended. Callers hold mu.
func (n *Node) last() uint64 {
	if n.ended != nil {
		return n.final
	}
	return n.word.Load()
}

// reservation is the claim of all times up to mark.
func (n *Node) reservation(mark int64) Claim {
	return Claim{Reserved: mark, Window: n.window, Holder: n.holder, Lease: n.opts.lease()}
}

// extend notes that the times up to mark are reserved, as was asked for at a
// moment: the lease counts from then. Callers hold mu.
func (n *Node) extend(mark int64, asked moment) {
	n.epoch++
	n.unsure = false
	n.mark = mark
	n.reach = max(0, mark-int64(n.next()>>SequenceBits))
	if n.missing(mark) > minReach {
		n.reach = min(n.reach, minReach) // so that the node asks only near the end
	}
	n.until = asked.add(n.opts.lease())
	n.failure = nil
	n.counts.renewals++
	n.raise()
	n.changed.Broadcast()
}

// renewals renews the lease, and reserves more times, until the node ends.
func (n *Node) renewals() {
	defer close(n.idle)
	every := n.opts.Window / 3
	retry := every / 32
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-n.done:
		case <-timer.C:
		case <-n.kick:
			n.mu.Lock()
			missing := n.missing(max(n.mark, int64(n.word.Load()>>SequenceBits))) // see skip
			n.mu.Unlock()
			if 0 < missing && missing <= minReach { // not for every single millisecond
				select {
				case <-n.done:
				case <-time.After(time.Duration(missing) * time.Millisecond):
				}
			}
		}
		if n.Err() != nil {
			return
		}
		if n.renew() == nil {
			timer.Reset(every)
			retry = every / 32
		} else {
			timer.Reset(retry)
			retry = min(2*retry, every/2)
		}
	}
}

// renew reserves the next range. It records its error and returns it.
func (n *Node) renew() error {
	err := n.claim(context.Background(), func() Claim { return n.reservation(n.nextMark()) })
	if err == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts.failures++
	n.failure = err
	if errors.Is(err, ErrRegistryGone) {
		n.lost = true
		n.halt(err)
	}
	n.changed.Broadcast()
	return err
}

// claim writes what next returns over the row, if the node still has that.
func (n *Node) claim(ctx context.Context, next func() Claim) error {
	ctx, cancel := context.WithTimeout(ctx, n.opts.timeout())
	defer cancel()
	const attempts = 3
	for range attempts {
		if err := n.settle(ctx); err != nil {
			return err
		}
		n.mu.Lock()
		row, c, asked := Record{Epoch: n.epoch, Holder: n.holder}, next(), n.seen
		n.unsure = true // until the answer
		n.mu.Unlock()
		ok, err := n.reserver.CompareAndSet(ctx, n.server, row, c)
		if err != nil {
			return err
		}
		if ok {
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.readClock(time.Time{}); n.until.after(n.seen) == 0 {
				n.skip()
			}
			n.extend(c.Reserved, asked)
			return nil
		}
	}
	return fmt.Errorf("gameid: the registry row of server %d changed under this process %d times in a row", n.server, attempts)
}

// skip goes beyond the horizon, as a node that is opened does. The lease had ended before
// it was renewed: another process may have had the server since then, and the registry may
// have forgotten that, such as a replica that was promoted and lacks its claim. Callers hold mu.
func (n *Node) skip() {
	to := wordOf(n.horizon()+1) - 1
	for last := n.word.Load(); last < to && !n.word.CompareAndSwap(last, to); last = n.word.Load() {
	}
}

// settle reads the row if the node is unsure what is in it, or if the wall clock
// was set back or is so far off that it has to be compared with the registry's
// again.
func (n *Node) settle(ctx context.Context) error {
	n.mu.Lock()
	sure := n.readClock(time.Time{}) && !n.unsure && !n.doubt
	n.mu.Unlock()
	if sure {
		return nil
	}
	rec, err := n.load(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if rec.Holder.Token != n.holder.Token {
		err := &LostError{Server: n.server, Holder: rec.Holder}
		n.lost = true
		n.halt(err)
		return err
	}
	n.readClock(rec.Now)
	n.doubt, n.unsure = false, false
	// Only this node writes its token, so the node owns what the row reserves.
	// If the database was restored, the row may be older than the last claim:
	// then the node keeps its mark, and the next claim writes it again.
	n.epoch, n.mark = rec.Epoch, max(n.mark, rec.Reserved)
	return nil
}

// clockStep is the least change of the wall clock against the elapsed time
// that counts as a step, not as drift.
const clockStep = 10 * time.Millisecond

// readClock follows the wall clock if it is within Options.MaxSkew of registry,
// which is the registry's clock now or zero if that was not read, or of the
// registry's clock as last read plus the time since. So a clock that jumps by
// years, or by minutes again and again, does not use up the layout. It reports
// whether the wall clock is followed. Callers hold mu.
func (n *Node) readClock(registry time.Time) bool {
	n.seen = bothClocks(n.clock)
	wall, elapsed := nanosOf(n.seen.wall), nanos(n.seen.elapsed)
	if !registry.IsZero() && n.seen.wall.Sub(registry).Abs() <= n.opts.MaxSkew {
		n.hear(registry, n.seen.elapsed)
	} else if wall.sub(n.agreed+elapsed).Abs() > n.opts.MaxSkew {
		n.counts.refused = n.seen.wall
		return false
	}
	n.counts.refused = time.Time{}
	if step := wall.sub(nanos(n.shift.Load()) + elapsed); step.Abs() >= clockStep {
		n.counts.steps++
		n.doubt = n.doubt || step < 0
	}
	n.shift.Store(uint64(wall - elapsed))
	return true
}

// hear notes the registry's clock at an elapsed time. Callers hold mu.
func (n *Node) hear(registry time.Time, elapsed time.Duration) {
	n.agreed, n.heard = nanosOf(registry)-nanos(elapsed), elapsed
}

// Server returns the server that the node is.
func (n *Node) Server() ServerID { return n.server }

// Holder describes this process, as the registry row does while the node has the
// lease. It does not tell whether the node still has the lease.
func (n *Node) Holder() Holder { return n.holder }

// Done is closed when the node will mint no more, because it was closed, was ended by
// its owner, or lost its lease. [Node.Err] then says which. No ID is issued after that: a
// call that returns one later had taken it before.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns nil while the node can mint, [ErrClosed] after Close, a
// [*LostError] after the lease was lost, an error that is [ErrRegistryGone] if the registry
// is gone, and the reason after Fail. If several apply, it returns the first to happen.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ended
}

// Fail ends the node for a reason that the node cannot detect, such as a second copy of
// its world that runs elsewhere. After Fail has returned, no ID is issued, generators
// and Err return reason, and Done is closed. The lease is no longer renewed; Close
// gives it back. If the node has ended already, Fail changes nothing. The reason must not
// be nil.
func (n *Node) Fail(reason error) {
	if reason == nil {
		panic("gameid: Node.Fail without a reason")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.halt(reason)
}

// Close ends the node and gives the lease back, so that the next process can
// start at once. It waits at most a quarter of Options.Window for
// a call to the registry that is under way, and as long again for its own. An
// error means that the lease was not given back and will run out by itself; the
// node is closed all the same. Further calls return the same error.
func (n *Node) Close() error { return n.close() }

// release ends the node, gives the lease back, and lowers the mark to the last time
// used.
func (n *Node) release() error {
	n.mu.Lock()
	n.halt(ErrClosed)
	n.mu.Unlock()
	<-n.idle
	if n.lost {
		return nil // there is nothing to give back
	}
	used := int64(n.final >> SequenceBits)
	err := n.claim(context.Background(), func() Claim { return Claim{Reserved: min(used, n.mark), Window: n.window} }) // beyond the mark nothing was issued
	if err != nil {
		return fmt.Errorf("gameid: giving back the lease of server %d: %w", n.server, err)
	}
	return nil
}

// halt ends the node; the first reason stays. Not one more word is issued, and only
// then does anyone learn that the node has ended. Callers hold mu.
func (n *Node) halt(reason error) {
	if n.ended != nil {
		return
	}
	n.ended = reason
	n.final = n.word.Swap(stopped) // a goroutine that has read the limit fails to swap its word in
	close(n.done)
	n.changed.Broadcast()
}
