package verdict

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// A counter continues above all numbers of its space, where it can; rounding takes a
// hundredth of the numbers that are left at most, and what other spaces have does not matter.
func TestCounterRounds(t *testing.T) {
	ends := []uint64{0, 100, 32767, 65535, 100_000_000, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64}
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom(ends).Draw(t, "most")
		end := most
		if most == 0 {
			end = math.MaxUint64
		}
		high := rapid.OneOf(rapid.Uint64Range(1, min(end-1, 100_000_000)), rapid.Uint64Range(1, end-1)).Draw(t, "high")
		of := func(high uint64) keys.Range { return keys.Range{High: keys.Integer{Bits: high}, Any: true} }
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
