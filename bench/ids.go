package main

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

// packed is what the fastest generators that carry time do for one ID, and
// nothing more: read the clock, and raise one word of milliseconds and
// sequence. No ID is made of it, no reservation checked, nothing counted.
type packed struct {
	word  atomic.Uint64
	start time.Time
}

func (p *packed) next() uint64 {
	now := uint64(time.Since(p.start) / time.Millisecond)
	for {
		last := p.word.Load()
		word := last + 1
		if now > last>>16 {
			word = now << 16
		}
		if p.word.CompareAndSwap(last, word) {
			return word
		}
	}
}

// reference is the candidate C that everything about IDs is compared with.
func reference() candidate {
	p := &packed{start: time.Now()}
	return candidate{name: "C: one atomic word + time.Since", note: "the reference of all ratios", run: func(n int) error {
		return calls(n, func(int) uint64 { return p.next() })
	}}
}

// player is the kind of what is minted here.
type player struct{}

// openNode opens a node as a game server does, with the default options, on a
// registry in memory. The registry is not on the path of an ID.
func openNode(ctx context.Context) (*gameid.Node, error) {
	return gameid.OpenNode(ctx, 7, gameidtest.NewMemory(), gameid.Options{})
}

// ours lists our generators on a node. Each starts when the clock has caught up with the node: what is
// measured is minting and never the wait at the cap of the layout.
func ours(ctx context.Context, node *gameid.Node) []candidate {
	caughtUp := func() error {
		for ahead := node.Stats().Ahead; ahead > 0; ahead = node.Stats().Ahead {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(ahead):
			}
		}
		return nil
	}
	g := gameid.NewGenerator[player](node)
	const most = 16 << 20 // a quarter of how far a node may run ahead of the clock
	return []candidate{
		{name: "mergesafe Next", note: "80 bits: ms, 1,048,575 nodes, 65,536 IDs/ms; reserved before use", before: caughtUp, most: most, run: func(n int) error {
			return tries(n, func(int) (gameid.Of[player], error) { return g.Next() })
		}},
		{name: "mergesafe Fill of 64, per ID", before: caughtUp, most: most, run: func(n int) error {
			buf := make([]gameid.Of[player], 64)
			for ; n > 0; n -= len(buf) {
				if err := g.Fill(buf[:min(len(buf), n)]); err != nil {
					return err
				}
			}
			runtime.KeepAlive(buf)
			return nil
		}},
	}
}

// ids measures all that is compared with C.
func ids(ctx context.Context, o options) (sections []section, err error) {
	libraries, err := peers()
	if err != nil {
		return nil, err
	}
	writing, reading, err := texts(ctx)
	if err != nil {
		return nil, err
	}
	node, err := openNode(ctx)
	if err != nil {
		return nil, err
	}
	defer node.Close()
	one := append(ours(ctx, node), libraries...)
	all := slices.Clone(one)
	for i := range all {
		all[i].workers = runtime.GOMAXPROCS(0)
	}
	for _, s := range []struct {
		section
		list []candidate
	}{
		{section{title: "Minting, one goroutine", intro: "The time of one ID; the ratio is to C. A library that waits or spins at its cap is measured with that."}, one},
		{section{title: "Minting, all cores", intro: "The time on the wall of one ID that any goroutine made; the ratio is to C on one goroutine."}, all},
		{section{title: "Writing text", intro: "Into a buffer that is there already where the library can do that; the ratio is to C."}, writing},
		{section{title: "Reading text", intro: "With bad text refused; the ratio is to C."}, reading},
	} {
		o.log("%s", s.title)
		found, err := measure(ctx, o.ids, reference(), s.list)
		if err != nil {
			return nil, err
		}
		// The fastest first.
		slices.SortFunc(found, func(a, b samples) int { return cmp.Compare(median(a.ns), median(b.ns)) })
		for _, f := range found {
			s.rows = append(s.rows, f.row(nanos(median(f.ns)), f.ratio))
		}
		sections = append(sections, s.section)
	}
	return sections, nil
}
