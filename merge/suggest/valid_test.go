package suggest_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/inventory"
	"mergesafe/merge/suggest"
)

// What is suggested keeps every bound, says of itself what it is, and is never worse than a plain
// packing by best fit.
func TestValid(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 2))
	for n := range 400 {
		inv, w := randomFleet(random)
		s := mustMake(t, inv, w)
		got := mustBeValid(t, fmt.Sprintf("fleet %d", n), inv, w, s)
		if got.worlds != s.Become || got.moved != s.Moved {
			t.Errorf("fleet %d: the suggestion says %d worlds and %d rows, and has %d and %d", n, s.Become, s.Moved, got.worlds, got.moved)
		}
		longestFirst := slices.IsSortedFunc(s.Merges, func(a, b suggest.Merge) int { return int(b.Seconds[1]*1000 - a.Seconds[1]*1000) })
		if took := int64(s.Seconds[1]*1000 + 0.5); took != got.night || !longestFirst {
			t.Errorf("fleet %d: the suggestion says that the night takes %d ms, and it takes %d; the longest merge is first: %v", n, took, got.night, longestFirst)
		}
	}
}

// mustBeValid judges a suggestion and compares it with plain best fit.
func mustBeValid(t *testing.T, name string, inv *inventory.Inventory, w suggest.Wishes, s *suggest.Suggestion) result {
	t.Helper()
	got := judge(inv.Worlds, w, groupsOf(s))
	if got.broken != "" {
		t.Fatalf("%s, %+v: the suggestion breaks a bound: %s\n%s", name, w, got.broken, describe(inv, s))
	}
	plain := bestFit(inv.Worlds, w)
	if plain.before(got) {
		t.Errorf("%s, %+v: the suggestion is %+v, which is worse than plain best fit: %+v\n%s",
			name, w, got, plain, describe(inv, s))
	}
	t.Logf("%s: %d worlds become %d, by plain best fit %d", name, s.Worlds, got.worlds, plain.worlds)
	return got
}

// randomFleet has up to 9 worlds, and wishes of all kinds.
func randomFleet(random *rand.Rand) (*inventory.Inventory, suggest.Wishes) {
	inv := new(inventory.Inventory)
	n := 2 + random.IntN(7)
	if random.IntN(20) == 0 {
		n = 9
	}
	w := suggest.Wishes{Players: 3000, Parallel: 1 + random.IntN(3)}
	chance := func(one int) bool { return random.IntN(one) == 0 }
	for i := range n {
		players := int64(random.IntN(2000))
		if chance(10) {
			players = 3000 + int64(random.IntN(1000))
		}
		rows := int64(random.IntN(1_000_000))
		if chance(2) { // as in real fleets
			rows = players * int64(300+random.IntN(100))
		}
		inv.Worlds = append(inv.Worlds, inventory.World{
			Name: fmt.Sprintf("w%d", i), Server: fmt.Sprintf("db%d", random.IntN(2)), Engine: "mariadb", Schema: "a",
			Rows: rows, Bytes: rows * int64(50+random.IntN(100)), State: inventory.Stopped,
			Labels:  map[string]string{"language": []string{"de", "en"}[random.IntN(2)]},
			Players: &inventory.Players{Active7: players},
		})
	}
	if chance(3) {
		w.Most = 2 + random.IntN(3)
	}
	if chance(8) {
		w.Players, w.Most = 0, 2+random.IntN(3)
	}
	if chance(3) {
		w.Same = []string{"language"}
		for _, world := range inv.Worlds[1:] {
			if chance(2) {
				world.Labels["language"] = inv.Worlds[0].Labels["language"]
			}
		}
	}
	if chance(3) {
		w.Apart = [][]string{{"w0", "w1"}}
	}
	if chance(4) {
		w.Disk = 50_000_000 + random.Int64N(100_000_000)
	}
	if chance(4) {
		w.Room = 20_000_000 + random.Int64N(150_000_000)
	}
	if chance(3) {
		w.Seconds = 30 + random.Int64N(150)
	}
	return inv, w
}

// result is how good a division is.
type result struct {
	worlds        int
	spread, moved int64
	night         int64  // milliseconds, if the longest merge is begun first
	broken        string // the bound that it breaks
}

func (a result) before(b result) bool {
	return slices.Compare([]int64{int64(a.worlds), a.spread, a.moved}, []int64{int64(b.worlds), b.spread, b.moved}) < 0
}

// judge is written from the words of the documentation.
func judge(worlds []inventory.World, w suggest.Wishes, groups [][]int) result {
	r := result{worlds: len(groups)}
	came := map[string]int64{}
	var times []int64
	for _, members := range groups {
		var players, rows, bytes int64
		first := -1
		for _, i := range members {
			world := worlds[i]
			players, rows, bytes = players+world.Players.Active7, rows+world.Rows, bytes+world.Bytes
			if first < 0 || world.Rows > worlds[first].Rows {
				first = i
			}
			if len(w.Same) > 0 && world.Labels["language"] != worlds[members[0]].Labels["language"] {
				r.broken = "labels"
			}
		}
		if w.Players > 0 {
			r.spread += (players - w.Players) * (players - w.Players)
		}
		if len(members) == 1 {
			continue
		}
		r.moved += rows
		switch {
		case w.Players > 0 && players > w.Players*11/10:
			r.broken = "players"
		case w.Most > 0 && len(members) > w.Most:
			r.broken = "most"
		case w.Disk > 0 && bytes > w.Disk:
			r.broken = "disk"
		case len(w.Apart) > 0 && slices.Contains(members, 0) && slices.Contains(members, 1):
			r.broken = "apart"
		}
		came[worlds[first].Server] += bytes
		times = append(times, 1600+800*int64(len(members))+rows*4/30) // 7,500 rows a second
	}
	for _, bytes := range came {
		if w.Room > 0 && bytes > w.Room {
			r.broken = "room"
		}
	}
	workers := make([]int64, max(1, w.Parallel))
	slices.Sort(times)
	slices.Reverse(times)
	for _, took := range times {
		slices.Sort(workers)
		workers[0] += took
	}
	if r.night = slices.Max(workers); w.Seconds > 0 && r.night > w.Seconds*1000 {
		r.broken = "time"
	}
	return r
}

// bestFit joins each world, those with the most players first, with the fullest group that may
// take it.
func bestFit(worlds []inventory.World, w suggest.Wishes) result {
	order := make([]int, len(worlds))
	for i := range order {
		order[i] = i
	}
	players := func(members []int) (sum int64) {
		for _, i := range members {
			sum += worlds[i].Players.Active7
		}
		return sum
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(players([]int{b}), players([]int{a})) })
	var groups [][]int
	for _, i := range order {
		best := -1
		for g := range groups {
			if best >= 0 && players(groups[g]) <= players(groups[best]) {
				continue
			}
			old := groups[g]
			groups[g] = append(slices.Clone(old), i)
			if judge(worlds, w, groups).broken == "" {
				best = g
			}
			groups[g] = old
		}
		if best < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[best] = append(groups[best], i)
		}
	}
	return judge(worlds, w, groups)
}

// groupsOf are the groups of a suggestion, by the indexes of the worlds w0, w1 and so on.
func groupsOf(s *suggest.Suggestion) (groups [][]int) {
	index := func(name string) (i int) {
		fmt.Sscanf(name, "w%d", &i)
		return i
	}
	for _, m := range s.Merges {
		var members []int
		for _, name := range m.Worlds {
			members = append(members, index(name))
		}
		slices.Sort(members)
		groups = append(groups, members)
	}
	for _, stay := range s.Stay {
		groups = append(groups, []int{index(stay.World)})
	}
	return groups
}

func describe(inv *inventory.Inventory, s *suggest.Suggestion) string {
	var b strings.Builder
	for _, w := range inv.Worlds {
		fmt.Fprintf(&b, "%s on %s: %d players, %d rows, %d bytes, %v\n", w.Name, w.Server, w.Players.Active7, w.Rows, w.Bytes, w.Labels)
	}
	fmt.Fprint(&b, groupsOf(s))
	return b.String()
}
