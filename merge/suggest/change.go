package suggest

// measure is how bad a group with so many players is. Of groups that are as bad, those that move
// fewer rows are better.
type measure func(players int64) int64

// rows takes all groups for equal, so that the fewest rows are moved: more of the time and of the
// disks is left to other groups.
func (p *problem) rows(int64) int64 { return 0 }

// full is better the fuller some groups are and the emptier others, which then have room.
func (p *problem) full(players int64) int64 { return -players * players }

// spread is how far a world is from what is wanted.
func (p *problem) spread(players int64) int64 {
	if p.want == 0 {
		return 0
	}
	return (players - p.want) * (players - p.want)
}

// change moves items to other groups, and lets two change places, wherever that makes the packing
// better. It reports whether it did.
func (q *packing) change(bad measure) (changed bool) {
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
			if n := bad.of(g, h, q.items[i].players); n <= 0 && q.joins(h, i) {
				changed = q.better(n, from, at, q.without(g, i), q.with(h, i)) || changed
			}
		}
		for j := range i {
			from, at := q.of[i], q.of[j]
			g, h := q.groups[from], q.groups[at]
			if from == at || g.class != h.class || len(g.members)+len(h.members) == 2 {
				continue
			}
			if n := bad.of(g, h, q.items[i].players-q.items[j].players); n <= 0 && q.replaces(g, i, j) && q.replaces(h, j, i) {
				changed = q.better(n, from, at, q.exchange(g, i, j), q.exchange(h, j, i)) || changed
			}
		}
	}
	return changed
}

// of is what is added if so many players go from one group to another.
func (bad measure) of(from, to *group, players int64) int64 {
	return bad(from.players-players) + bad(to.players+players) - bad(from.players) - bad(to.players)
}

// better puts two groups in the place of two others if that is better, given what is added.
func (q *packing) better(added int64, a, b int, x, y *group) bool {
	if added == 0 && x.moved+y.moved >= q.groups[a].moved+q.groups[b].moved || !q.affords([]int{a, b}, x, y) {
		return false
	}
	q.replace([]int{a, b}, x, y)
	return true
}
