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

// ahead bounds how far the nodes of this file run ahead of the clock. It is
// less than the default, so that the cap is reached soon.
const ahead = 50 * time.Millisecond

// atTheCap measures what a node does when more is asked of it than the layout
// allows, what its IDs say of the time, and what it costs when it has nothing
// to do.
func atTheCap(ctx context.Context, o options) (section, error) {
	s := section{
		title: "At the cap of the layout, 65,536 IDs in a ms, and what IDs say of the time",
		intro: "Ratios are to the cap. CPU is that of this process, in shares of one core.",
	}
	for _, part := range []struct {
		name string
		rows func(context.Context, options, string) ([]row, error)
	}{
		{"mergesafe Fill of 1024, sustained", sustainedFill},
		{"mergesafe Next, sustained, one goroutine", sustainedNext},
		{"a waiting Fill ends", waitEnds},
		{"the time in an ID", accuracy},
		{"an idle node", idle},
	} {
		if !o.wants(s.title, part.name) {
			continue
		}
		o.log("cap: %s", part.name)
		rows, err := part.rows(ctx, o, part.name)
		if err != nil {
			return s, fmt.Errorf("%s: %w", part.name, err)
		}
		s.rows = append(s.rows, rows...)
	}
	return s, nil
}

func sustainedFill(ctx context.Context, o options, name string) ([]row, error) {
	node, err := openNode(ctx, gameid.Options{Ahead: ahead})
	if err != nil {
		return nil, err
	}
	defer node.Close()
	mint := runFill(node, 1024)
	got, err := sustain(ctx, node, o.sustain, mint)
	if err != nil {
		return nil, err
	}
	// A millisecond of grace: reading how far ahead a node is takes time, too.
	return []row{
		got.rate(name),
		{
			what: "  ahead of the clock", measured: fmt.Sprintf("%.1f ms", millis(got.ahead)),
			goal: fmt.Sprintf("≤ %.0f ms", millis(ahead)), holds: verdict(got.ahead <= ahead+time.Millisecond),
			note: "Options.Ahead of this node; default 1 s, of 10 s reserved",
		},
		cpuRow("  CPU, minting and waiting", got.cpu, 0.25, "no spinning"),
	}, nil
}

func sustainedNext(ctx context.Context, o options, name string) ([]row, error) {
	node, err := openNode(ctx, gameid.Options{Ahead: ahead})
	if err != nil {
		return nil, err
	}
	defer node.Close()
	got, err := sustain(ctx, node, o.sustain, runNext(node))
	if err != nil {
		return nil, err
	}
	r := got.rate(name)
	r.note = "by the clock on the wall: it takes a core of its own"
	return []row{r}, nil
}

// sustained is what a node does under an endless demand.
type sustained struct {
	ns    float64       // per ID
	ahead time.Duration // the most that was seen
	cpu   float64       // share of one core; negative if unknown
}

func (s sustained) rate(name string) row {
	const least = 0.98
	ratio := capNS / s.ns
	return row{
		what: name, measured: nanos(s.ns), ratio: fmt.Sprintf("%.3f", ratio),
		goal: fmt.Sprintf("≥ %.2f", least), holds: verdict(ratio >= least),
	}
}

// sustain lets one goroutine mint without a pause: first until the node has
// run as far ahead of the clock as it may, or a little longer than that
// takes, then for as long as is measured.
func sustain(ctx context.Context, node *gameid.Node, long time.Duration, mint func(n int) error) (sustained, error) {
	const some = 1 << 16
	for start := time.Now(); node.Stats().Waits == 0 && time.Since(start) < long; {
		if err := mint(some); err != nil {
			return sustained{}, err
		}
	}
	got := sustained{}
	n := 0
	before, known := cpuTime()
	start := time.Now()
	for time.Since(start) < long {
		if ctx.Err() != nil {
			return got, context.Cause(ctx)
		}
		if err := mint(some); err != nil {
			return got, err
		}
		n += some
		got.ahead = max(got.ahead, node.Stats().Ahead)
	}
	took := time.Since(start)
	after, _ := cpuTime()
	got.ns = float64(took.Nanoseconds()) / float64(n)
	got.cpu = -1
	if known {
		got.cpu = float64(after-before) / float64(took)
	}
	return got, nil
}

// waitEnds asks for more IDs than there are, so that the node waits for the
// clock, and ends the wait by the context and by closing the node.
func waitEnds(ctx context.Context, o options, name string) ([]row, error) {
	first, err := endWait(ctx, o, name+" after its context", context.Canceled, func(_ *gameid.Node, cancel context.CancelFunc) { cancel() })
	if err != nil {
		return nil, err
	}
	second, err := endWait(ctx, o, name+" after Close", gameid.ErrClosed, func(node *gameid.Node, _ context.CancelFunc) { node.Close() })
	return []row{first, second}, err
}

func endWait(ctx context.Context, o options, name string, want error, end func(*gameid.Node, context.CancelFunc)) (row, error) {
	r := row{what: name}
	node, err := openNode(ctx, gameid.Options{Ahead: ahead})
	if err != nil {
		return r, err
	}
	defer node.Close()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended time.Time
	var failure error
	var done sync.WaitGroup
	done.Go(func() {
		g := gameid.NewGenerator[player](node)
		ids := make([]gameid.Of[player], 50<<gameid.SequenceBits) // what 50 ms have
		for failure == nil && inner.Err() == nil {
			failure = g.FillContext(inner, ids)
		}
		ended = time.Now()
	})
	// In a slow build, or among many processes, it may never come to that.
	for start := time.Now(); node.Stats().Waits == 0 && time.Since(start) < o.sustain; {
		time.Sleep(time.Millisecond)
	}
	waited := node.Stats().Waits > 0
	start := time.Now()
	end(node, cancel)
	done.Wait()
	if !waited {
		r.note = "not measured: the cap was not reached"
		return r, nil
	}
	if failure != nil && !errors.Is(failure, want) { // nil: that Fill had ended just before
		return r, &wrong{fmt.Sprintf("%s: Fill returned %v, want %v", name, failure, want)}
	}
	const most = 10 * time.Millisecond
	late := ended.Sub(start)
	r.measured = fmt.Sprintf("%.1f ms", millis(late))
	r.goal, r.holds = fmt.Sprintf("≤ %.0f ms", millis(most)), verdict(late <= most)
	return r, nil
}

// accuracy compares the time in IDs with the clock just before and just after
// they were minted.
func accuracy(ctx context.Context, o options, name string) ([]row, error) {
	var table []row
	for _, load := range []struct {
		name    string
		workers int
		batch   int           // IDs between two samples
		pause   time.Duration // before each sample
		capped  bool          // may reach the cap, and so run ahead
	}{
		{"one goroutine, flat out", 1, 1000, 0, true},
		{"all cores, flat out", runtime.GOMAXPROCS(0), 1000, 0, true},
		{"100 IDs once in 1 ms", 1, 100, time.Millisecond, false},
		{"one ID once in 20 ms", 1, 1, 20 * time.Millisecond, false},
	} {
		node, err := openNode(ctx, gameid.Options{Ahead: ahead})
		if err != nil {
			return nil, err
		}
		lags := make([]lag, load.workers)
		errs := make([]error, load.workers)
		var done sync.WaitGroup
		for i := range load.workers {
			done.Go(func() { lags[i], errs[i] = watch(ctx, node, o.sustain, load.batch, load.pause) })
		}
		done.Wait()
		node.Close()
		var all lag
		for i := range lags {
			if errs[i] != nil {
				return nil, errs[i]
			}
			all.behind, all.ahead = max(all.behind, lags[i].behind), max(all.ahead, lags[i].ahead)
			all.samples += lags[i].samples
		}
		off := all.behind
		r := row{what: name + ", " + load.name, note: fmt.Sprintf("the worst of %s samples", count(all.samples))}
		r.measured = fmt.Sprintf("%d ms behind", all.behind)
		if !load.capped {
			off = max(off, all.ahead)
			r.measured += fmt.Sprintf(", %d ahead", all.ahead)
		}
		const most = 2
		r.goal, r.holds = fmt.Sprintf("≤ %d ms", most), verdict(off <= most)
		table = append(table, r)
	}
	return table, nil
}

// lag is how far the times in IDs were off the clock, in milliseconds.
type lag struct {
	behind, ahead int64
	samples       int
}

func watch(ctx context.Context, node *gameid.Node, long time.Duration, batch int, pause time.Duration) (lag, error) {
	g := gameid.NewGenerator[player](node)
	mint := runNext(node)
	var l lag
	for start := time.Now(); time.Since(start) < long; l.samples++ {
		if ctx.Err() != nil {
			return l, context.Cause(ctx)
		}
		if pause > 0 {
			time.Sleep(pause)
		}
		before := time.Now()
		id, err := g.Next()
		if err != nil {
			return l, err
		}
		after := time.Now()
		l.behind = max(l.behind, before.UnixMilli()-gameid.EpochMillis-id.Millis())
		l.ahead = max(l.ahead, id.Millis()-(after.UnixMilli()-gameid.EpochMillis))
		if err := mint(batch - 1); err != nil {
			return l, err
		}
	}
	return l, nil
}

// idle measures what a node costs that has minted before and mints no more.
func idle(ctx context.Context, o options, name string) ([]row, error) {
	before, known := cpuTime()
	if !known {
		return nil, nil
	}
	node, err := openNode(ctx, gameid.Options{})
	if err != nil {
		return nil, err
	}
	defer node.Close()
	if err := runNext(node)(1 << 20); err != nil {
		return nil, err
	}
	runtime.GC()
	time.Sleep(10 * time.Millisecond) // what is still going on ends
	before, _ = cpuTime()
	start := time.Now()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(o.sustain):
	}
	after, _ := cpuTime()
	share := float64(after-before) / float64(time.Since(start))
	return []row{cpuRow(name+", CPU", share, 0.005, "nothing ticks")}, nil
}

func cpuRow(name string, share, most float64, note string) row {
	if share < 0 {
		return row{what: name, note: "not known on this system"}
	}
	return row{
		what: name, measured: fmt.Sprintf("%.1f %%", 100*share),
		goal: fmt.Sprintf("≤ %.3g %%", 100*most), holds: verdict(share <= most), note: note,
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
