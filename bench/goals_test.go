package main

import (
	"testing"
)

// at returns samples that all say the same.
func at(ns, ratio float64) *samples {
	return &samples{ns: []float64{ns, ns, ns}, ratio: []float64{ratio, ratio, ratio}}
}

func TestRows(t *testing.T) {
	list := []candidate{{name: "ref"}, {name: "slow peer", peer: true}, {name: "ours", goals: []goal{
		{most: 0.5},
		{to: bestPeer, most: 0.3},
		{to: "ref", least: 0.6},
		{to: "not measured", most: 1},
		{mostNS: 15.3, in: "the cap of the layout"},
	}}, {name: "fast peer", peer: true}}
	found := results{"ref": at(40, 1), "slow peer": at(200, 5), "ours": at(20, 0.5), "fast peer": at(60, 1.5)}
	got := rows(list, found, false)
	want := []row{
		{what: "ref", measured: "40.0 ns", ratio: "1.00", spread: "1.00-1.00", allocs: "0"},
		{what: "ours", measured: "20.0 ns", ratio: "0.50", spread: "0.50-0.50", allocs: "0", goal: "≤ 0.50", holds: "yes"},
		{what: "  ÷ fast peer, the fastest peer", ratio: "0.33", spread: "0.33-0.33", goal: "≤ 0.30", holds: "no"},
		{what: "  ÷ ref", ratio: "0.50", spread: "0.50-0.50", goal: "≥ 0.60", holds: "no"},
		{what: "  in absolute terms, the cap of the layout", measured: "20.0 ns", goal: "≤ 15.3 ns", holds: "no"},
		{what: "fast peer", measured: "60.0 ns", ratio: "1.50", spread: "1.50-1.50", allocs: "0"},
		{what: "slow peer", measured: "200.0 ns", ratio: "5.00", spread: "5.00-5.00", allocs: "0"},
	}
	equalRows(t, got, want)
}

func TestRowsOfRates(t *testing.T) {
	found := results{"by hand": at(1000, 1), "store": at(1250, 1.25)}
	list := []candidate{{name: "by hand"}, {name: "store", goals: []goal{{least: 0.9}}}}
	equalRows(t, rows(list, found, true), []row{
		{what: "by hand", measured: "1.00 M/s", ratio: "1.00", spread: "1.00-1.00"},
		{what: "store", measured: "800 k/s", ratio: "0.80", spread: "0.80-0.80", goal: "≥ 0.90", holds: "no"},
	})
}

func equalRows(t *testing.T, got, want []row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d rows, want %d: %+v", len(got), len(want), got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("row %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

// TestRowsWithoutPeers has nothing to compare with the fastest peer.
func TestRowsWithoutPeers(t *testing.T) {
	list := []candidate{{name: "ours", goals: []goal{{to: bestPeer, most: 0.3}}}}
	equalRows(t, rows(list, results{"ours": at(20, 0.5)}, false), []row{
		{what: "ours", measured: "20.0 ns", ratio: "0.50", spread: "0.50-0.50", allocs: "0"},
	})
}

func TestAllocationRow(t *testing.T) {
	list := []candidate{{name: "peer"}, {name: "ours", noAlloc: true}, {name: "other", noAlloc: true}}
	if _, measured := allocationRow(list, results{"peer": {allocs: 1}}); measured {
		t.Error("nothing was measured, and there is a row")
	}
	found := results{"peer": {allocs: 1}, "ours": {allocs: 0.001}}
	if r, measured := allocationRow(list, found); !measured || r.holds != "yes" {
		t.Errorf("got %+v", r)
	}
	found["other"] = &samples{allocs: 1}
	if r, _ := allocationRow(list, found); r.holds != "no" || r.allocs != "1" {
		t.Errorf("got %+v", r)
	}
}

// TestGoalsAreMeasured finds a goal that no row would show because of a name
// that was changed.
func TestGoalsAreMeasured(t *testing.T) {
	list, closeAll, err := candidates(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	names := map[string]bool{baselineC: true}
	for _, c := range list {
		if names[c.name] {
			t.Errorf("two candidates are named %q", c.name)
		}
		names[c.name] = true
	}
	goals, withoutAllocations := 0, 0
	for _, c := range list {
		for _, g := range c.goals {
			goals++
			if g.to != "" && g.to != bestPeer && !names[g.to] {
				t.Errorf("no row shows the goal %+v of %q", g, c.name)
			}
		}
		if c.noAlloc {
			withoutAllocations++
		}
	}
	if goals != mintingGoals || withoutAllocations != 6 {
		t.Errorf("%d goals and %d that must not allocate, want %d and 6", goals, withoutAllocations, mintingGoals)
	}
}

// mintingGoals is how many goals minting and text have, but for allocations.
const mintingGoals = 10
