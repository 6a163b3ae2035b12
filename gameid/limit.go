package gameid

import "time"

// frontier is the time, in milliseconds, against which running ahead is
// measured: that of the clock or, while the newest ID is later, that of a clock
// that began at the first reserved time and never stepped back, up to the newest
// ID. So a node that begins ahead of its wall clock does not mint more slowly.
// Callers hold mu.
func (n *Node) frontier() int64 {
	elapsed, ahead := n.clock.Elapsed(), nanos(n.opts.Ahead)
	newest := nanos(n.word.Load()>>SequenceBits+1) * nanos(time.Millisecond)
	// It is not known when the IDs since the last call were minted. If it was just
	// now, that clock had stood still at the newest one before them.
	begun := max(n.lease.newest, max(newest, ahead)-ahead)
	front := max(min(n.lease.front+nanos(elapsed), begun), nanos(n.shift.Load())+nanos(elapsed))
	n.lease.front, n.lease.newest = front-nanos(elapsed), newest
	return front.millis()
}

// raise sets the limit as far as the reservation and the clock allow, or to 0
// if there is no room, and asks for the next range before this one is used up.
// It reports whether there is room. Callers hold mu.
func (n *Node) raise() bool {
	if n.lease.ended != nil {
		return false
	}
	mark := n.lease.mark
	top := min(mark, n.frontier()+n.opts.Ahead.Milliseconds())
	// The limit stops half-way to the mark first: await then calls raise again.
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
