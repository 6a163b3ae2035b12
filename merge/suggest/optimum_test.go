package suggest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/inventory"
	"mergesafe/merge/suggest"
)

// What is suggested keeps every bound, and is hardly worse than the best of all divisions of the
// worlds, which are all tried. -v prints how much worse.
func TestOptimum(t *testing.T) {
	const fleets = 400
	random := rand.New(rand.NewPCG(20, 2))
	more := map[int]int{}  // worlds more than the optimum, and how often
	above := map[int]int{} // the optimum above Least, and how often
	equal, sameSpread := 0, 0
	var spreads []float64 // by how much the spread is larger, where the worlds are as few
	for n := range fleets {
		inv, w := randomFleet(random)
		s, err := suggest.Make(inv, w)
		if err != nil {
			t.Fatalf("fleet %d: %v", n, err)
		}
		got := judge(inv.Worlds, w, groupsOf(s))
		if got.broken != "" {
			t.Fatalf("fleet %d, %+v: the suggestion breaks a bound: %s\n%s", n, w, got.broken, describe(inv, s))
		}
		if got.worlds != s.Become || got.moved != s.Moved {
			t.Errorf("fleet %d: the suggestion says %d worlds and %d rows, and has %d and %d", n, s.Become, s.Moved, got.worlds, got.moved)
		}
		longestFirst := slices.IsSortedFunc(s.Merges, func(a, b suggest.Merge) int { return int(b.Seconds[1]*1000 - a.Seconds[1]*1000) })
		if took := int64(s.Seconds[1]*1000 + 0.5); took != got.night || !longestFirst {
			t.Errorf("fleet %d: the suggestion says that the night takes %d ms, and it takes %d; the longest merge is first: %v", n, took, got.night, longestFirst)
		}
		best := optimum(inv.Worlds, w)
		if best.worlds > got.worlds || best.worlds < s.Least {
			t.Fatalf("fleet %d, %+v: the optimum is %d worlds, the suggestion %d, and at least %d are said to be needed\n%s", n, w, best.worlds, got.worlds, s.Least, describe(inv, s))
		}
		more[got.worlds-best.worlds]++
		above[best.worlds-s.Least]++
		if got.worlds == best.worlds {
			spreads = append(spreads, float64(got.spread-best.spread)/float64(max(best.spread, 1)))
			if got.spread == best.spread {
				sameSpread++
				if got.moved == best.moved {
					equal++
				}
			}
		} else {
			t.Logf("fleet %d: %d worlds instead of %d: %+v\n%s", n, got.worlds, best.worlds, w, describe(inv, s))
		}
	}
	slices.Sort(spreads)
	t.Logf("%d fleets: %d as good as the optimum; worlds more than it: %v; the same worlds and spread: %d; the spread is larger by %.0f %% in the worst tenth, %.0f %% at most", fleets, equal, more, sameSpread, 100*spreads[len(spreads)*9/10], 100*spreads[len(spreads)-1])
	t.Logf("the optimum above Least: %v", above)
	for n := range more {
		if n > 1 {
			t.Errorf("%d worlds more than possible are left, want 1 at most", n)
		}
	}
	if more[1] > fleets/100 || equal < fleets*95/100 {
		t.Errorf("of %d fleets, %d are left with a world more than possible, and %d as good as the optimum: want at most 1 %% and at least 95 %%", fleets, more[1], equal)
	}
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
		target := -1
		for _, i := range members {
			world := worlds[i]
			players, rows, bytes = players+world.Players.Active7, rows+world.Rows, bytes+world.Bytes
			if target < 0 || world.Rows > worlds[target].Rows {
				target = i
			}
			if len(w.Same) > 0 && world.Labels["language"] != worlds[members[0]].Labels["language"] {
				r.broken = "labels"
			}
		}
		if w.Players > 0 {
			r.spread += (players - w.Players) * (players - w.Players)
		}
		moved := rows - worlds[target].Rows
		r.moved += moved
		if len(members) == 1 {
			continue
		}
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
		came[worlds[target].Server] += bytes - worlds[target].Bytes
		times = append(times, 1600+800*int64(len(members))+(moved*4+worlds[target].Rows)/30) // 7,500 rows a second
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

// optimum tries all divisions of the worlds.
func optimum(worlds []inventory.World, w suggest.Wishes) result {
	var best result
	found := false
	var divide func(i int, groups [][]int)
	divide = func(i int, groups [][]int) {
		if i == len(worlds) {
			if r := judge(worlds, w, groups); r.broken == "" && (!found || r.before(best)) {
				best, found = r, true
			}
			return
		}
		if found && len(groups) > best.worlds {
			return
		}
		for g := range groups {
			old := groups[g]
			groups[g] = append(slices.Clone(old), i)
			// A group that is too large for itself only grows.
			if judge(worlds, w, groups[g:g+1]).broken == "" {
				divide(i+1, groups)
			}
			groups[g] = old
		}
		divide(i+1, append(slices.Clone(groups), []int{i}))
	}
	divide(0, nil)
	return best
}

// groupsOf are the groups of a suggestion, by the indexes of the worlds w0, w1 and so on.
func groupsOf(s *suggest.Suggestion) (groups [][]int) {
	index := func(name string) (i int) {
		fmt.Sscanf(name, "w%d", &i)
		return i
	}
	for _, m := range s.Merges {
		var members []int
		for _, name := range m.Worlds() {
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
