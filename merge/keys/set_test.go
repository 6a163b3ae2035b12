package keys

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func number(v int64) Integer { return Integer{v < 0, uint64(v)} }

func setOf(keys ...Integer) *Set {
	s := new(Set)
	for _, k := range keys {
		s.Add(k)
	}
	s.Finish()
	return s
}

func TestParseInteger(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "7": "7", "-7": "-7", "0042": "42", "-0042": "-42", "00000000000000000001": "1",
		"9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"9223372036854775808": "9223372036854775808", "18446744073709551615": "18446744073709551615",
	} {
		if n, ok := ParseInteger([]byte(text)); !ok || n.String() != want {
			t.Errorf("%q: %v, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-", "--1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "18446744073709551616", "-9223372036854775809", "99999999999999999999", "184467440737095516150", "٣"} {
		if n, ok := ParseInteger([]byte(text)); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
}

func TestParseWhole(t *testing.T) {
	for text, want := range map[string]string{
		"7": "7", "7.": "7", "7.000": "7", "-7.0": "-7", "0.0": "0", "-0.00": "0", ".0": "0", "1e3": "1000", "-1e+06": "-1000000", "1.5e1": "15",
		"18446744073709551615.00": "18446744073709551615", "-9223372036854775808.0": "-9223372036854775808", "1e19": "10000000000000000000",
		"0000000000000000000000000000000000000107": "107",
	} {
		if n, ok := ParseWhole([]byte(text)); !ok || n.String() != want {
			t.Errorf("%q: %v, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-", ".", "7.5", "1e-3", "1e30", "-1e30", "-9223372036854775809.0", "18446744073709551616.0", "e", "1.5e0", "NaN", "Inf", "0x10", "1.2.3"} {
		if n, ok := ParseWhole([]byte(text)); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
}

// A key that comes again, such as the first column of a key of two, is one key.
func TestSetOfRepeatedKeys(t *testing.T) {
	s := setOf(number(3), number(3), number(-1), number(3), number(5), number(-1), number(9))
	if s.Len() != 4 || s.Gaps() != 4 {
		t.Errorf("%d keys with %d gaps, want 4 and 4", s.Len(), s.Gaps())
	}
}

// The set says the same as a map, whatever the keys are.
func TestIntegerSetIsASet(t *testing.T) {
	anyInteger := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) Integer { return number(rapid.Int64Range(-40, 40).Draw(t, "small")) }),
		rapid.Custom(func(t *rapid.T) Integer { return number(rapid.Int64().Draw(t, "signed")) }),
		rapid.Custom(func(t *rapid.T) Integer { return Integer{Bits: rapid.Uint64().Draw(t, "unsigned")} }),
		rapid.Custom(func(t *rapid.T) Integer { return Integer{Bits: uint64(rapid.IntRange(0, 50).Draw(t, "time")) << 22} }),
		rapid.Custom(func(t *rapid.T) Integer { return Integer{Bits: uint64(rapid.IntRange(0, 50).Draw(t, "time"))<<22 | 5} }),
		rapid.SampledFrom([]Integer{{}, number(math.MinInt64), number(math.MaxInt64), {Bits: math.MaxUint64}, number(-1)}),
	)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (*Set, map[Integer]bool) {
			keys := rapid.SliceOfN(anyInteger, 0, 60).Draw(t, name)
			if rapid.IntRange(0, 9).Draw(t, "many") == 0 { // more than are kept before they are sorted in
				shift := rapid.SampledFrom([]uint{0, 1, 22}).Draw(t, "shift")
				for i := range uint64(3000) {
					keys = append(keys, Integer{Bits: i << shift})
				}
			}
			all := make(map[Integer]bool)
			for _, k := range keys {
				all[k] = true
			}
			return setOf(keys...), all
		}
		s, all := draw("keys")
		other, theirs := draw("others")
		for _, k := range rapid.SliceOfN(anyInteger, 0, 60).Draw(t, "asked") {
			if s.Has(k) != all[k] {
				t.Fatalf("%v: %v, want %v", k, s.Has(k), all[k])
			}
			if all[k] && !s.Within(k) {
				t.Fatalf("%v is not within the ends", k)
			}
		}
		common := false
		for k := range all {
			if !s.Has(k) {
				t.Fatalf("%v is missing", k)
			}
			common = common || theirs[k]
		}
		if s.Meets(other) != common || other.Meets(s) != common {
			t.Fatalf("meets: %v and %v, want %v", s.Meets(other), other.Meets(s), common)
		}
	})
}

// keysEvery are ascending keys of which n numbers each has one, at a random place.
func keysEvery(n uint64, count int, seed uint64) func(func(Integer) bool) {
	return func(yield func(Integer) bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		for i := range uint64(count) {
			if !yield(Integer{Bits: i*n + r.Uint64N(n)}) {
				return
			}
		}
	}
}

func randomKeys(count int, seed uint64) func(func(Integer) bool) {
	return func(yield func(Integer) bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range count {
			if !yield(Integer{Bits: r.Uint64()}) {
				return
			}
		}
	}
}

// heapOf is what remains of the heap after make, in bytes.
func heapOf[T any](make func() T) (T, int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	made := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return made, int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// A set takes less memory than its documentation says: for 20 sources of 10 M keys 200
// MiB if one number in eight is a key, 600 MiB if one in 100 is.
func TestIntegerSetMemory(t *testing.T) {
	const count = 500_000
	for _, c := range []struct {
		name   string
		keys   func(func(Integer) bool)
		bytes  float64 // that a key may take
		sparse bool
	}{
		{"dense", keysEvery(1, count, 1), 0.2, false},
		{"one in 8", keysEvery(8, count, 1), 200 << 20 / 200e6, false},
		{"one in 100", keysEvery(100, count, 1), 600 << 20 / 200e6, false},
		{"one in 1000", keysEvery(1000, count, 1), 5, false},
		{"random", randomKeys(count, 1), 1, true},
		{"time<<22", func(yield func(Integer) bool) {
			for k := range keysEvery(8, count, 1) {
				if !yield(Integer{Bits: k.Bits << 22}) {
					return
				}
			}
		}, 200 << 20 / 200e6, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, bytes := heapOf(func() *Set {
				s := new(Set)
				for k := range c.keys {
					s.Add(k)
				}
				s.Finish()
				return s
			})
			each := float64(bytes) / count
			t.Logf("%.2f bytes a key, sparse %v", each, s.Sparse)
			if each > c.bytes || s.Sparse != c.sparse {
				t.Errorf("%.2f bytes a key, sparse %v, want at most %.2f, %v", each, s.Sparse, c.bytes, c.sparse)
			}
			if s.Len() != count {
				t.Errorf("%d keys, want %d", s.Len(), count)
			}
			n := 0
			for k := range c.keys {
				if n++; n%997 == 0 && !c.sparse && !s.Has(k) {
					t.Fatalf("%v is missing", k)
				}
			}
		})
	}
}

// A small set is sparse once it takes a quarter of a megabyte, however close together its keys are, and knows their ends.
func TestSmallSet(t *testing.T) {
	for name, c := range map[string]struct {
		keys   func(func(Integer) bool)
		sparse bool
	}{"a run": {keysEvery(1, 500_000, 1), false}, "one in 8": {keysEvery(8, 100_000, 1), false}, "many": {keysEvery(8, 500_000, 1), true}} {
		s, bytes := heapOf(func() *Set {
			s := &Set{Small: true}
			for k := range c.keys {
				s.Add(k)
			}
			s.Finish()
			return s
		})
		if s.Sparse != c.sparse || bytes > 1<<20 {
			t.Errorf("%s: %d bytes, sparse %t, want %t", name, bytes, s.Sparse, c.sparse)
		}
		for k := range c.keys {
			if !s.Within(k) {
				t.Fatalf("%s: %v is not within its ends", name, k)
			}
		}
	}
}

// BenchmarkIntegerSetHas looks up keys and others: it is to take less than 60 ns.
func BenchmarkIntegerSetHas(b *testing.B) {
	for _, every := range []uint64{1, 8, 100, 1000} {
		b.Run(fmt.Sprintf("one in %d", every), func(b *testing.B) {
			const count = 10_000_000
			s := new(Set)
			for k := range keysEvery(every, count, 1) {
				s.Add(k)
			}
			s.Finish()
			r := rand.New(rand.NewPCG(2, 1))
			var asked [1 << 16]Integer
			for i := range asked {
				asked[i].Bits = r.Uint64N(every * count)
			}
			found := 0
			for i := 0; b.Loop(); i++ {
				if s.Has(asked[i%len(asked)]) {
					found++
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "found")
		})
	}
}

// BenchmarkIntegerSetAdd makes a set of keys that ascend.
func BenchmarkIntegerSetAdd(b *testing.B) {
	for _, every := range []uint64{1, 8, 100} {
		b.Run("one in "+strconv.Itoa(int(every)), func(b *testing.B) {
			b.ReportAllocs()
			s := new(Set)
			i := uint64(0)
			for b.Loop() {
				s.Add(Integer{Bits: i*every + i*0x9e3779b9%every})
				i++
			}
		})
	}
}
