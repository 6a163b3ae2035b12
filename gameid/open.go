package gameid

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// OpenNode starts the node of a server: it takes the lease and reserves the
// first times. The caller closes the node.
//
// The node begins after the mark in the row, after the largest ID in the tables,
// and Options.Window ahead of the later of the two clocks. There is no room for
// IDs at first, so OpenNode waits until the clock allows some: 16 ms, and at most
// 64 ms if a clock is a little behind. If a clock was set back by more than that,
// OpenNode does not wait, and the node begins right after the mark.
//
// It returns a [*HeldError] if another live process has the number, a
// [*ClockError] if the wall clock disagrees with the registry's, a
// [*MarkError] if times far in the future were reserved before, and a
// [*ServerError] if the number is out of range. A process that ended without
// closing its node counts as live until its lease runs out. On Linux it does
// not count if it ran on this machine.
//
// OpenNode fails at once if it cannot read the registry. If the outcome of its
// claim is unknown, or another process was faster, it tries up to four times.
// Each attempt makes two calls to the registry and waits for the clock, so
// OpenNode takes at most 8 times Options.Timeout and a quarter of a second, by
// default 20.25 s. Pass a ctx that ends sooner if that is too long.
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
	wall, elapsed := bothClocks(n.clock)
	if _, err := MillisOf(wall); err != nil {
		return nil, fmt.Errorf("the clock of this machine: %w", err)
	}
	n.shift.Store(uint64(nanosOf(wall)) - uint64(elapsed))
	n.holder = newHolder(wall)
	if err := n.acquire(ctx); err != nil {
		return nil, err
	}
	go n.renewals()
	return n, nil
}

// acquire takes the lease, in several attempts if need be.
func (n *Node) acquire(ctx context.Context) error {
	const attempts = 4
	failure := fmt.Errorf("other processes changed its row %d times in a row", attempts)
	for range attempts {
		if again, err := n.tryAcquire(ctx); !again {
			return err
		} else if err != nil {
			failure = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("gameid: reserving times for server %d: %w", n.server, failure)
}

// tryAcquire reads the row and claims it. It returns again if the row has to be
// read anew: the outcome of the claim is unknown because of err, or, if err is
// nil, another process was faster.
func (n *Node) tryAcquire(ctx context.Context) (again bool, err error) {
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
	// The registry read its clock at some moment since it was asked, so a slow
	// answer does not count as a disagreement.
	wall, elapsed := bothClocks(n.clock)
	if rec.Now.Before(wall.Add(asked-elapsed-n.opts.MaxSkew)) || rec.Now.After(wall.Add(n.opts.MaxSkew)) {
		return false, &ClockError{Local: wall, Registry: rec.Now, Limit: n.opts.MaxSkew}
	}
	// Times up to used may have been used. Time 0 is never used, so a row
	// without a mark needs no case of its own.
	used := max(rec.Reserved, rec.Floor, 0)
	window := (max(rec.Window, n.opts.Window, n.window) + time.Millisecond - 1).Truncate(time.Millisecond)
	now := later(wall, rec.Now)
	if limit := max(n.opts.MaxSkew, 2*window); TimeOf(used).Sub(now) > limit {
		return false, &MarkError{Server: n.server, Mark: TimeOf(used), Now: now, Limit: limit}
	}
	// Use the clock that was compared: it may have stepped since OpenNode began.
	n.shift.Store(uint64(nanosOf(wall)) - uint64(elapsed))
	n.mu.Lock()
	n.window = window
	n.hear(rec.Now, elapsed)
	// Whatever the row says, it may have forgotten: a backup was restored, a
	// commit was lost. All that a predecessor can have reserved by a clock that
	// was not ahead of this one lies up to the horizon.
	used = max(used, n.horizon())
	n.mu.Unlock()
	mark, err := n.firstMark(ctx, used)
	if err != nil {
		return false, fmt.Errorf("gameid: reserving times for server %d: %w", n.server, err)
	}
	asked = n.clock.Elapsed()
	set, cancel := context.WithTimeout(ctx, n.opts.Timeout)
	defer cancel()
	ok, err := n.reserver.CompareAndSet(set, n.server, rec, Claim{Reserved: mark, Window: window, Holder: n.holder, Lease: n.opts.Lease})
	if err != nil || !ok {
		return true, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.word.Store(uint64(used+1)<<SequenceBits - 1)
	n.lease.newest = nanos(used+1) * nanos(time.Millisecond)
	n.lease.front = max(nanos(n.shift.Load()+uint64(asked)), n.lease.newest) - nanos(asked)
	n.lease.epoch = rec.Epoch
	n.extend(mark, asked)
	return false, nil
}

// firstMark decides what to reserve first, after used. That lies at the horizon
// or beyond, so there is no room yet: firstMark waits until the clock allows a
// little, at most 64 ms. If the clock was set back so far that this would take
// longer, it does not wait.
func (n *Node) firstMark(ctx context.Context, used int64) (int64, error) {
	for began := n.clock.Elapsed(); ; {
		n.mu.Lock()
		horizon, setBack := n.horizon(), n.setBack(used)
		n.mu.Unlock()
		missing := used + minStep - horizon
		switch {
		case missing <= 0 || horizon == MaxMillis:
			return horizon, nil
		case setBack || n.clock.Elapsed()-began >= minReach*time.Millisecond:
			return min(used+minReach, MaxMillis), nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(time.Duration(missing) * time.Millisecond):
		}
		n.mu.Lock()
		n.readClock(time.Time{})
		n.mu.Unlock()
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
