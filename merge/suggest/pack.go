package suggest

import (
	"cmp"
	"slices"
)

// pack returns the best packing that the method finds, which cannot have fewer groups than least.
func pack(p *problem, least bounds) *packing {
	if p.shared() {
		// Often they are kept by themselves.
		free := *p
		free.time, free.room = 0, make([]int64, len(p.room))
		for i := range free.room {
			free.room[i] = -1
		}
		q := packAlone(&free, least)
		if q.problem = p; q.keepsShared() {
			return q
		}
	}
	return packAlone(p, least)
}

func packAlone(p *problem, least bounds) *packing {
	var best *packing
	all := orders(p)
	for _, order := range all {
		q := apartAll(p)
		q.insert(order)
		q.improve(least, mostTries/len(all))
		if best == nil || q.worth().compare(best.worth()) < 0 {
			best = q
		}
	}
	return best
}

// keepsShared reports whether the packing keeps the bounds that groups share, and each of its
// groups the time of the night.
func (q *packing) keepsShared() bool {
	return q.affords(nil) && !slices.ContainsFunc(q.groups, func(g *group) bool { return !q.fits(g) })
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

// improve makes a packing better until none of the steps does, or enough was tried. Each step
// leaves fewer groups, or as many of which a measure is better, and is repeated until it is no
// more, so it ends.
func (q *packing) improve(least bounds, tries int) {
	began := q.tries
	fewer := func() bool { return !q.fewest(least) && (q.join() || q.dissolve(least)) }
	for again := true; again; {
		q.last = began + tries*2/3
		for _, measure := range []measure{q.rows, q.full} {
			for fewer() || !q.fewest(least) && q.change(measure) {
			}
		}
		q.last = began + tries
		for q.change(q.spread) {
		}
		again = fewer()
	}
}

// fewest reports whether there cannot be fewer groups.
func (q *packing) fewest(least bounds) bool { return len(q.groups) <= least.all }

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

// mostEmptied bounds how many groups are tried to be emptied, the smallest first.
const mostEmptied = 40

// dissolve empties one group into the others.
func (q *packing) dissolve(least bounds) bool {
	have := make([]int, len(least.class))
	for _, g := range q.groups {
		have[g.class]++
	}
	tried := slices.DeleteFunc(slices.Clone(q.groups), func(g *group) bool { return have[g.class] <= least.class[g.class] })
	slices.SortFunc(tried, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(a.members), len(b.members)), cmp.Compare(a.players, b.players), cmp.Compare(a.members[0], b.members[0]))
	})
	for _, g := range tried[:min(len(tried), mostEmptied)] {
		c := q.clone()
		if c.empty(g) {
			*q = *c
			return true
		}
	}
	return false
}

// empty moves all members of a group to others, those with the most players first.
func (q *packing) empty(g *group) bool {
	members := slices.Clone(g.members)
	slices.SortStableFunc(members, func(i, j int) int { return cmp.Compare(q.items[j].players, q.items[i].players) })
	for _, i := range members {
		if !q.moveAway(i) && !q.pushAway(i) {
			return false
		}
	}
	return true
}

// moveAway moves an item into the fullest other group that takes it.
func (q *packing) moveAway(i int) bool {
	from, best := q.of[i], -1
	rest := q.without(q.groups[from], i)
	for at, g := range q.groups {
		if at != from && q.joins(g, i) && (best < 0 || fuller(g, q.groups[best])) && q.affords([]int{at, from}, q.with(g, i), rest) {
			best = at
		}
	}
	if best >= 0 {
		q.replace([]int{best, from}, q.with(q.groups[best], i), rest)
	}
	return best >= 0
}

// pushAway moves an item into a group of which one member moves on to a third one.
func (q *packing) pushAway(i int) bool {
	from := q.of[i]
	rest := q.without(q.groups[from], i)
	for second, g := range q.groups {
		if second == from || g.class != q.items[i].class {
			continue
		}
		for _, j := range g.members {
			if q.tired() {
				return false
			}
			if !q.replaces(g, j, i) {
				continue
			}
			for third, h := range q.groups {
				if third == second || third == from || !q.joins(h, j) {
					continue
				}
				old, pushed, grown := []int{from, second, third}, q.exchange(g, j, i), q.with(h, j)
				if q.affords(old, rest, pushed, grown) {
					q.replace(old, rest, pushed, grown)
					return true
				}
			}
		}
	}
	return false
}
