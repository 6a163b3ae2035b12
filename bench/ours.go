package main

import (
	"context"
	"runtime"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

// player and item are the kinds of what is minted here.
type (
	player struct{}
	item   struct{}
)

// openNode opens a node as a game server does, with the default options, on a
// registry in memory. The registry is not on the path of an ID.
func openNode(ctx context.Context, opts gameid.Options) (*gameid.Node, error) {
	return gameid.OpenNode(ctx, 7, gameidtest.NewMemory(), opts)
}

// Names that goals use.
const (
	ourNext    = "mergesafe Next"
	ourFill64  = "mergesafe Fill of 64, per ID"
	baseBursts = "C, 100 IDs once in a ms"
)

// ours lists our generators. Each has a node of its own, and starts when the
// clock has caught up with it: what is measured is minting and never the wait
// at the cap of the layout, which has rows of its own.
func ours(ctx context.Context, cores int) (list []candidate, closeAll func(), err error) {
	var nodes []*gameid.Node
	closeAll = func() {
		for _, node := range nodes {
			node.Close()
		}
	}
	for range 6 {
		node, err := openNode(ctx, gameid.Options{})
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		nodes = append(nodes, node)
	}
	list = []candidate{
		{section: oneGoroutine, name: ourNext, note: "80 bits: ms, 1,048,575 nodes, 65,536 IDs/ms; reserved before use", run: runNext(nodes[0]), noAlloc: true,
			goals: []goal{{most: 1}, {to: bestPeer, most: 0.7}, {mostNS: 15.3, in: "the cap of the layout"}}},
		{section: oneGoroutine, name: ourFill64, run: runFill(nodes[1], 64), noAlloc: true, goals: []goal{{most: 0.04}}},
		{section: oneGoroutine, name: "mergesafe Fill of 1024, per ID", run: runFill(nodes[2], 1024), noAlloc: true, goals: []goal{{most: 0.04}}},
		{section: allCores, name: onAll(ourNext), run: runNext(nodes[3]), workers: cores,
			goals: []goal{{to: onAll(baselineMutex), most: 0.7}, {to: ourNext, most: 1}}},
		{section: allCores, name: onAll(ourFill64), run: runFill(nodes[4], 64), workers: cores},
	}
	for i := range list {
		list[i].most = 16 << 20 // a quarter of how far a node may run ahead of the clock
		list[i].before = func() error { return caughtUp(ctx, nodes[i]) }
	}
	return append(list,
		inBursts(candidate{section: oneGoroutine, name: baseBursts, run: runC()}),
		inBursts(candidate{section: oneGoroutine, name: "mergesafe Next, 100 IDs once in a ms", run: runNext(nodes[5]), goals: []goal{{to: baseBursts, most: 1}}}),
	), closeAll, nil
}

// caughtUp waits until the clock has passed the newest ID.
func caughtUp(ctx context.Context, node *gameid.Node) error {
	for {
		ahead := node.Stats().Ahead
		if ahead == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(ahead):
		}
	}
}

func runNext(node *gameid.Node) func(n int) error {
	g := gameid.NewGenerator[player](node)
	return func(n int) error { return tries(n, func(int) (gameid.Of[player], error) { return g.Next() }) }
}

func runFill(node *gameid.Node, batch int) func(n int) error {
	g := gameid.NewGenerator[player](node)
	return func(n int) error {
		buf := make([]gameid.Of[player], batch)
		for ; n > 0; n -= batch {
			if err := g.Fill(buf[:min(batch, n)]); err != nil {
				return err
			}
		}
		runtime.KeepAlive(buf)
		return nil
	}
}

// inBursts measures what IDs cost a server that is not busy: a tick that makes
// 100 of them, then a pause in which the caches and the clock grow old.
func inBursts(c candidate) candidate {
	const ticks, each = 20, 100
	c.n = ticks * each
	c.elapsed = func(int) (took time.Duration, err error) {
		for range ticks {
			time.Sleep(time.Millisecond)
			start := time.Now()
			if err := c.run(each); err != nil {
				return 0, err
			}
			took += time.Since(start)
		}
		return took, nil
	}
	return c
}
