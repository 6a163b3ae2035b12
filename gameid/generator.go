package gameid

import (
	"reflect"
	"sync/atomic"
)

// Generator mints the IDs of one kind of entity. It is a typed view of a
// [Node]; any number of goroutines may use it.
type Generator[E any] struct {
	node  *Node
	count *atomic.Uint64
}

// NewGenerator returns the generator for IDs of kind E on node. Generators of
// one kind on one node are the same, and share their count in [Stats].
func NewGenerator[E any](node *Node) *Generator[E] {
	return &Generator[E]{node: node, count: node.countOf(reflect.TypeFor[E]())}
}

func (n *Node) countOf(kind reflect.Type) *atomic.Uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.kinds[kind]
	if c == nil {
		c = new(atomic.Uint64)
		n.kinds[kind] = c
	}
	return c
}

// Next returns a new ID, greater than every ID that the node returned before.
//
// It takes no lock and does not block, except at the end of the reservation. There it waits
// for the call to the registry that is under way, or for two calls if the process was
// frozen meanwhile. A node that mints more than 65,536 IDs per millisecond, for
// as long as Options.Window or right from its start, is always near the end of its reservation: it
// reserves 16 ms at a time, and waits until the clock allows that.
//
// Next returns [ErrClosed], a [*LostError], or an [*ExhaustedError] that says why no
// time could be reserved.
func (g *Generator[E]) Next() (Of[E], error) {
	for {
		if word, got := g.node.take(1); got == 1 {
			g.count.Add(1)
			return Of[E]{id: g.node.id(word)}, nil
		}
		if err := g.node.await(); err != nil {
			return Of[E]{}, err
		}
	}
}

// Fill fills dst with new IDs, strictly rising, for little more than the cost
// of one. They are consecutive unless dst is longer than the number of IDs that the
// node may issue at once, or the reservation ends among them. Fill waits and fails as
// [Generator.Next] does. If it returns an error, all of dst is zero.
func (g *Generator[E]) Fill(dst []Of[E]) error {
	for rest := dst; len(rest) > 0; {
		first, got := g.node.take(uint64(len(rest)))
		if got == 0 {
			if err := g.node.await(); err != nil {
				clear(dst)
				return err
			}
			continue
		}
		write(rest[:got], g.node.id(first))
		rest = rest[got:]
		g.count.Add(got)
	}
	return nil
}

// write fills dst with first and the IDs that follow it.
func write[E any](dst []Of[E], first ID) {
	for {
		// Only the sequence differs until it wraps, into the next millisecond.
		n := min(len(dst), perMilli-int(first.lo))
		for i := range dst[:n] {
			dst[i].id = ID{hi: first.hi, lo: first.lo + uint16(i)}
		}
		if dst = dst[n:]; len(dst) == 0 {
			return
		}
		first = ID{hi: first.hi + 1<<ServerBits}
	}
}
