package keys

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

var anyNumber = rapid.OneOf(
	rapid.Custom(func(t *rapid.T) Integer { return Signed(rapid.Int64Range(-20, 3000).Draw(t, "small")) }),
	rapid.Custom(func(t *rapid.T) Integer { return Signed(rapid.Int64().Draw(t, "signed")) }),
	rapid.Custom(func(t *rapid.T) Integer { return Integer{Bits: rapid.Uint64().Draw(t, "unsigned")} }),
	rapid.SampledFrom([]Integer{{}, Signed(math.MinInt64), Signed(math.MaxInt64), {Bits: math.MaxUint64}, Signed(-1)}),
)

// Adding and taking away are right wherever there is such a number, beyond 64 bits with
// a sign too.
func TestIntegerArithmetic(t *testing.T) {
	low, high := big.NewInt(math.MinInt64), new(big.Int).SetUint64(math.MaxUint64)
	rapid.Check(t, func(t *rapid.T) {
		n, by := anyNumber.Draw(t, "n"), anyNumber.Draw(t, "by").Bits
		whole, offset := n.Whole(), new(big.Int).SetUint64(by)
		for name, c := range map[string]struct {
			got  func(uint64) (Integer, bool)
			want *big.Int
		}{"add": {n.Add, new(big.Int).Add(whole, offset)}, "sub": {n.Sub, new(big.Int).Sub(whole, offset)}} {
			got, ok := c.got(by)
			if want := c.want.Cmp(low) >= 0 && c.want.Cmp(high) <= 0; ok != want {
				t.Fatalf("%s %v, %d: %v, want %v", name, n, by, ok, want)
			}
			if ok && got.Whole().Cmp(c.want) != 0 {
				t.Fatalf("%s %v, %d: %v, want %v", name, n, by, got, c.want)
			}
		}
		other := anyNumber.Draw(t, "other")
		if n.Less(other) != (whole.Cmp(other.Whole()) < 0) {
			t.Fatalf("%v < %v: %v", n, other, n.Less(other))
		}
		text, _ := n.MarshalText()
		var again Integer
		if err := again.UnmarshalText(text); err != nil || again != n {
			t.Fatalf("%s is read as %v, %v", text, again, err)
		}
	})
}

// The offsets that are chosen keep all numbers apart and within the columns, and are
// multiples of the step; if there are none, the column that is named has no room for the
// least that would do.
func TestChoose(t *testing.T) {
	anyRange := rapid.Custom(func(t *rapid.T) (r Range) {
		for range rapid.IntRange(0, 2).Draw(t, "ends") {
			r.Add(anyNumber.Draw(t, "end"))
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		worlds := []Want{{Values: anyRange.Draw(t, "first")}}
		for range rapid.IntRange(1, 4).Draw(t, "others") {
			w := Want{Values: anyRange.Draw(t, "values")}
			if w.Values.Any && rapid.Bool().Draw(t, "limited") {
				most := rapid.SampledFrom([]uint64{math.MaxUint64, math.MaxInt64, math.MaxUint32, math.MaxInt32, 1 << 16}).Draw(t, "most")
				w.Limits = []Limit{{"a", Integer{Bits: most}, w.Values.High}}
			}
			worlds = append(worlds, w)
		}
		step := rapid.SampledFrom([]uint64{0, 1, 1000, 10_000_000}).Draw(t, "step")
		offsets, used, narrow := Choose(worlds, step, nil)
		if narrow != nil {
			if narrow.Need.Sign() <= 0 {
				t.Fatalf("it needs %v", narrow.Need)
			}
			if narrow.Limit.Column != "" && narrow.Limit.Room().Cmp(narrow.Need) >= 0 {
				t.Fatalf("%+v has room for %v", narrow.Limit, narrow.Need)
			}
			return
		}
		var taken []Range
		for i, s := range worlds {
			if i == 0 && offsets[i] != 0 {
				t.Fatalf("%d is added to the first", offsets[i])
			}
			if offsets[i]%used != 0 || step > 0 && used != step {
				t.Fatalf("%d is no multiple of %d, for %d", offsets[i], used, step)
			}
			shifted, ok := s.Values.Shift(offsets[i])
			if !ok {
				t.Fatalf("%v and %d is no number", s.Values, offsets[i])
			}
			for _, l := range s.Limits {
				if offsets[i] == 0 {
					break
				}
				if high, ok := l.High.Add(offsets[i]); !ok || l.Most.Less(high) {
					t.Fatalf("%v is more than %v", high, l.Most)
				}
			}
			for _, other := range taken {
				if shifted.Meets(other) {
					t.Fatalf("%v meets %v", shifted, other)
				}
			}
			if offsets[i] > 0 {
				for _, other := range taken {
					if other.Any && !other.High.Less(shifted.Low) {
						t.Fatalf("%v is not above %v", shifted, other)
					}
				}
			}
			taken = append(taken, shifted)
		}
	})
}

// A world that comes again and again takes the same numbers each time: those that came before make
// no step larger.
func TestChooseInARow(t *testing.T) {
	world := Range{Signed(1), Signed(2_000_021), true}
	first := world
	for n := range 160 {
		offsets, used, narrow := Choose([]Want{{Values: first}, {Values: world, Limits: []Limit{{"a.id", Signed(math.MaxInt32), world.High}}}}, 0, nil)
		if want := uint64(n+1) * 10_000_000; narrow != nil || used != 10_000_000 || offsets[1] != want {
			t.Fatalf("merge %d: %d, a multiple of %d, %+v; want %d", n+1, offsets, used, narrow, want)
		}
		moved, _ := world.Shift(offsets[1])
		first.Join(moved)
	}
}

// Rounding leaves a space room for 64 merges of one size, or for nearly as many as exact offsets would.
func TestChooseInANarrowSpace(t *testing.T) {
	for _, c := range []struct{ world, most int64 }{{150_000_000, math.MaxUint32}, {1100, math.MaxInt16}, {9_999, math.MaxUint16}, {101, 9_999}, {2_000_021, math.MaxInt32}, {1, 255}} {
		world := Range{Signed(1), Signed(c.world), true}
		first, merges := world, int64(0)
		for ; ; merges++ {
			offsets, _, narrow := Choose([]Want{{Values: first}, {Values: world, Limits: []Limit{{"a.id", Signed(c.most), world.High}}}}, 0, nil)
			if narrow != nil {
				break
			}
			moved, _ := world.Shift(offsets[1])
			first.Join(moved)
		}
		if exact := c.most/c.world - 1; merges > exact || merges < min(64, exact*4/5) {
			t.Errorf("%d keys below %d: %d merges, want nearly %d", c.world, c.most, merges, exact)
		}
	}
}

// An offset that the operator chose is taken, or refused if it is in the way of another.
func TestChooseGiven(t *testing.T) {
	ten := Range{Signed(1), Signed(10), true}
	want := []Want{{Values: ten}, {Values: ten}, {Values: ten}}
	if got, _, narrow := Choose(want, 100, map[int]uint64{1: 12}); narrow != nil || got[1] != 12 || got[2] != 100 {
		t.Errorf("%v, %+v", got, narrow)
	}
	if got, _, narrow := Choose(want, 100, map[int]uint64{2: 105}); narrow == nil || narrow.World != 2 {
		t.Errorf("%v, %+v", got, narrow)
	}
}

func TestDefaultStep(t *testing.T) {
	for _, c := range []struct {
		high uint64
		want uint64
	}{{0, 1000}, {999, 1000}, {1000, 10_000}, {4_711_000, 10_000_000}, {math.MaxUint64, 10_000_000_000_000_000_000}} {
		if got := DefaultStep(Range{Signed(1), Integer{Bits: c.high}, true}); got != c.want {
			t.Errorf("%d: %d, want %d", c.high, got, c.want)
		}
	}
}

// A set that was written and read is the same set, and what was not written so is refused.
func TestSetBinary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Set{Exact: true}
		distinct := make(map[Integer]bool)
		for _, n := range rapid.SliceOf(anyNumber).Draw(t, "keys") {
			s.Add(n)
			distinct[n] = true
		}
		s.Finish()
		b, err := s.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		again := new(Set)
		if err := again.UnmarshalBinary(b); err != nil || !again.Equal(s) || again.Range() != s.Range() {
			t.Fatalf("%v", err)
		}
		last, n := Integer{}, 0
		for key := range again.All() {
			if n++; !s.Has(key) || n > 1 && !last.Less(key) {
				t.Fatalf("%v after %v", key, last)
			}
			last = key
		}
		if n != len(distinct) {
			t.Fatalf("%d keys, want %d", n, len(distinct))
		}
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); again.UnmarshalBinary(b[:cut]) == nil {
			t.Fatalf("%d of %d bytes are a set", cut, len(b))
		}
	})
}

func FuzzSetBinary(f *testing.F) {
	s := setOf(Signed(7), Signed(-7), Signed(1<<40))
	b, _ := s.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(Set)
		if s.UnmarshalBinary(b) == nil {
			s.Has(Signed(7))
		}
	})
}
