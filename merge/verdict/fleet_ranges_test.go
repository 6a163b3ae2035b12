package verdict

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
)

// A counter continues above all numbers of its space, where it can; rounding takes a
// hundredth of the numbers that are left at most, and what other spaces have is no matter.
func TestCounterRounds(t *testing.T) {
	ends := []uint64{0, 100, 32767, 65535, 100_000_000, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64}
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom(ends).Draw(t, "most")
		end := most
		if most == 0 {
			end = math.MaxUint64
		}
		high := rapid.OneOf(rapid.Uint64Range(1, min(end-1, 100_000_000)), rapid.Uint64Range(1, end-1)).Draw(t, "high")
		of := func(high uint64) rekey.Range { return rekey.Range{High: rekey.Integer{Bits: high}, Any: true} }
		space := RekeyedSpace{Name: "a", Keys: []string{"a.id"}, Step: rapid.SampledFrom([]uint64{1, 1000, 10_000_000, math.MaxUint64}).Draw(t, "step"), Worlds: []SpaceOf{{World: "s1", Values: of(high), New: of(high)}, {World: "s2"}}}
		column, narrow := most, uint64(0)
		if rapid.Bool().Draw(t, "the clients end sooner") {
			column, narrow = 0, most
		}
		space.Max = narrow
		r := &Rekeying{Step: 1000, Spaces: []RekeyedSpace{space}, Columns: []RekeyedColumn{{Table: "a", Column: "id", Key: true, Cases: []RekeyedCase{{Space: "a"}}}}}
		own := &catalog.AutoIncrement{Column: "id", Next: 1, Max: column}
		next, last := r.Counter("a", own)
		if last != most || next <= high {
			t.Fatalf("above %d: %d, up to %d", high, next, last)
		}
		if lost, left := next-high-1, end-high; lost > 0 && (next%space.Step != 0 || lost > left/100) {
			t.Fatalf("above %d: %d, which loses %d of %d numbers", high, next, lost, left)
		}
		other := of(rapid.Uint64().Draw(t, "other"))
		r.Spaces = append(r.Spaces, RekeyedSpace{Name: "b", Keys: []string{"b.id"}, Worlds: []SpaceOf{{World: "s1", Values: other, New: other}, {World: "s2"}}})
		if again, _ := r.Counter("a", own); again != next {
			t.Fatalf("above %d: %d, and beside another space %d", high, next, again)
		}
	})
}

// What a merge gives to worlds: the new keys, and where the world that goes
// on counts, beside what others have.
func TestRekeyingGives(t *testing.T) {
	of := func(low, high uint64) rekey.Range {
		return rekey.Range{Low: rekey.Integer{Bits: low}, High: rekey.Integer{Bits: high}, Any: true}
	}
	second := func(offset, low, high uint64) SpaceOf {
		return SpaceOf{World: "s2", Offset: offset, Values: of(low, high), New: of(low+offset, high+offset)}
	}
	first := func(high uint64) SpaceOf { return SpaceOf{World: "s1", Values: of(1, high), New: of(1, high)} }
	for _, c := range []struct {
		name   string
		fleet  []declare.FleetRange
		spaces []RekeyedSpace
		want   string
	}{
		{"two spaces, one offset", nil, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Worlds: []SpaceOf{first(10), second(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Worlds: []SpaceOf{first(999), second(1000, 0, 500)}},
			{Name: "party", Worlds: []SpaceOf{first(5), second(1000, 3, 600)}},
		}, "[s1  2000-2999 s2  1000-1600]"},
		{"an offset of its own", nil, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Worlds: []SpaceOf{first(10), second(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Own: true, Worlds: []SpaceOf{first(9), second(50, 1, 5)}},
		}, "[s1  2000-2999 s1 b 1000-1999 s2  1001-1020 s2 b 51-55]"},
		{"keys that stay are not given, and the counter leaves out what others have", []declare.FleetRange{{World: "s3", Range: of(4500, 5100)}, {World: "s4", Range: of(3999, 4000)}, {World: "s4", Space: "b", Range: of(6000, 6000)}}, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Worlds: []SpaceOf{first(10), second(0, 3000, 3500)}},
			{Name: "b", Own: true, Keys: []string{"b.id"}, Worlds: []SpaceOf{first(10), second(0, 5200, 5500)}},
			{Name: "c", Own: true, Keys: []string{"c.id"}, Worlds: []SpaceOf{first(10), second(0, 5200, 5500)}},
		}, "[s1  7000-7999 s1 b 7000-7999 s1 c 6000-6999]"},
		{"a world that moves stays in its range", []declare.FleetRange{{World: "s2", Range: of(1000, 2500)}}, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Worlds: []SpaceOf{{World: "s1"}, second(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Worlds: []SpaceOf{{World: "s1"}, second(1000, 1, 1200)}},
		}, "[s2  1001-2200 s2  2000-2500 s2  2201-2500]"},
		{"a counter leaves out the range that a world of the same merge gets for all spaces", []declare.FleetRange{}, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Step: 10, Worlds: []SpaceOf{first(10), second(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Step: 1000, Worlds: []SpaceOf{first(9), second(1000, 1, 500)}},
		}, "[s1  1510-1999 s1  2000-2999 s2  1001-1500]"},
		{"unless there is no room", []declare.FleetRange{}, []RekeyedSpace{
			{Name: "a", Keys: []string{"a.id"}, Max: 1400, Most: 1400, Worlds: []SpaceOf{first(10), second(1000, 1, 20)}},
			{Name: "b", Keys: []string{"b.id"}, Worlds: []SpaceOf{first(9), second(1000, 1, 500)}},
		}, "[s1  1021-1999 s1  2000-2999 s2  1001-1500]"},
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
