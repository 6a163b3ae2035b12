package suggest

import (
	"cmp"
	"slices"
)

// packing is a division of all items into groups, which keeps all bounds.
type packing struct {
	*problem
	groups []*group
	of     []int // for each item, the index of its group

	// What the groups have of the bounds that they share.
	longest int64   // the sum
	came    []int64 // bytes, for each server
}

// worth is how good a packing is.
type worth struct {
	worlds        int
	spread, moved int64
}

func (a worth) compare(b worth) int {
	return cmp.Or(cmp.Compare(a.worlds, b.worlds), cmp.Compare(a.spread, b.spread), cmp.Compare(a.moved, b.moved))
}

// apartAll is the packing of items that are all alone.
func apartAll(p *problem) *packing {
	q := &packing{problem: p, of: make([]int, len(p.items)), came: make([]int64, len(p.room))}
	for i := range p.items {
		q.groups = append(q.groups, p.group(i))
		q.of[i] = i
	}
	return q
}

func (q *packing) worth() worth {
	w := worth{worlds: len(q.groups)}
	for _, g := range q.groups {
		w.spread += q.spread(g.players)
		w.moved += g.moved
	}
	return w
}

// replace puts new groups in the place of those at some indexes, in any order.
func (q *packing) replace(old []int, groups ...*group) {
	old = slices.Sorted(slices.Values(old))
	for _, at := range slices.Backward(old) {
		q.count(q.groups[at], -1)
		q.groups = slices.Delete(q.groups, at, at+1)
	}
	for _, g := range groups {
		q.count(g, 1)
		q.groups = append(q.groups, g)
	}
	for at, g := range q.groups {
		for _, i := range g.members {
			q.of[i] = at
		}
	}
}

func (q *packing) count(g *group, sign int64) {
	q.longest += sign * g.longest
	q.came[q.items[g.first].server] += sign * g.came
}

// affords reports whether groups may take the place of those at some indexes, as far as the
// bounds go that all groups share.
func (q *packing) affords(old []int, groups ...*group) bool {
	if !q.shared() {
		return true
	}
	came, sum := slices.Clone(q.came), q.longest
	for _, at := range old {
		g := q.groups[at]
		came[q.items[g.first].server] -= g.came
		sum -= g.longest
	}
	for _, g := range groups {
		came[q.items[g.first].server] += g.came
		sum += g.longest
	}
	for server, room := range q.room {
		if room >= 0 && came[server] > room {
			return false
		}
	}
	switch {
	case q.time == 0 || sum <= q.time:
		return true
	case sum > q.time*int64(q.Parallel):
		return false
	}
	var durations []int64
	for at, g := range q.groups {
		if !slices.Contains(old, at) {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		if g.longest > 0 {
			durations = append(durations, g.longest)
		}
	}
	q.tries += len(durations) / 4 // it takes as long as these
	return night(durations, q.Parallel) <= q.time
}
