package main

import (
	"fmt"
	"slices"
)

// goal is what one of our rows is to reach: a limit of its ratio to another
// row of the same run.
type goal struct {
	of string // the name of the candidate

	// to is what it is compared with: the name of a candidate, bestPeer, or
	// nothing for the reference of its section.
	to string

	most  float64 // the largest ratio that holds, 0 if there is none
	least float64 // the smallest

	// mostNS is a limit in nanoseconds rather than a ratio, and in says what
	// it comes from.
	mostNS float64
	in     string
}

// bestPeer stands for the fastest other library of the section.
const bestPeer = "the fastest peer"

// capNS is the cap of the layout: one ID of 65,536 in a millisecond.
const capNS = 1e6 / 65536

// goals lists all of them but those at the cap of the layout, which cap.go
// measures in other units.
func goals() []goal {
	return []goal{
		{of: ourNext, most: 1},
		{of: ourNext, to: bestPeer, most: 0.7},
		{of: ourNext, mostNS: 15.3, in: "the cap of the layout"},
		{of: ourBursts, to: baseBursts, most: 1},
		{of: onAll(ourNext), to: onAll(baselineMutex), most: 0.7},
		{of: onAll(ourNext), to: ourNext, most: 1},
		{of: ourFill64, most: 0.04},
		{of: ourFill1k, most: 0.04},
		{of: ourAppend, most: 0.6},
		{of: ourParse, most: 0.35},
	}
}

// withoutAllocations lists what must not allocate.
var withoutAllocations = [...]string{ourNext, ourFill64, ourFill1k, ourAppend, ourParse, ourScan}

func (g goal) text() string {
	switch {
	case g.mostNS > 0:
		return fmt.Sprintf("≤ %.1f ns", g.mostNS)
	case g.least > 0:
		return fmt.Sprintf("≥ %.2f", g.least)
	}
	return fmt.Sprintf("≤ %.2f", g.most)
}

func (g goal) holds(median float64) bool {
	if g.least > 0 {
		return median >= g.least
	}
	return median <= g.most
}

// rows turns what was measured into the rows of one section: in the order of
// the list, but the peers after ours and the fastest first. With rates, rows
// show operations in a second, and ratios of these.
func rows(list []candidate, found results, wanted []goal, rates bool) []row {
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch {
		case !a.peer && !b.peer:
			return 0
		case a.peer && b.peer && median(found[a.name].ns) >= median(found[b.name].ns), a.peer && !b.peer:
			return 1
		}
		return -1
	})
	var best string
	if i := slices.IndexFunc(list, func(c candidate) bool { return c.peer }); i >= 0 {
		best = list[i].name
	}
	var table []row
	for _, c := range list {
		s := found[c.name]
		r := row{what: c.name, measured: nanos(median(s.ns)), note: c.note}
		if !rates {
			r.allocs = allocs(s.allocs)
		}
		ratios := s.ratio
		if rates {
			r.measured = perSecond(median(s.ns))
			ratios = inverse(ratios)
		}
		r.ratio, r.spread = ratioText(ratios), spreadText(ratios)
		var more []row
		for _, g := range wanted {
			if g.of != c.name {
				continue
			}
			to := g.to
			if to == bestPeer {
				to = best
			}
			switch {
			case g.mostNS > 0:
				more = append(more, row{
					what: "  in absolute terms, " + g.in, measured: r.measured,
					goal: g.text(), holds: verdict(median(s.ns) <= g.mostNS),
				})
			case g.to == "":
				r.goal, r.holds = g.text(), verdict(g.holds(median(ratios)))
			case found[to] != nil:
				// Each was measured beside the reference; their own
				// measurements may lie seconds apart.
				q := quotients(s.ratio, found[to].ratio)
				what := "  ÷ " + to
				if g.to == bestPeer {
					what += ", " + bestPeer
				}
				more = append(more, row{
					what: what, ratio: ratioText(q), spread: spreadText(q),
					goal: g.text(), holds: verdict(g.holds(median(q))),
				})
			}
		}
		table = append(append(table, r), more...)
	}
	return table
}

// allocationRow says whether what must not allocate does not.
func allocationRow(found results) (row, bool) {
	r := row{what: "mergesafe Next, Fill, AppendText, Parse, Scan", goal: "0 allocs"}
	var most float64
	measured := false
	for _, name := range withoutAllocations {
		if s := found[name]; s != nil {
			most, measured = max(most, s.allocs), true
		}
	}
	r.allocs = allocs(most)
	r.holds = verdict(r.allocs == "0")
	return r, measured
}

// allocs writes allocations per operation. What a loop allocates once, and
// what goes on in the background, is less than one in a hundred operations.
func allocs(n float64) string {
	if n < 0.01 {
		return "0"
	}
	return fmt.Sprintf("%.3g", n)
}

func ratioText(ratios []float64) string { return digits(median(ratios)) }

func spreadText(ratios []float64) string {
	return digits(quantile(ratios, 0.25)) + "-" + digits(quantile(ratios, 0.75))
}

// digits writes a ratio with as many digits as mean something.
func digits(ratio float64) string {
	switch {
	case ratio < 0.1:
		return fmt.Sprintf("%.3f", ratio)
	case ratio < 10:
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

func inverse(values []float64) []float64 {
	inverted := make([]float64, len(values))
	for i, v := range values {
		inverted[i] = 1 / v
	}
	return inverted
}
