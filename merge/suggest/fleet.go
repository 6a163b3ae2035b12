package suggest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/merge/inventory"
)

// chosen are the worlds that may be merged, and those that may not.
type chosen struct {
	worlds  []inventory.World // by name
	classes []string          // for each of the worlds: only worlds of one class become one
	apart   map[[2]int]string // pairs of worlds that do not become one, the smaller index first, and why
	left    []LeftOut
	servers map[string]string // of all worlds, by name
	schemas map[string]int    // how many worlds have a schema
}

// largest is more than any number of rows, bytes or players is. Sums of thousands of them do not
// overflow.
const largest = 1e15

// choose finds out which worlds of an inventory take part.
func choose(inv *inventory.Inventory, w Wishes) (*chosen, error) {
	all := slices.SortedFunc(slices.Values(inv.Worlds), func(a, b inventory.World) int { return printable.Natural(a.Name, b.Name) })
	names := make([]string, len(all))
	for i, world := range all {
		names[i] = world.Name
		if i > 0 && names[i-1] == world.Name {
			return nil, fmt.Errorf("the inventory has two worlds named %q", world.Name)
		}
		numbers := []int64{world.Rows, world.Bytes}
		if world.Players != nil {
			numbers = append(numbers, world.Players.Active7)
		}
		if slices.Min(numbers) < 0 || slices.Max(numbers) > largest {
			return nil, fmt.Errorf("the inventory has an impossible number of rows, bytes or players of the world %q: want 0 to 10^15", world.Name)
		}
	}
	for _, apart := range w.Apart {
		for _, name := range apart {
			if _, found := slices.BinarySearch(names, name); !found {
				return nil, fmt.Errorf("the world %q to keep apart is not in the inventory%s", name, naming.Hint(name, names))
			}
		}
	}
	if err := labelsKnown(all, w.Same); err != nil {
		return nil, err
	}
	c := &chosen{apart: make(map[[2]int]string), schemas: make(map[string]int), servers: make(map[string]string)}
	for _, world := range all {
		c.servers[world.Name] = world.Server
		if reason := unfit(world, w); reason != "" {
			c.left = append(c.left, LeftOut{world.Name, reason})
		} else {
			c.schemas[schemaOf(world)]++
			c.worlds = append(c.worlds, world)
		}
	}
	// The only world of its schema cannot be merged with any.
	if len(c.schemas) > 1 {
		c.worlds = slices.DeleteFunc(c.worlds, func(world inventory.World) bool {
			if c.schemas[schemaOf(world)] > 1 {
				return false
			}
			reason := "no other world has its schema"
			switch {
			case len(world.Drift) > 0:
				reason += "; compared with the schema of most worlds: " + printable.List(world.Drift, ", ", 3)
			case len(world.Servers) == 0:
				reason = "it has no registry of server numbers, unlike the other worlds of its schema: start it once with one, so that a check can tell the servers apart"
			}
			c.left = append(c.left, LeftOut{world.Name, reason})
			return true
		})
	}
	slices.SortFunc(c.left, func(a, b LeftOut) int { return printable.Natural(a.World, b.World) })
	for _, world := range c.worlds {
		parts := []string{schemaOf(world)}
		for _, label := range w.Same {
			parts = append(parts, fmt.Sprintf("%s %q", label, world.Labels[label]))
		}
		c.classes = append(c.classes, strings.Join(parts, " "))
	}
	c.keepApart(w)
	return c, nil
}

// schemaOf is what worlds that become one have in common. Of a world without a registry beside
// one that has one, a check cannot tell whether they use the same servers.
func schemaOf(world inventory.World) string {
	s := world.Engine + " " + world.Schema
	if len(world.Servers) == 0 {
		s += " without a registry"
	}
	return s
}

// labelsKnown returns an error for a label that no world has.
func labelsKnown(all []inventory.World, same []string) error {
	known := make(map[string]bool)
	for _, world := range all {
		for label := range world.Labels {
			known[label] = true
		}
	}
	for _, label := range same {
		if !known[label] {
			return fmt.Errorf("no world has a label %q%s", label, naming.Hint(label, slices.Sorted(maps.Keys(known))))
		}
	}
	return nil
}

// unfit says why a world cannot be merged with any; "" if it can.
func unfit(world inventory.World, w Wishes) string {
	switch {
	case world.Problem != "":
		return "it could not be read: " + world.Problem
	case world.State == inventory.Fenced:
		return "it is fenced: it went to a new database, or a merge is in progress"
	case world.Merged != nil && !world.Merged.Open:
		return fmt.Sprintf("it is the new database of the merge %s and not open: resume or undo that first", world.Merged.ID)
	case world.Schema == "":
		return "its schema is not known"
	case w.Players > 0 && world.Players == nil:
		return "its players are not known: set the table that has them in [fleet] of config.toml"
	}
	for _, label := range w.Same {
		if world.Labels[label] == "" {
			return fmt.Sprintf("it has no label %q", label)
		}
	}
	return ""
}

// keepApart fills in the pairs that do not become one.
func (c *chosen) keepApart(w Wishes) {
	index := make(map[string]int)
	servers := make(map[int][]int) // worlds by server
	for i, world := range c.worlds {
		index[world.Name] = i
		for _, s := range world.Servers {
			if list := servers[s.Server]; len(list) == 0 || list[len(list)-1] != i {
				servers[s.Server] = append(list, i)
			}
		}
	}
	pairs := func(worlds []int, why string) {
		for _, a := range worlds {
			for _, b := range worlds {
				if a < b {
					c.apart[[2]int{a, b}] = why
				}
			}
		}
	}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		pairs(servers[server], fmt.Sprintf("both list server %d", server))
	}
	for _, names := range w.Apart {
		var worlds []int
		for _, name := range names {
			if i, ok := index[name]; ok {
				worlds = append(worlds, i)
			}
		}
		pairs(worlds, "you want to keep them apart")
	}
}

// active are the players that a world counts with.
func active(world inventory.World) int64 {
	if world.Players == nil {
		return 0
	}
	return world.Players.Active7
}
