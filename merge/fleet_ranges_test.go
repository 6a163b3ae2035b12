package merge

import (
	"fmt"
	"slices"
	"testing"

	"mergesafe/merge/rekey"
)

// What a merge gives to worlds: the new keys of its sources, and where the world that goes
// on counts, beside what others have.
func TestRekeyingGives(t *testing.T) {
	of := func(low, high uint64) rekey.Range {
		return rekey.Range{Low: rekey.Integer{Bits: low}, High: rekey.Integer{Bits: high}, Any: true}
	}
	source := func(offset, low, high uint64) SpaceOf {
		return SpaceOf{Source: "s2", Offset: offset, Values: of(low, high), New: of(low+offset, high+offset)}
	}
	target := func(high uint64) SpaceOf { return SpaceOf{Source: "s1", Values: of(1, high)} }
	for _, c := range []struct {
		name   string
		fleet  []FleetRange
		spaces []RekeyedSpace
		want   string
	}{
		{"two spaces, one offset", nil, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Target: target(10), Sources: []SpaceOf{source(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Target: target(999), Sources: []SpaceOf{source(1000, 0, 500)}},
			{Name: "party", Target: target(5), Sources: []SpaceOf{source(1000, 3, 600)}},
		}, "[s1  2000-2999 s2  1000-1600]"},
		{"an offset of its own", nil, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Target: target(10), Sources: []SpaceOf{source(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Own: true, Target: target(9), Sources: []SpaceOf{source(50, 1, 5)}},
		}, "[s1  2000-2999 s1 b 1000-1999 s2  1001-1020 s2 b 51-55]"},
		{"keys that stay are not given, and the counter leaves out what others have", []FleetRange{{World: "s3", Range: of(4500, 5100)}, {World: "s4", Range: of(3999, 4000)}, {World: "s4", Space: "b", Range: of(6000, 6000)}}, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Target: target(10), Sources: []SpaceOf{source(0, 3000, 3500)}},
			{Name: "b", Own: true, Keys: []string{"b.id"}, Target: target(10), Sources: []SpaceOf{source(0, 5200, 5500)}},
			{Name: "c", Own: true, Keys: []string{"c.id"}, Target: target(10), Sources: []SpaceOf{source(0, 5200, 5500)}},
		}, "[s1  7000-7999 s1 b 7000-7999 s1 c 6000-6999]"},
		{"a world that moves stays in its range", []FleetRange{{World: "s2", Range: of(1000, 2500)}}, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Target: SpaceOf{Source: "s1"}, Sources: []SpaceOf{source(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Target: SpaceOf{Source: "s1"}, Sources: []SpaceOf{source(1000, 1, 1200)}},
		}, "[s2  1001-2200 s2  2000-2500 s2  2201-2500]"},
	} {
		r := &Rekeying{Step: 1000, Spaces: c.spaces, Fleet: c.fleet}
		var got []string
		for _, g := range r.Gives() {
			got = append(got, fmt.Sprintf("%s %s %s-%s", g.World, g.Space, g.Range.Low, g.Range.High))
		}
		slices.Sort(got)
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
}
