package gameid

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Node is the source of all IDs with the number of one running game server.
// Generators of every kind take from it, so its IDs are unique and rise strictly
// across kinds.
//
// Its promises, and why they hold:
//
//   - No ID is issued twice, by this process or by any other that had or will
//     have the same number on the same registry. The node uses only times that
//     it has reserved, and a reservation is a compare-and-set that hands a
//     range of times to exactly one caller. No clock is trusted for this.
//   - If the registry forgets (a backup is restored, a replica that lags is
//     promoted, a commit is lost), no ID is issued twice either. A reservation
//     ends at most Options.Window ahead of the later of the machine's and the
//     registry's clock, and every node begins beyond that. A duplicate is then possible
//     only if a clock is wrong too, or if two processes both renew their reservations:
//     one on the original registry, one on the registry that forgot.
//   - Every ID is greater than every ID that the node returned before. The whole
//     state of the node is one word, milliseconds and sequence, that only rises. So a
//     clock that steps back is harmless: the next ID follows the last one.
//   - The time of an ID is that of the clock (the later of the two), or later by
//     at most Options.Window: in the first Window after the start, and by at most
//     Options.Ahead when the node mints faster than 65,536 IDs per millisecond.
//     It is later than that only after a clock was set back: then IDs continue right
//     above the last ones, and run ahead only as far as the node mints.
//   - While the registry cannot be reached the node mints to the end of its
//     reservation. Then it returns an [*ExhaustedError], and recovers by itself.
//   - When another process has taken over, the node stops permanently with a
//     [*LostError]. Its owner can stop it too, with a reason: see [Node.Stop].
//
// A node cannot prevent duplicates if its virtual machine is cloned while
// running (two processes with the same memory), or if two registries give out
// the same number. The fleet registry detects the latter.
//
// All methods may be called from any number of goroutines.
type Node struct {
	_    [64]byte
	word atomic.Uint64 // the last ID issued: milliseconds<<16 | sequence
	_    [56]byte      // word is written by every mint, what follows rarely

	limit atomic.Uint64 // the first word that may not be issued yet; 0: none may
	read  atomic.Uint64 // cycles when word was last set by the clock
	fresh uint64        // for how many cycles after read the clock need not be read again
	shift atomic.Uint64 // nanos: time since the epoch = shift + clock.Elapsed()

	server   ServerID
	clock    Clock
	reserver Reserver
	opts     Options
	window   time.Duration // Options.Window, or the longer one that the row tells of
	holder   Holder

	kick chan struct{} // asks the renewal to hurry
	stop chan struct{} // closed by Close
	idle chan struct{} // closed when the renewal has ended
	done chan struct{} // closed when the node will mint no more

	mu      sync.Mutex
	closing sync.Once
	closeBy error
	lease   lease
	kinds   map[reflect.Type]*kindCount
	final   uint64 // what word was when the node was halted
	counts  counts
}

// spread is what a new millisecond keeps of the running sequence. At low
// rates the low bits of the IDs then still take all values in turn, so shards
// that are chosen by them fill evenly.
const spread = 63

// stopped is the word of a node that was halted. No limit is above it, and
// goroutines that still count it up cannot make it overflow.
const stopped = 1 << 63

// now is the time since the epoch in milliseconds, by the clock.
func (n *Node) now() uint64 {
	return (n.shift.Load() + uint64(n.clock.Elapsed())) / uint64(time.Millisecond)
}

// one issues a single word, if there is room.
//
// Reading the clock costs more than the rest of a mint. So it is read only
// about every 50 microseconds, and the cycle counter of the processor says
// when. The counter need not be exact, or the same on every core: its error can
// make the time in an ID late, by at most the difference of two cores'
// counters, but cannot make an ID repeat.
func (n *Node) one() (word uint64, ok bool) {
	if cycles()-n.read.Load() < n.fresh {
		limit := n.limit.Load()
		if limit == 0 {
			return 0, false
		}
		// A word beyond the limit is not issued, and so never will be.
		word = n.word.Add(1)
		return word, word < limit
	}
	word, got := n.take(1)
	return word, got == 1
}

// take issues up to want consecutive words. It returns the first and their
// number, which is 0 if there is no room.
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
		// Read after word: once word is stopped, so is the limit 0.
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

// id makes the ID of a word.
func (n *Node) id(word uint64) ID {
	return ID{hi: word>>SequenceBits<<ServerBits | uint64(n.server), lo: uint16(word)}
}

// Server returns the server number of the node.
func (n *Node) Server() ServerID { return n.server }

// Holder describes this process as the registry row does while the node has the
// lease. It does not tell whether the node still has it.
func (n *Node) Holder() Holder { return n.holder }

// Done is closed when the node will mint no more, because it was closed or
// stopped or its lease was lost. [Node.Err] then says which.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns nil while the node can mint, [ErrClosed] after Close, a
// [*LostError] after the lease was lost, an [ErrRegistryGone], and the reason after Stop. If several
// apply, it returns the first.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lease.ended
}

// Stop ends the node for a reason that the node cannot detect, such as a second copy of
// its world that runs elsewhere. After Stop has returned, no ID is issued, generators
// and Err return reason, and Done is closed. The lease is no longer renewed; Close
// gives it back. Stopping a node that has ended changes nothing. The reason must not be
// nil.
func (n *Node) Stop(reason error) {
	if reason == nil {
		panic("gameid: Node.Stop without a reason")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.halt(reason)
}

// Close stops the node and gives the lease back, so that the next process can
// start at once. It waits at most Options.Timeout for
// a call to the registry that is under way, and as long again for its own. An
// error means that the lease was not given back and will run out by itself; the
// node is closed all the same. Further calls return the same error.
func (n *Node) Close() error {
	n.closing.Do(func() { n.closeBy = n.close() })
	return n.closeBy
}

func (n *Node) close() error {
	close(n.stop)
	<-n.idle
	n.mu.Lock()
	n.halt(ErrClosed)
	lost, last := n.lease.lost, n.final
	n.mu.Unlock()
	if lost {
		return nil // there is nothing to give back
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.opts.Timeout)
	defer cancel()
	if err := n.release(ctx, int64(last>>SequenceBits)); err != nil {
		return fmt.Errorf("gameid: giving back the lease of server %d: %w", n.server, err)
	}
	return nil
}

// halt ends the node and makes sure that not one more word is issued. Callers
// hold mu.
func (n *Node) halt(reason error) {
	n.end(reason)
	// A goroutine that read the limit before end now fails to swap its word in,
	// or counts up a word that is beyond the limit.
	if last := n.word.Swap(stopped); last < stopped {
		n.final = last
	}
}

// end ends the node; the first reason stays. Goroutines that have read the
// limit may still issue a word. Callers hold mu.
func (n *Node) end(reason error) {
	n.limit.Store(0)
	if n.lease.ended == nil {
		n.lease.ended = reason
		close(n.done)
		n.lease.wake()
	}
}
