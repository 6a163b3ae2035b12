package suggest

import (
	"cmp"
	"slices"

	"mergesafe/merge/campaign"
)

// item is a world, as the packing sees it.
type item struct {
	players, rows, bytes int64
	class, server        int
}

// problem is what is to be packed, within which bounds. A bound of 0 is none.
type problem struct {
	Wishes
	items []item
	apart []bool  // whether two items are, at n*i+j
	room  []int64 // for each server; -1: no bound
	time  int64   // milliseconds of all merges

	tries, last int // groups that were looked at, and how many may be
}

// group is some worlds that become one, or a world alone.
type group struct {
	members              []int // ascending
	class                int
	players, rows, bytes int64
	first                int   // the member with the most rows, which keep their keys and names
	moved, came          int64 // rows and bytes of a new database; 0 for a world alone
	longest              int64 // milliseconds; 0 for a world alone
}

func (p *problem) group(members ...int) *group {
	p.tries++
	slices.Sort(members)
	g := &group{members: members, first: members[0], class: p.items[members[0]].class}
	for _, i := range members {
		it := p.items[i]
		g.players += it.players
		g.rows += it.rows
		g.bytes += it.bytes
		if p.betterFirst(i, g.first) {
			g.first = i
		}
	}
	if len(members) > 1 {
		g.moved, g.came = g.rows, g.bytes
		_, g.longest = p.takes(g)
	}
	return g
}

// takes is how many milliseconds a merge takes, at the least and at the most.
func (p *problem) takes(g *group) (least, most int64) {
	w := campaign.Work{Merges: 1, Worlds: len(g.members), Rows: g.rows}
	l, m := p.Rate.Takes(w.Weight())
	return l.Milliseconds(), m.Milliseconds()
}

// tired reports whether enough was tried. It bounds the time, and unlike a clock it says the same
// each time.
func (p *problem) tired() bool { return p.tries >= p.last }

// betterFirst orders first worlds by rows, then bytes, then players; of equal ones the first is it.
func (p *problem) betterFirst(a, b int) bool {
	x, y := p.items[a], p.items[b]
	return cmp.Or(cmp.Compare(x.rows, y.rows), cmp.Compare(x.bytes, y.bytes), cmp.Compare(x.players, y.players)) > 0
}

// with is g and some more members; without is g and one less of several.
func (p *problem) with(g *group, more ...int) *group {
	return p.group(slices.Concat(g.members, more)...)
}

func (p *problem) without(g *group, member int) *group {
	return p.group(slices.DeleteFunc(slices.Clone(g.members), func(i int) bool { return i == member })...)
}

// exchange is g with a new member in the place of an old one.
func (p *problem) exchange(g *group, old, new int) *group {
	members := slices.Clone(g.members)
	members[slices.Index(members, old)] = new
	return p.group(members...)
}

// fits reports whether a group keeps the bounds that are its own.
func (p *problem) fits(g *group) bool {
	if len(g.members) == 1 {
		return true
	}
	if !p.small(len(g.members), g.players, g.bytes) || p.time > 0 && g.longest > p.time {
		return false
	}
	for n, i := range g.members {
		if p.items[i].class != g.class {
			return false
		}
		for _, j := range g.members[:n] {
			if p.areApart(i, j) {
				return false
			}
		}
	}
	return true
}

// joins reports whether an item may join a group.
func (p *problem) joins(g *group, i int) bool {
	it := p.items[i]
	return p.mayMix(g, i, -1) && p.small(len(g.members)+1, g.players+it.players, g.bytes+it.bytes) &&
		(p.time == 0 || p.fits(p.with(g, i)))
}

// replaces reports whether an item may take the place of a member.
func (p *problem) replaces(g *group, old, i int) bool {
	if len(g.members) == 1 {
		return true
	}
	out, in := p.items[old], p.items[i]
	return p.mayMix(g, i, old) && p.small(len(g.members), g.players-out.players+in.players, g.bytes-out.bytes+in.bytes) &&
		(p.time == 0 || p.fits(p.exchange(g, old, i)))
}

// mayMix reports whether an item may be with all members but one.
func (p *problem) mayMix(g *group, i, but int) bool {
	apart := func(j int) bool { return j != but && p.areApart(i, j) }
	return p.items[i].class == g.class && !slices.ContainsFunc(g.members, apart)
}

// small reports whether a group of so many worlds is not too large.
func (p *problem) small(worlds int, players, bytes int64) bool {
	return (p.Most == 0 || worlds <= p.Most) && (p.PlayersMost == 0 || players <= p.PlayersMost) &&
		(p.Disk == 0 || bytes <= p.Disk)
}

func (p *problem) areApart(i, j int) bool { return p.apart[i*len(p.items)+j] }

// shared reports whether there are bounds that groups share.
func (p *problem) shared() bool {
	return p.time > 0 || slices.ContainsFunc(p.room, func(r int64) bool { return r >= 0 })
}
