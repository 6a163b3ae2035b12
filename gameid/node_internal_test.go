package gameid

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"
)

// at is a clock that stands still, so many milliseconds after the epoch.
type at time.Duration

func (at) Wall() time.Time          { return Epoch() }
func (c at) Elapsed() time.Duration { return time.Duration(c) * time.Millisecond }

// minting returns a node of which only what mints is there: the newest word,
// the limit, and the clock, which need not be read again if fresh.
func minting(last, limit uint64, now at, fresh bool) *Node {
	n := &Node{clock: now, done: make(chan struct{}), lease: lease{changed: make(chan struct{})}}
	n.word.Store(last)
	n.limit.Store(limit)
	if fresh {
		n.read.Store(cycles())
		n.fresh = math.MaxUint64
	}
	return n
}

// The limit is the first word that may not be issued: the one before it is
// issued, and it and those after it are not, however they are asked for. So a
// node uses only times that it has reserved.
func TestNothingIsIssuedAtTheLimit(t *testing.T) {
	const limit = 5 << SequenceBits
	for _, c := range []struct {
		last      uint64
		now       at
		want, got uint64
		first     uint64
	}{
		{last: limit - 3, now: 4, want: 1, got: 1, first: limit - 2},
		{last: limit - 2, now: 4, want: 1, got: 1, first: limit - 1},
		{last: limit - 1, now: 4, want: 1},
		{last: limit, now: 4, want: 1}, // counted up beyond the limit, not issued
		{last: limit + 7, now: 4, want: 1},
		{last: limit - 3, now: 4, want: 9, got: 2, first: limit - 2},
		{last: limit - 1, now: 4, want: 9},
		{last: limit - spread - 1, now: 5, want: 1}, // the clock is at the limit
		{last: limit - spread - 1, now: 6, want: 9},
		{last: limit - 2<<SequenceBits, now: 4, want: 9, got: 9, first: 4<<SequenceBits + 1},
	} {
		for _, fresh := range []bool{false, true} {
			if fresh && uint64(c.now) > c.last>>SequenceBits {
				continue // then the clock would have been read
			}
			t.Run(fmt.Sprintf("%d from limit%+d at %d, fresh %t", c.want, int64(c.last)-limit, c.now, fresh), func(t *testing.T) {
				n := minting(c.last, limit, c.now, fresh)
				first, got := n.take(c.want)
				if got != c.got || got > 0 && first != c.first {
					t.Errorf("take gives %d from limit%+d, want %d from limit%+d", got, int64(first)-limit, c.got, int64(c.first)-limit)
				}
				// What is not issued does not count as used.
				word, read := n.word.Load(), n.read.Load()
				if got == 0 && word != c.last || got > 0 && word != first+got-1 {
					t.Errorf("take gives %d, and the word goes from limit%+d to limit%+d", got, int64(c.last)-limit, int64(word)-limit)
				}
				if !fresh && cycles() != 0 && (read != 0) != (got > 0) {
					t.Errorf("take gives %d, and the word counts as set by the clock: %t", got, read != 0)
				}
				if c.want > 1 {
					return
				}
				n = minting(c.last, limit, c.now, fresh)
				if word, ok := n.one(); ok != (c.got == 1) || ok && word != c.first {
					t.Errorf("one gives limit%+d, %t", int64(word)-limit, ok)
				}
			})
		}
	}
}

// A call that finds no room at all uses nothing up, however often it is made.
func TestNothingIsUsedUpWithoutRoom(t *testing.T) {
	const last = 4<<SequenceBits + 7
	n := minting(last, 0, 4, true)
	_, ok := n.one()
	_, got := n.take(5)
	if word := n.word.Load(); ok || got != 0 || word != last {
		t.Errorf("one: %t, take: %d, the word goes from %#x to %#x", ok, got, uint64(last), word)
	}
}

// After Stop has returned no ID is issued, not even by a goroutine that was
// held up while it took one: after it had read the limit, before it swapped in
// its word or counted it up.
func TestStopOvertakesAMint(t *testing.T) {
	const last, limit = 4<<SequenceBits + 7, 5 << SequenceBits
	reason := errors.New("the world runs elsewhere")
	n := minting(last, limit, 4, true)
	n.Stop(reason)
	if n.word.CompareAndSwap(last, last+1) {
		t.Error("take, held up before its swap, issues an ID")
	}
	for range 1000 {
		if word := n.word.Add(1); word < limit {
			t.Fatalf("one, held up before it counts, issues the ID of word %#x", word)
		}
	}
	if _, ok := n.one(); ok {
		t.Error("one issues an ID")
	}
	if _, got := n.take(5); got != 0 {
		t.Errorf("take issues %d IDs", got)
	}
	// What was used is known, however often the node ends and is counted up.
	n.halt(ErrClosed)
	if n.final != last || n.lease.ended != reason {
		t.Errorf("the last word is %#x, the node ended with %v; want %#x, %v", n.final, n.lease.ended, uint64(last), reason)
	}
}
