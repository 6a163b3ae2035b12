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

// Names that the goals use.
const (
	ourNext    = "mergesafe Next"
	ourFill64  = "mergesafe Fill of 64, per ID"
	ourFill1k  = "mergesafe Fill of 1024, per ID"
	ourAppend  = "mergesafe AppendText"
	ourParse   = "mergesafe Parse"
	ourScan    = "mergesafe Scan of 10 bytes"
	ourBursts  = "mergesafe Next, 100 IDs once in a ms"
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
	add := func(c candidate, run func(*gameid.Node) func(n int) error) {
		if err != nil {
			return
		}
		var node *gameid.Node
		if node, err = openNode(ctx, gameid.Options{}); err != nil {
			return
		}
		nodes = append(nodes, node)
		c.before = func() error { return caughtUp(ctx, node) }
		c.run = run(node)
		list = append(list, c)
	}
	fill := func(batch int) func(*gameid.Node) func(n int) error {
		return func(node *gameid.Node) func(n int) error { return runFill(node, batch) }
	}
	// A quarter of how far a node may run ahead of the clock.
	const most = 16 << 20
	add(candidate{section: oneGoroutine, name: ourNext, note: "80 bits: ms, 1,048,575 nodes, 65,536 IDs/ms; reserved before use", most: most}, runNext)
	add(candidate{section: oneGoroutine, name: ourFill64, most: most}, fill(64))
	add(candidate{section: oneGoroutine, name: ourFill1k, most: most}, fill(1024))
	add(candidate{section: allCores, name: onAll(ourNext), workers: cores, most: most}, runNext)
	add(candidate{section: allCores, name: onAll(ourFill64), workers: cores, most: most}, fill(64))
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	return list, closeAll, nil
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
	return func(n int) error {
		var last gameid.Of[player]
		for range n {
			id, err := g.Next()
			if err != nil {
				return err
			}
			last = id
		}
		runtime.KeepAlive(last)
		return nil
	}
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

// bursts lists what IDs cost a server that is not busy: a tick that makes 100
// of them, then a pause in which the caches and the clock grow old.
func bursts(ctx context.Context) (list []candidate, closeAll func(), err error) {
	node, err := openNode(ctx, gameid.Options{})
	if err != nil {
		return nil, nil, err
	}
	const ticks, each = 20, 100
	tick := func(run func(n int) error) func(n int) (time.Duration, error) {
		return func(int) (time.Duration, error) {
			var took time.Duration
			for range ticks {
				time.Sleep(time.Millisecond)
				start := time.Now()
				if err := run(each); err != nil {
					return 0, err
				}
				took += time.Since(start)
			}
			return took, nil
		}
	}
	return []candidate{
		{section: oneGoroutine, name: baseBursts, n: ticks * each, elapsed: tick(runC())},
		{section: oneGoroutine, name: ourBursts, n: ticks * each, elapsed: tick(runNext(node))},
	}, func() { node.Close() }, nil
}
