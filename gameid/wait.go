package gameid

import (
	"context"
	"time"
)

// await waits until there is room for more IDs. Its error says why there is
// none.
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
			// At the cap of the layout: wait for the clock.
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
