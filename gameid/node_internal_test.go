package gameid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"mergesafe/internal/servertest"
)

// at is a clock that stands still, so many milliseconds after the epoch.
type at time.Duration

func (at) Wall() time.Time          { return Epoch() }
func (c at) Elapsed() time.Duration { return time.Duration(c) * time.Millisecond }

// minting returns a node of which only what mints is there: the newest word,
// the limit, and the clock, which need not be read again if fresh.
func minting(last, limit uint64, now at, fresh bool) *Node {
	n := &Node{clock: now, done: make(chan struct{})}
	n.changed.L = &n.mu
	n.word.Store(last)
	n.limit.Store(limit)
	if fresh {
		n.read.Store(cycles())
		n.fresh = math.MaxUint64
	}
	return n
}

// The limit is the first word that may not be issued: the one before it is
// issued, and it and those after it are not. So a
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
		{last: limit, now: 4, want: 1},
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
			})
		}
	}
}

// After the node has ended no ID is issued, not even by a goroutine that was
// held up while it took one: after it had read the limit, before it swapped in
// its word.
func TestEndOvertakesAMint(t *testing.T) {
	const last, limit = 4<<SequenceBits + 7, 5 << SequenceBits
	reason := errors.New("the world runs elsewhere")
	for name, end := range map[string]func(n *Node) error{
		"Fail": func(n *Node) error { n.Fail(reason); return reason },
		"lost": func(n *Node) error { return n.settle(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			n := minting(last, limit, 4, true)
			n.reserver, n.unsure = anothers{}, true
			n.holder.Token = "ours"
			err := end(n)
			<-n.Done()
			if n.word.CompareAndSwap(last, last+1) {
				t.Error("take, held up before its swap, issues an ID")
			}
			if _, got := n.take(5); got != 0 {
				t.Errorf("take issues %d IDs", got)
			}
			// What was used is known, however often the node ends.
			n.halt(ErrClosed)
			if n.final != last || n.ended != err {
				t.Errorf("the last word is %#x, the node ended with %v; want %#x, %v", n.final, n.ended, uint64(last), err)
			}
		})
	}
}

// anothers is a registry whose row is another process's.
type anothers struct{ Reserver }

func (anothers) Load(context.Context, ServerID) (Record, error) {
	return Record{Holder: Holder{Token: "another"}}, nil
}

// Whoever sees that Done is closed gets no ID any more, however soon.
func TestDoneIsClosedLast(t *testing.T) {
	for range servertest.Scale(500, 2_000) {
		n := minting(7, 1<<SequenceBits, 0, true)
		watches, seen := make(chan struct{}), make(chan uint64)
		go func() {
			ended := func() bool {
				select {
				case <-n.Done():
					return true
				default:
					return false
				}
			}
			for close(watches); !ended(); {
			}
			seen <- n.word.Load()
		}()
		<-watches
		n.Fail(errors.New("the world runs elsewhere"))
		if word := <-seen; word < stopped {
			t.Fatalf("Done is closed, and an ID could still be issued after word %#x", word)
		}
	}
}
