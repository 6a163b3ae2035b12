package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"mergesafe/gameid"
)

// window is how far the nodes of this file may run ahead of the clock. It is
// less than the default, so that the cap is reached soon.
const window = 100 * time.Millisecond

// atTheCap measures what a node does when more is asked of it than the layout
// allows, what its IDs say of the time, and what it costs when it has nothing
// to do.
func atTheCap(ctx context.Context, o options) ([]section, error) {
	capped := gameid.Options{Window: window}
	fill := func(node *gameid.Node) func(n int) error { return runFill(node, 1024) }
	list := []struct {
		name    string
		node    gameid.Options
		measure onNode
	}{
		{"mergesafe Fill of 1024, sustained", capped, sustain(fill, "", true)},
		{"mergesafe Next, sustained, one goroutine", capped, sustain(runNext, "by the clock on the wall: it takes a core of its own", false)},
		{"a waiting Fill ends after Close", capped, endOfWait},
		{"the time in an ID, one goroutine, flat out", capped, load{workers: 1, batch: 1000}.accuracy},
		{"the time in an ID, all cores, flat out", capped, load{workers: runtime.GOMAXPROCS(0), batch: 1000}.accuracy},
		{"the time in an ID, 100 IDs once in 1 ms", capped, load{workers: 1, batch: 100, pause: time.Millisecond}.accuracy},
		{"the time in an ID, one ID once in 20 ms", capped, load{workers: 1, batch: 1, pause: 20 * time.Millisecond}.accuracy},
		{"an idle node", gameid.Options{}, idle},
	}
	return o.measureSection("At the cap of the layout, 65,536 IDs in a ms, and what IDs say of the time",
		"Of nodes with which the clock has caught up: a new one begins up to Options.Window ahead of it. Ratios are to the cap. CPU is that of this process, in shares of one core.",
		nil, func(m *measuring) {
			// All are opened first, so that they wait for the clock together.
			nodes := make([]*gameid.Node, len(list))
			for i, at := range list {
				if m.wants(at.name) {
					var err error
					nodes[i], err = openNode(ctx, at.node)
					m.must(err)
				}
			}
			for i, at := range list {
				if nodes[i] == nil {
					continue
				}
				o.log("cap: %s", at.name)
				m.must(caughtUp(ctx, nodes[i]))
				at.measure(ctx, m, nodes[i], at.name)
				m.must(nodes[i].Close())
			}
		})
}

// onNode measures rows on a node of its own.
type onNode func(ctx context.Context, m *measuring, node *gameid.Node, name string)

// sustain lets one goroutine mint without a pause: first until the node has
// run as far ahead of the clock as it may, or a little longer than that
// takes, then for as long as is measured. There are more rows if it waits
// rather than mints.
func sustain(loop func(*gameid.Node) func(n int) error, note string, waits bool) onNode {
	return func(ctx context.Context, m *measuring, node *gameid.Node, name string) {
		const some = 1 << 16
		mint := loop(node)
		for start := time.Now(); node.Stats().Waits == 0 && time.Since(start) < m.sustain; {
			m.must(mint(some))
		}
		n := 0
		var took, farthest time.Duration
		cpu := cpuShare(func() {
			for start := time.Now(); took < m.sustain; took = time.Since(start) {
				m.must(context.Cause(ctx))
				m.must(mint(some))
				n += some
				farthest = max(farthest, node.Stats().Ahead)
			}
		})
		ns := float64(took.Nanoseconds()) / float64(n)
		ratio := capNS / ns
		m.add(row{what: name, measured: nanos(ns), ratio: fmt.Sprintf("%.3f", ratio), note: note}.atLeast(ratio, 0.98, "%.2f"))
		if waits {
			r := row{what: "  ahead of the clock", measured: fmt.Sprintf("%.1f ms", millis(farthest)), note: "Options.Window of this node; default 10 s"}
			// A millisecond of grace: reading how far ahead a node is takes time, too.
			m.add(r.atMost(millis(farthest-time.Millisecond), millis(window), "%.0f ms"))
			m.add(cpuRow("  CPU, minting and waiting", cpu, 0.25, "no spinning"))
		}
	}
}

// endOfWait asks for more IDs than there are, so that the node waits, and
// measures how long the wait goes on after Close.
func endOfWait(_ context.Context, m *measuring, node *gameid.Node, name string) {
	var ended time.Time
	failed := make(chan error)
	go func() {
		g := gameid.NewGenerator[player](node)
		ids := make([]gameid.Of[player], 50<<gameid.SequenceBits) // what 50 ms have
		var err error
		for err == nil {
			err = g.Fill(ids)
		}
		ended = time.Now()
		failed <- err
	}()
	// In a slow build, or among many processes, it may never come to that.
	for start := time.Now(); node.Stats().Waits == 0 && time.Since(start) < m.sustain; {
		time.Sleep(time.Millisecond)
	}
	waited := node.Stats().Waits > 0
	start := time.Now()
	node.Close()
	err := <-failed
	if !waited {
		m.add(row{what: name, note: "not measured: the cap was not reached"})
		return
	}
	if !errors.Is(err, gameid.ErrClosed) {
		m.must(&wrong{fmt.Sprintf("%s: Fill returned %v, want %v", name, err, gameid.ErrClosed)})
	}
	late := millis(ended.Sub(start))
	m.add(row{what: name, measured: fmt.Sprintf("%.1f ms", late)}.atMost(late, 10, "%.0f ms"))
}

// load is how IDs are minted while their times are compared with the clock.
type load struct {
	workers int
	batch   int           // IDs between two samples
	pause   time.Duration // before each sample; 0 may reach the cap, and so run ahead
}

// accuracy compares the time in IDs with the clock just before and just after
// they were minted.
func (l load) accuracy(ctx context.Context, m *measuring, node *gameid.Node, name string) {
	var all lag
	var mu sync.Mutex
	_, err := together(l.workers, func(int) error {
		one, err := l.watch(ctx, node, m.sustain)
		mu.Lock()
		defer mu.Unlock()
		all = lag{max(all.behind, one.behind), max(all.ahead, one.ahead), all.samples + one.samples}
		return err
	})
	m.must(err)
	r := row{what: name, measured: fmt.Sprintf("%d ms behind", all.behind), note: fmt.Sprintf("the worst of %s samples", count(all.samples))}
	off := all.behind
	if l.pause > 0 {
		off = max(off, all.ahead)
		r.measured += fmt.Sprintf(", %d ahead", all.ahead)
	}
	m.add(r.atMost(float64(off), 2, "%.0f ms"))
}

// lag is how far the times in IDs were off the clock, in milliseconds.
type lag struct {
	behind, ahead int64
	samples       int
}

func (l load) watch(ctx context.Context, node *gameid.Node, long time.Duration) (seen lag, err error) {
	g := gameid.NewGenerator[player](node)
	mint := runNext(node)
	for start := time.Now(); time.Since(start) < long; seen.samples++ {
		if ctx.Err() != nil {
			return seen, context.Cause(ctx)
		}
		if l.pause > 0 {
			time.Sleep(l.pause)
		}
		before := time.Now()
		id, err := g.Next()
		if err != nil {
			return seen, err
		}
		after := time.Now()
		seen.behind = max(seen.behind, before.UnixMilli()-gameid.EpochMillis-id.Millis())
		seen.ahead = max(seen.ahead, id.Millis()-(after.UnixMilli()-gameid.EpochMillis))
		if err := mint(l.batch - 1); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// idle measures what a node costs that has minted before and mints no more.
func idle(ctx context.Context, m *measuring, node *gameid.Node, name string) {
	m.must(runNext(node)(1 << 20))
	runtime.GC()
	time.Sleep(10 * time.Millisecond) // what is still going on ends
	share := cpuShare(func() {
		select {
		case <-ctx.Done():
			m.must(context.Cause(ctx))
		case <-time.After(m.sustain):
		}
	})
	m.add(cpuRow(name+", CPU", share, 0.005, "nothing ticks"))
}

// cpuShare returns how much of one core this process has used while f ran. It
// is negative where the system does not tell.
func cpuShare(f func()) float64 {
	start, before := time.Now(), cpuTime()
	f()
	if before == 0 {
		return -1
	}
	return float64(cpuTime()-before) / float64(time.Since(start))
}

func cpuRow(name string, share, most float64, note string) row {
	if share < 0 {
		return row{what: name, note: "not known on this system"}
	}
	return row{what: name, measured: fmt.Sprintf("%.1f %%", 100*share), note: note}.atMost(100*share, 100*most, "%.3g %%")
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
