package gameid

import "time"

// lease is what a node has reserved. Node.mu guards it.
type lease struct {
	epoch   int64         // of the row, as far as known
	unsure  bool          // a compare-and-set was refused or its outcome is unknown: epoch and mark may be wrong
	mark    int64         // the last millisecond that is reserved
	reach   int64         // how far mark was ahead of the node when it was set
	until   time.Duration // end of the lease, by Clock.Elapsed
	front   nanos         // see frontier
	newest  nanos         // the end of the newest ID's millisecond when front was set
	clock   nanos         // the registry's clock is this + Elapsed, as last read and found to agree with ours
	heard   time.Duration // when that was read, by Clock.Elapsed
	doubt   bool          // our clock was set back since: the registry's may have been too
	failure error         // why the last attempt to reserve failed
	ended   error         // why the node mints no more
	lost    bool          // another process has the lease
	changed chan struct{} // closed when any of the above may have changed
}

func (l *lease) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// extend records that the times up to mark are reserved. Callers hold mu.
func (n *Node) extend(mark int64, asked time.Duration) {
	last := int64(n.word.Load() >> SequenceBits)
	n.lease.epoch++
	n.lease.mark = mark
	n.lease.reach = mark - max(last, int64(n.now()))
	if n.setBack(mark) {
		n.lease.reach = min(n.lease.reach, minReach)
	}
	n.lease.until = asked + n.opts.Lease
	n.lease.failure = nil
	n.counts.renewals++
	n.raise()
	n.lease.wake()
}

// row identifies the registry row as this node wrote it. Callers hold mu.
func (n *Node) row() Record { return Record{Epoch: n.lease.epoch, Holder: n.holder} }
