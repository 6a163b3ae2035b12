package main

import (
	"cmp"
	"fmt"
	"slices"
)

// goal is what one of our candidates is to reach: a limit of its ratio to
// another candidate of the same run.
type goal struct {
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

// atMost sets a goal that holds if a value is no larger.
func (r row) atMost(value, most float64, format string) row {
	r.goal, r.holds = fmt.Sprintf("≤ "+format, most), verdict(value <= most)
	return r
}

// atLeast sets a goal that holds if a value is no smaller.
func (r row) atLeast(value, least float64, format string) row {
	r.goal, r.holds = fmt.Sprintf("≥ "+format, least), verdict(value >= least)
	return r
}

// memory sets bytes that were measured, and the most that is allowed.
func (r row) memory(bytes, most uint64) row {
	const mib = 1 << 20
	r.measured = fmt.Sprintf("%.0f MiB", float64(bytes)/mib)
	return r.atMost(float64(bytes)/mib, float64(most)/mib, "%.0f MiB")
}

// compared sets the ratio, which has one value for each round.
func (r row) compared(ratios []float64) row {
	r.ratio = digits(median(ratios))
	r.spread = digits(quantile(ratios, 0.25)) + "-" + digits(quantile(ratios, 0.75))
	return r
}

// judged sets the goal of a ratio.
func (r row) judged(g goal, ratios []float64) row {
	if g.least > 0 {
		return r.atLeast(median(ratios), g.least, "%.2f")
	}
	return r.atMost(median(ratios), g.most, "%.2f")
}

// rows turns what was measured into the rows of one section: in the order of
// the list, but the peers after ours and the fastest first. With rates, rows
// show operations in a second, and ratios of these.
func rows(list []candidate, found results, rates bool) (table []row) {
	speed := func(c candidate) float64 {
		if !c.peer {
			return 0
		}
		return median(found[c.name].ns)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(speed(a), speed(b)) })
	var best string
	if i := slices.IndexFunc(list, func(c candidate) bool { return c.peer }); i >= 0 {
		best = list[i].name
	}
	for _, c := range list {
		s := found[c.name]
		ratios := s.ratio
		r := row{what: c.name, note: c.note}
		if rates {
			r.measured = perSecond(median(s.ns))
			ratios = inverse(ratios)
		} else {
			r.measured, r.allocs = nanos(median(s.ns)), allocs(s.allocs)
		}
		r = r.compared(ratios)
		var more []row
		for _, g := range c.goals {
			to, what := g.to, "  ÷ "+g.to
			if to == bestPeer {
				to, what = best, "  ÷ "+best+", "+bestPeer
			}
			switch {
			case g.mostNS > 0:
				absolute := row{what: "  in absolute terms, " + g.in, measured: r.measured}
				more = append(more, absolute.atMost(median(s.ns), g.mostNS, "%.1f ns"))
			case g.to == "":
				r = r.judged(g, ratios)
			case found[to] != nil:
				// Each was measured beside the reference; their own
				// measurements may lie seconds apart.
				q := quotients(s.ratio, found[to].ratio)
				more = append(more, row{what: what}.compared(q).judged(g, q))
			}
		}
		table = append(append(table, r), more...)
	}
	return table
}

// allocationRow says whether what must not allocate does not.
func allocationRow(list []candidate, found results) (row, bool) {
	var most float64
	measured := false
	for _, c := range list {
		if s := found[c.name]; s != nil && c.noAlloc {
			most, measured = max(most, s.allocs), true
		}
	}
	return row{
		what: "mergesafe Next, Fill, AppendText, Parse, Scan", allocs: allocs(most),
		goal: "0 allocs", holds: verdict(allocs(most) == "0"),
	}, measured
}

// allocs writes allocations per operation. What a loop allocates once, and
// what goes on in the background, is less than one in a hundred operations.
func allocs(n float64) string {
	if n < 0.01 {
		return "0"
	}
	return fmt.Sprintf("%.3g", n)
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
