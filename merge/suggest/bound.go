package suggest

import (
	"slices"

	"mergesafe/merge/campaign"
)

// bounds are numbers of groups below which no packing comes: of each class, and of all items. The
// latter may be more than the sum: what groups share counts too.
type bounds struct {
	class []int
	all   int
}

func leastGroups(p *problem) bounds {
	byClass := make(map[int][]int)
	for i, it := range p.items {
		byClass[it.class] = append(byClass[it.class], i)
	}
	b := bounds{class: make([]int, len(byClass))}
	for class := range b.class {
		b.class[class] = p.leastOf(byClass[class])
		b.all += b.class[class]
	}
	b.all = max(b.all, len(p.items)-p.mostMoved())
	return b
}

// leastOf is a number of groups below which items of one class do not come.
func (p *problem) leastOf(items []int) int {
	// An item that can be with no other one is a group.
	var mixed []int
	for _, i := range items {
		if slices.ContainsFunc(items, func(j int) bool { return j != i && p.fits(p.group(i, j)) }) {
			mixed = append(mixed, i)
		}
	}
	most := len(mixed)
	if p.most > 0 {
		most = min(most, p.most)
	}
	sizes := func(size func(item) int64) (all []int64) {
		for _, i := range mixed {
			all = append(all, size(p.items[i]))
		}
		return all
	}
	least := max(p.strangers(mixed), leastByCount(make([]int64, len(mixed)), 0, most))
	for _, bound := range []struct {
		size func(item) int64
		most int64
	}{{func(a item) int64 { return a.players }, p.cap}, {func(a item) int64 { return a.bytes }, p.disk}} {
		if bound.most > 0 {
			s := sizes(bound.size)
			least = max(least, leastBins(s, bound.most), leastByCount(s, bound.most, most))
		}
	}
	return least + len(items) - len(mixed)
}

// strangers is how many of the items are found of which no two can be together: those that can
// be with the fewest others first.
func (p *problem) strangers(items []int) int {
	n := len(items)
	together := make([]bool, n*n)
	friends := make([]int, n)
	for a, i := range items {
		for b, j := range items[:a] {
			if p.fits(p.group(i, j)) {
				together[a*n+b], together[b*n+a] = true, true
				friends[a]++
				friends[b]++
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return friends[a] - friends[b] })
	var found []int
	for _, a := range order {
		if !slices.ContainsFunc(found, func(b int) bool { return together[a*n+b] }) {
			found = append(found, a)
		}
	}
	return len(found)
}

// leastBins is the bound of Martello and Toth: bins that things of these sizes need. For each
// size s up to half a bin, things of more than a bin without s are alone, those of more than half
// a bin are in bins of their own, and of the others, those of s and more fill what is left there
// and further bins.
func leastBins(sizes []int64, bin int64) int {
	most := int64(0)
	for _, s := range append(sizes, 0) {
		if 2*s > bin {
			continue
		}
		var alone, large, free, rest int64
		for _, size := range sizes {
			switch {
			case size > bin-s:
				alone++
			case 2*size > bin:
				large++
				free += bin - size
			case size >= s:
				rest += size
			}
		}
		bins := alone + large
		if rest > free && bin > 0 {
			bins += (rest - free + bin - 1) / bin
		}
		most = max(most, bins)
	}
	return int(most)
}

// leastByCount is a bound by how many things are in a bin, which are most at the most. If t bins
// have k things or more, then the k*t smallest things are no more than t bins hold: so few bins
// have so many things. And all things are those that are the first in their bins, those that are
// the second, and so on.
func leastByCount(sizes []int64, bin int64, most int) int {
	sums := []int64{0} // of the smallest things
	for _, size := range slices.Sorted(slices.Values(sizes)) {
		sums = append(sums, sums[len(sums)-1]+size)
	}
	full := make([]int, 0, most) // how many bins have 2 things or more at the most, then 3, and so on
	for k := 2; k <= most; k++ {
		t := 0
		for (t+1)*k < len(sums) && sums[(t+1)*k] <= int64(t+1)*bin {
			t++
		}
		full = append(full, t)
	}
	for bins := 0; ; bins++ {
		things := bins
		for _, t := range full {
			things += min(bins, t)
		}
		if things >= len(sizes) {
			return bins
		}
	}
}

// mostMoved is how many items can be moved at the most, as far as the bounds go that all groups
// share: those with the fewest rows, or bytes, would be.
func (p *problem) mostMoved() int {
	moved := len(p.items)
	if p.time > 0 {
		moved = p.movedInTime()
	}
	if len(p.room) == 0 || slices.Contains(p.room, -1) {
		return moved
	}
	var room int64
	for _, r := range p.room {
		room += r
	}
	for k, sum := range p.sums(func(a item) int64 { return a.bytes }) {
		if sum > room {
			return min(moved, k-1)
		}
	}
	return moved
}

// movedInTime is how many items can be moved in the time of all workers. The least that n of them
// take is when they have the fewest rows, and their targets the fewest of the others.
func (p *problem) movedInTime() int {
	rows := p.sums(func(a item) int64 { return a.rows })
	most := p.largest() - 1 // sources of a merge
	for n := 1; n < len(rows) && most > 0; n++ {
		merges := (n + most - 1) / most
		if n+merges >= len(rows) {
			return n - 1
		}
		_, took := p.work(campaign.Work{Merges: merges, Worlds: n + merges, Moved: rows[n], Target: rows[n+merges] - rows[n]})
		if took-int64(merges) > p.time*int64(p.parallel) { // less the milliseconds of rounding
			return n - 1
		}
	}
	return 0
}

// largest is how many items a group has at the most.
func (p *problem) largest() int {
	most := len(p.items)
	if p.most > 0 {
		most = min(most, p.most)
	}
	for _, bound := range []struct {
		sums []int64
		most int64
	}{{p.sums(func(a item) int64 { return a.players }), p.cap}, {p.sums(func(a item) int64 { return a.bytes }), p.disk}} {
		for n, sum := range bound.sums {
			if bound.most > 0 && sum > bound.most {
				most = min(most, n-1)
				break
			}
		}
	}
	return most
}

// sums are those of the smallest items: of none, of the smallest, of the two smallest.
func (p *problem) sums(size func(item) int64) []int64 {
	var all []int64
	for _, it := range p.items {
		all = append(all, size(it))
	}
	slices.Sort(all)
	sums := []int64{0}
	for _, n := range all {
		sums = append(sums, sums[len(sums)-1]+n)
	}
	return sums
}
