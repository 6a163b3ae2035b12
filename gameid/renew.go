package gameid

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// renewals renews the lease, and reserves more times, until the node ends.
func (n *Node) renewals() {
	defer close(n.idle)
	every := n.opts.Window / 3
	timer, soon := time.NewTimer(every), time.NewTimer(0)
	<-soon.C // set when it is too early for what was asked
	defer timer.Stop()
	defer soon.Stop()
	retry := every / 32
	for {
		due := true
		select {
		case <-n.stop:
		case <-n.done:
		case <-timer.C:
		case <-n.kick:
			due = n.worthwhile(soon)
		case <-soon.C:
			due = n.worthwhile(soon)
		}
		select {
		case <-n.stop: // before another renewal: Close waits
			return
		case <-n.done:
			return
		default:
		}
		if !due {
			continue
		}
		soon.Stop()
		if err := n.renew(); err != nil {
			timer.Reset(retry)
			retry = min(2*retry, every/2)
		} else {
			timer.Reset(every)
			retry = every / 32
		}
	}
}

// worthwhile reports whether to reserve more now that the range comes to its
// end. If the clock allows too little yet, it sets soon for when it allows
// enough: so the registry is not asked for every single millisecond.
func (n *Node) worthwhile(soon *time.Timer) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	mark, horizon := n.lease.mark, n.horizon()
	switch {
	case mark == MaxMillis:
		return false // there is nothing more to reserve
	case n.nextMark()-mark >= minStep || horizon == MaxMillis:
		return true
	case n.setBack(mark):
		// The range ends far beyond the clock: ask again nearer to its end.
		n.lease.reach = min(n.lease.reach, minReach)
		n.raise()
	default:
		soon.Reset(time.Duration(max(1, mark+minStep-horizon)) * time.Millisecond)
	}
	return false
}

// renew reserves the next range. It records its error and returns it.
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
	if errors.Is(err, ErrRegistryGone) {
		n.lease.lost = true
		n.halt(err)
	}
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
		ok, err := n.reserver.CompareAndSet(ctx, n.server, row, Claim{Reserved: mark, Window: n.window, Holder: n.holder, Lease: n.opts.Lease})
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
	registry := n.lease.clock + nanos(elapsed) - nanos((elapsed-n.lease.heard)/1000)
	return min(max(int64(n.now()), registry.millis())+n.window.Milliseconds(), MaxMillis)
}

// setBack reports whether mark lies so far beyond the horizon that a clock must
// have been set back. If it is only adjusted, or another machine's clock is a
// little behind, the node waits for it: at most minReach. Callers hold mu.
func (n *Node) setBack(mark int64) bool { return mark+minStep > n.horizon()+minReach }

// nextMark decides what to reserve next: all up to the horizon. If the mark is
// far beyond because the clock was set back, it reserves the next times when
// they are needed, so that minting does not wait for the clock. Callers hold mu.
func (n *Node) nextMark() int64 {
	mark, last := n.lease.mark, int64(n.word.Load()>>SequenceBits)
	if n.setBack(mark) && last+minReach/2 >= mark {
		return min(mark+minReach, MaxMillis)
	}
	return max(mark, n.horizon())
}

// settle reads the row if the node is unsure what is in it, or if the wall clock
// was set back or is so far off that it has to be compared with the registry's
// again.
func (n *Node) settle(ctx context.Context) error {
	n.mu.Lock()
	sure := n.readClock(time.Time{}) && !n.lease.unsure && !n.lease.doubt
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
	n.lease.doubt = false
	// Only this node writes its token, so the node owns what the row reserves.
	// If the database was restored, the row may be older than the last claim:
	// then the node keeps its mark, and the next claim writes it again.
	n.lease.epoch = rec.Epoch
	n.lease.mark = max(n.lease.mark, rec.Reserved)
	n.lease.unsure = false
	return nil
}
