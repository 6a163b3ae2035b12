package suggest

import (
	"cmp"
	"slices"
)

// pack returns the best packing that the method finds.
func pack(p *problem) *packing {
	var best *packing
	all := orders(p)
	for _, order := range all {
		q := apartAll(p)
		q.insert(order)
		q.improve(mostTries / len(all))
		if best == nil || q.worth().compare(best.worth()) < 0 {
			best = q
		}
	}
	return best
}

// orders are those in which items are packed.
func orders(p *problem) (all [][]int) {
	by := func(key func(a item) int64) {
		order := make([]int, len(p.items))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key(p.items[i]), key(p.items[j])) })
		all = append(all, order)
	}
	by(func(a item) int64 { return -a.players })
	by(func(a item) int64 { return -a.bytes })
	if p.shared() { // what costs least, first
		by(func(a item) int64 { return a.rows })
		by(func(a item) int64 { return a.bytes })
		by(func(a item) int64 { return a.players })
	}
	return all
}

// insert joins each item, in this order, with the group that is the fullest then. An item
// that comes later in the order is no group yet.
func (q *packing) insert(order []int) {
	begun := make([]bool, len(q.items)) // by the first member
	for _, i := range order {
		best := -1
		for at, g := range q.groups {
			if at != q.of[i] && begun[g.members[0]] && q.joins(g, i) && (best < 0 || fuller(g, q.groups[best])) &&
				q.affords([]int{at, q.of[i]}, q.with(g, i)) {
				best = at
			}
		}
		begun[i] = true
		if best >= 0 {
			joined := q.with(q.groups[best], i)
			begun[joined.members[0]] = true
			q.replace([]int{best, q.of[i]}, joined)
		}
	}
}

// fuller orders groups by players, then by worlds.
func fuller(a, b *group) bool {
	return cmp.Or(cmp.Compare(a.players, b.players), cmp.Compare(len(a.members), len(b.members)), cmp.Compare(b.members[0], a.members[0])) > 0
}

// mostTries is how many groups are looked at in all: a second or two of work.
const mostTries = 3_000_000

// improve joins, moves and swaps as long as one of these makes the packing better, or until enough
// was tried. No step leaves more groups or, of as many, a larger spread.
func (q *packing) improve(tries int) {
	q.last = q.tries + tries
	for q.join() || q.change() {
	}
}

// join makes one group of two, the pair that takes the shortest time.
func (q *packing) join() bool {
	var best *group
	var pair []int
	for a, x := range q.groups {
		for b, y := range q.groups[:a] {
			if q.tired() {
				return false
			}
			if x.class != y.class || !q.small(len(x.members)+len(y.members), x.players+y.players, x.bytes+y.bytes) {
				continue
			}
			both := q.with(x, y.members...)
			if (best == nil || both.longest < best.longest) && q.fits(both) && q.affords([]int{a, b}, both) {
				best, pair = both, []int{a, b}
			}
		}
	}
	if best != nil {
		q.replace(pair, best)
	}
	return best != nil
}
