package gameid

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Node is one running game server: the source of all IDs that carry its
// server number. Generators of every kind draw from it, so its IDs are unique
// across kinds and rise strictly over all of them.
//
// What it promises, and why it holds:
//
//   - No ID is issued twice, by this process or by any other that had or will
//     have the same number on the same registry. The node uses only times that
//     it has reserved, and a reservation is a compare-and-set that hands a
//     range of times to exactly one caller. No clock is trusted for this.
//   - Every ID is greater than all that the node returned before. Its whole
//     state is one word, milliseconds and sequence, that only rises. A clock
//     that steps back is therefore harmless: IDs go on from where they were.
//   - The time of an ID is that of the clock, or later: by at most
//     Options.Ahead when the node mints faster than 65,536 IDs per millisecond,
//     and after a crash by what the crashed process had reserved.
//   - While the registry is away the node goes on to the end of what it has
//     reserved, then returns an [*ExhaustedError], and recovers by itself.
//   - When another process has taken over, the node stops for good with a
//     [*LostError]; and when its owner learns of something that forbids it to
//     go on, with the reason given to [Node.Stop].
//
// What no design can save: a virtual machine that is cloned while running (two
// processes with the same memory), and two registries that give out the same
// number. See the fleet registry for detecting the latter.
//
// All methods may be called from any number of goroutines.
type Node struct {
	_    [64]byte
	word atomic.Uint64 // the last ID issued: milliseconds<<16 | sequence
	_    [56]byte      // word is written by every mint, what follows rarely

	limit atomic.Uint64 // the first word that may not be issued as things stand; 0: none may
	read  atomic.Uint64 // cycles when word was last set by the clock
	fresh uint64        // for how many cycles from then on the clock need not be read again
	shift atomic.Uint64 // nanos: time since the epoch = shift + clock.Elapsed()

	server   ServerID
	clock    Clock
	reserver Reserver
	opts     Options
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
// rates the low bits of the IDs then still take all values in turn, so that
// whatever shards by them fills evenly.
const spread = 63

// stopped is the word of a node that was halted: no limit lies above it, and
// goroutines that still count it up do not come to its end.
const stopped = 1 << 63

// now is the time since the epoch in milliseconds, by the clock.
func (n *Node) now() uint64 {
	return (n.shift.Load() + uint64(n.clock.Elapsed())) / uint64(time.Millisecond)
}

// one issues a single word, if there is room.
//
// Reading the clock costs more than all the rest of a mint. So it is read
// about every 50 microseconds only, and the cycle counter of the processor
// says whether it is time again. It need not be exact, or the same on every
// core: what it is off by can make the time in an ID late, by no more than the
// counters of two cores differ, but never the ID wrong.
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

// take issues up to want consecutive words and returns the first and how many
// there are: none if there is no room.
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

// Server returns the number of the server.
func (n *Node) Server() ServerID { return n.server }

// Done is closed when the node will mint no more: it was closed or stopped, or
// its lease was lost. [Node.Err] then says which.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns nil while the node can mint, [ErrClosed] after Close, a
// [*LostError] after the lease was lost, and after Stop its reason. The first
// of them stands.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lease.ended
}

// Stop ends the node for a reason that it cannot know by itself, such as that
// its world runs elsewhere as well. When Stop returns, no more IDs will be
// issued; generators and Err return reason, and Done is closed. The lease is
// not renewed any more, and Close gives it back. Stopping a node that has
// ended changes nothing. The reason must not be nil.
func (n *Node) Stop(reason error) {
	if reason == nil {
		panic("gameid: Node.Stop without a reason")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.halt(reason)
}

// Close stops the node and gives the lease back, so that the next process can
// start at once and go on right after the last ID. It waits for a call to the
// registry that is under way, at most Options.Timeout, and takes as much again
// for its own. An error means that the lease was not given back and will run
// out by itself; the node is closed nevertheless. Further calls return the
// same.
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
	return n.release(ctx, int64(last>>SequenceBits))
}

// halt is end for a node of which not one more word may be issued. Callers
// hold mu.
func (n *Node) halt(reason error) {
	n.end(reason)
	// From here on nobody can issue a word: whoever still tries to swap the
	// old one in fails, and then sees the limit.
	if last := n.word.Swap(stopped); last < stopped {
		n.final = last
	}
}

// end makes the node mint no more. The first reason stands. Callers hold mu.
func (n *Node) end(reason error) {
	n.limit.Store(0)
	if n.lease.ended == nil {
		n.lease.ended = reason
		close(n.done)
		n.lease.wake()
	}
}
