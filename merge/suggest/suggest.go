package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/inventory"
)

// Suggestion is which worlds to merge, and why.
type Suggestion struct {
	Method    string    `json:"method"`
	Inventory time.Time `json:"inventory"` // when it was made
	Wishes    Wishes    `json:"wishes"`

	Worlds int `json:"worlds"` // that could be merged
	Become int `json:"become"` // worlds that are left of these

	Moved   int64      `json:"moved"`   // rows that are copied
	Before  Ends       `json:"before"`  // active players of the worlds that could be merged
	After   Ends       `json:"after"`   // of those that are left
	Seconds [2]float64 `json:"seconds"` // of all merges: at the least and at the most

	Merges []Merge   `json:"merges"` // the longest first, as the campaign begins them
	Stay   []LeftOut `json:"stay"`   // worlds that stay as they are
	Left   []LeftOut `json:"left"`   // worlds that cannot be merged as they are
}

// Ends are the smallest and the largest of some numbers, and the one in the middle.
type Ends struct {
	Least  int64 `json:"least"`
	Middle int64 `json:"middle"`
	Most   int64 `json:"most"`
}

// LeftOut is a world that is in no merge.
type LeftOut struct {
	World  string `json:"world"`
	Reason string `json:"reason"`
}

// Merge is a group of worlds that become one.
type Merge struct {
	Worlds  []string   `json:"worlds"` // the one that keeps its keys and names, then the others by name
	Why     string     `json:"why"`    // the first is this one
	Before  []int64    `json:"before"` // active players of each world
	After   int64      `json:"after"`  // their sum: who plays in several worlds is counted in each
	Rows    int64      `json:"rows"`   // that are copied
	Bytes   int64      `json:"bytes"`  // of all worlds
	Seconds [2]float64 `json:"seconds"`
	Notes   []string   `json:"notes,omitempty"`

	// What several of the worlds have: nil if it was not counted.
	Names    []inventory.Overlap `json:"names,omitempty"`
	Accounts *inventory.Overlap  `json:"accounts,omitempty"`
}

// Method is the method in one sentence, for people.
const Method = "Greedy packing by best fit from several orders, then moves and swaps while they improve: first the fewest worlds, " +
	"then the smallest sum of squared distances from the wanted players, then the fewest rows moved."

// Make suggests merges for the worlds of an inventory.
func Make(inv *inventory.Inventory, wishes Wishes) (*Suggestion, error) {
	w, err := wishes.complete()
	if err != nil {
		return nil, err
	}
	c, err := choose(inv, w)
	if err != nil {
		return nil, err
	}
	p, err := c.problem(w)
	if err != nil {
		return nil, err
	}
	s := &Suggestion{Method: Method, Inventory: inv.Made, Wishes: w, Worlds: len(c.worlds), Merges: []Merge{}, Stay: []LeftOut{}, Left: append([]LeftOut{}, c.left...)}
	if len(c.worlds) == 0 {
		return s, nil
	}
	q := pack(p)
	s.Become = len(q.groups)

	var merges []*group
	var after []int64
	for _, g := range q.groups {
		after = append(after, g.players)
		s.Moved += g.moved
		if len(g.members) > 1 {
			merges = append(merges, g)
		} else {
			s.Stay = append(s.Stay, LeftOut{c.worlds[g.first].Name, c.whyAlone(q, g)})
		}
	}
	s.Before, s.After = ends(slice.Map(c.worlds, active)), ends(after)
	slices.SortFunc(s.Stay, func(a, b LeftOut) int { return printable.Natural(a.World, b.World) })
	slices.SortFunc(merges, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.longest, a.longest), cmp.Compare(a.first, b.first))
	})
	var shortest, longest []int64
	for _, g := range merges {
		s.Merges = append(s.Merges, c.merge(p, g))
		least, most := p.takes(g)
		shortest, longest = append(shortest, least), append(longest, most)
	}
	s.Seconds = [2]float64{seconds(inOrder(shortest, p.Parallel)), seconds(inOrder(longest, p.Parallel))}
	return s, nil
}

func seconds(milliseconds int64) float64 { return float64(milliseconds) / 1000 }

func ends(numbers []int64) Ends {
	numbers = slices.Sorted(slices.Values(numbers))
	return Ends{numbers[0], numbers[len(numbers)/2], numbers[len(numbers)-1]}
}

// problem is the packing of the worlds.
func (c *chosen) problem(w Wishes) (*problem, error) {
	p := &problem{Wishes: w, time: w.Seconds * 1000, apart: make([]bool, len(c.worlds)*len(c.worlds))}
	classes, servers := make(map[string]int), make(map[string]int)
	number := func(of map[string]int, name string) int {
		n, ok := of[name]
		if !ok {
			n = len(of)
			of[name] = n
		}
		return n
	}
	for i, world := range c.worlds {
		p.items = append(p.items, item{
			players: active(world), rows: world.Rows, bytes: world.Bytes,
			class: number(classes, c.classes[i]), server: number(servers, world.Server),
		})
	}
	p.room = make([]int64, len(servers))
	for i := range p.room {
		p.room[i] = -1
		if w.Room > 0 {
			p.room[i] = w.Room
		}
	}
	for name, room := range w.RoomOf {
		server, ok := servers[name]
		if !ok && !slices.ContainsFunc(c.left, func(l LeftOut) bool { return c.servers[l.World] == name }) {
			return nil, fmt.Errorf("no world is on the database server %q", name)
		}
		if ok {
			p.room[server] = room
		}
	}
	for pair := range c.apart {
		a, b := pair[0], pair[1]
		p.apart[a*len(c.worlds)+b], p.apart[b*len(c.worlds)+a] = true, true
	}
	return p, nil
}

// merge describes a group.
func (c *chosen) merge(p *problem, g *group) Merge {
	first := c.worlds[g.first]
	least, most := p.takes(g)
	m := Merge{
		Worlds: []string{first.Name}, Before: []int64{active(first)}, After: g.players, Rows: g.moved, Bytes: g.came,
		Seconds: [2]float64{seconds(least), seconds(most)},
		Why:     "it has the most rows, " + printable.Number(first.Rows) + ", which keep their keys and names",
	}
	var running, unknown, estimated []string
	for _, i := range g.members {
		world := c.worlds[i]
		if i != g.first {
			m.Worlds = append(m.Worlds, world.Name)
			m.Before = append(m.Before, active(world))
			if world.Rows == first.Rows {
				m.Why = "no world of the group has more rows: " + printable.Number(first.Rows)
			}
		}
		switch world.State {
		case inventory.Running:
			running = append(running, world.Name)
		case inventory.Unknown:
			unknown = append(unknown, world.Name)
		}
		if world.Estimated {
			estimated = append(estimated, world.Name)
		}
	}
	if len(running) > 0 {
		m.Notes = append(m.Notes, "stop before the merge (running at the inventory): "+printable.Names(running))
	}
	if len(unknown) > 0 {
		m.Notes = append(m.Notes, "without a registry, so make sure that nothing writes there, and that no earlier merge copied it: "+printable.Names(unknown))
	}
	if len(estimated) > 0 {
		m.Notes = append(m.Notes, "the numbers of rows are estimates of the database server, which may be far off: "+printable.Names(estimated))
	}
	if len(first.Drift) > 0 {
		m.Notes = append(m.Notes, "their schema differs from that of most worlds: "+printable.List(first.Drift, ", ", 3))
	}
	return m
}

// whyAlone says why a world stays as it is.
func (c *chosen) whyAlone(q *packing, g *group) string {
	i := g.first
	it := q.items[i]
	if q.PlayersMost > 0 && it.players > q.PlayersMost {
		const more = "it has %s active players, more than %s"
		return fmt.Sprintf(more, printable.Number(it.players), printable.Number(q.PlayersMost))
	}
	if q.Disk > 0 && it.bytes > q.Disk {
		return fmt.Sprintf("it has %s bytes, more than %s", printable.Number(it.bytes), printable.Number(q.Disk))
	}
	class, pairs, forTime := 0, 0, 0
	for j, other := range q.items {
		if j == i || other.class != it.class {
			continue
		}
		class++
		if q.fits(q.group(i, j)) {
			pairs++
		} else if q.time > 0 && q.group(i, j).longest > q.time {
			forTime++
		}
	}
	switch {
	case class == 0:
		return "no other world has the same labels and schema"
	case pairs == 0 && forTime == class:
		return "a merge with any other world would take longer than the night"
	case pairs == 0:
		return "no other world fits within the limits"
	}
	for at, h := range q.groups {
		if h == g || !q.joins(h, i) {
			continue
		}
		if !q.affords([]int{at, q.of[i]}, q.with(h, i)) {
			return "other merges use up the time of the night or the disk space of a database server"
		}
	}
	return "all groups that it could join are full"
}
