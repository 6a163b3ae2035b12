package suggest

// spread is how far a world is from what is wanted.
func (p *problem) spread(players int64) int64 {
	if p.Players == 0 {
		return 0
	}
	return (players - p.Players) * (players - p.Players)
}

// change moves items to other groups, and lets two change places, wherever that makes the packing
// better. It reports whether it did.
func (q *packing) change() (changed bool) {
	for i := range q.items {
		if q.tired() {
			return false
		}
		for at := 0; at < len(q.groups); at++ {
			from := q.of[i]
			g, h := q.groups[from], q.groups[at]
			if at == from || g.class != h.class || len(g.members) == 1 {
				continue
			}
			if n := q.added(g, h, q.items[i].players); n <= 0 && q.joins(h, i) {
				changed = q.better(n, from, at, q.without(g, i), q.with(h, i)) || changed
			}
		}
		for j := range i {
			from, at := q.of[i], q.of[j]
			g, h := q.groups[from], q.groups[at]
			if from == at || g.class != h.class || len(g.members)+len(h.members) == 2 {
				continue
			}
			n := q.added(g, h, q.items[i].players-q.items[j].players)
			if n <= 0 && q.replaces(g, i, j) && q.replaces(h, j, i) {
				changed = q.better(n, from, at, q.exchange(g, i, j), q.exchange(h, j, i)) || changed
			}
		}
	}
	return changed
}

// added is what the spread gains if so many players go from one group to another.
func (p *problem) added(from, to *group, players int64) int64 {
	return p.spread(from.players-players) + p.spread(to.players+players) - p.spread(from.players) - p.spread(to.players)
}

// better puts two groups in the place of two others if that is better, given what is added.
func (q *packing) better(added int64, a, b int, x, y *group) bool {
	if added == 0 && x.moved+y.moved >= q.groups[a].moved+q.groups[b].moved || !q.affords([]int{a, b}, x, y) {
		return false
	}
	q.replace([]int{a, b}, x, y)
	return true
}
