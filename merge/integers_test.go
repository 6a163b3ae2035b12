package merge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func number(v int64) integer { return integer{v < 0, uint64(v)} }

func setOf(keys ...integer) *integerSet {
	s := new(integerSet)
	for _, k := range keys {
		s.add(k)
	}
	s.finish()
	return s
}

func TestParseInteger(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "7": "7", "-7": "-7", "0042": "42", "-0042": "-42", "00000000000000000001": "1",
		"9223372036854775807": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
		"9223372036854775808": "9223372036854775808", "18446744073709551615": "18446744073709551615",
	} {
		if n, ok := parseInteger([]byte(text)); !ok || n.String() != want {
			t.Errorf("%q: %v, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-", "--1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "18446744073709551616", "-9223372036854775809", "99999999999999999999", "184467440737095516150", "٣"} {
		if n, ok := parseInteger([]byte(text)); ok {
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
		if n, ok := parseWhole([]byte(text)); !ok || n.String() != want {
			t.Errorf("%q: %v, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-", ".", "7.5", "1e-3", "1e30", "-1e30", "-9223372036854775809.0", "18446744073709551616.0", "e", "1.5e0", "NaN", "Inf", "0x10", "1.2.3"} {
		if n, ok := parseWhole([]byte(text)); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
}

// The set says the same as a map, whatever the keys are.
func TestIntegerSetIsASet(t *testing.T) {
	anyInteger := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) integer { return number(rapid.Int64Range(-40, 40).Draw(t, "small")) }),
		rapid.Custom(func(t *rapid.T) integer { return number(rapid.Int64().Draw(t, "signed")) }),
		rapid.Custom(func(t *rapid.T) integer { return integer{bits: rapid.Uint64().Draw(t, "unsigned")} }),
		rapid.Custom(func(t *rapid.T) integer { return integer{bits: uint64(rapid.IntRange(0, 50).Draw(t, "time")) << 22} }),
		rapid.Custom(func(t *rapid.T) integer { return integer{bits: uint64(rapid.IntRange(0, 50).Draw(t, "time"))<<22 | 5} }),
		rapid.SampledFrom([]integer{{}, number(math.MinInt64), number(math.MaxInt64), {bits: math.MaxUint64}, number(-1)}),
	)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (*integerSet, map[integer]bool) {
			keys := rapid.SliceOfN(anyInteger, 0, 60).Draw(t, name)
			if rapid.IntRange(0, 9).Draw(t, "many") == 0 { // more than are kept before they are sorted in
				shift := rapid.SampledFrom([]uint{0, 1, 22}).Draw(t, "shift")
				for i := range uint64(3000) {
					keys = append(keys, integer{bits: i << shift})
				}
			}
			all := make(map[integer]bool)
			for _, k := range keys {
				all[k] = true
			}
			return setOf(keys...), all
		}
		s, all := draw("keys")
		other, theirs := draw("others")
		for _, k := range rapid.SliceOfN(anyInteger, 0, 60).Draw(t, "asked") {
			if s.has(k) != all[k] {
				t.Fatalf("%v: %v, want %v", k, s.has(k), all[k])
			}
			if all[k] && !s.within(k) {
				t.Fatalf("%v is not within the ends", k)
			}
		}
		common := false
		for k := range all {
			if !s.has(k) {
				t.Fatalf("%v is missing", k)
			}
			common = common || theirs[k]
		}
		if s.meets(other) != common || other.meets(s) != common {
			t.Fatalf("meets: %v and %v, want %v", s.meets(other), other.meets(s), common)
		}
	})
}

// keysEvery are ascending keys of which n numbers each has one, at a random place.
func keysEvery(n uint64, count int, seed uint64) func(func(integer) bool) {
	return func(yield func(integer) bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		for i := range uint64(count) {
			if !yield(integer{bits: i*n + r.Uint64N(n)}) {
				return
			}
		}
	}
}

func randomKeys(count int, seed uint64) func(func(integer) bool) {
	return func(yield func(integer) bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range count {
			if !yield(integer{bits: r.Uint64()}) {
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
		keys   func(func(integer) bool)
		bytes  float64 // that a key may take
		sparse bool
	}{
		{"dense", keysEvery(1, count, 1), 0.2, false},
		{"one in 8", keysEvery(8, count, 1), 200 << 20 / 200e6, false},
		{"one in 100", keysEvery(100, count, 1), 600 << 20 / 200e6, false},
		{"one in 1000", keysEvery(1000, count, 1), 5, false},
		{"random", randomKeys(count, 1), 1, true},
		{"time<<22", func(yield func(integer) bool) {
			for k := range keysEvery(8, count, 1) {
				if !yield(integer{bits: k.bits << 22}) {
					return
				}
			}
		}, 200 << 20 / 200e6, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, bytes := heapOf(func() *integerSet {
				s := new(integerSet)
				for k := range c.keys {
					s.add(k)
				}
				s.finish()
				return s
			})
			each := float64(bytes) / count
			t.Logf("%.2f bytes a key, sparse %v", each, s.sparse)
			if each > c.bytes || s.sparse != c.sparse {
				t.Errorf("%.2f bytes a key, sparse %v, want at most %.2f, %v", each, s.sparse, c.bytes, c.sparse)
			}
			if s.len() != count {
				t.Errorf("%d keys, want %d", s.len(), count)
			}
			n := 0
			for k := range c.keys {
				if n++; n%997 == 0 && !c.sparse && !s.has(k) {
					t.Fatalf("%v is missing", k)
				}
			}
		})
	}
}

// BenchmarkIntegerSetHas looks up keys and others: it is to take less than 60 ns.
func BenchmarkIntegerSetHas(b *testing.B) {
	for _, every := range []uint64{1, 8, 100, 1000} {
		b.Run(fmt.Sprintf("one in %d", every), func(b *testing.B) {
			const count = 10_000_000
			s := new(integerSet)
			for k := range keysEvery(every, count, 1) {
				s.add(k)
			}
			s.finish()
			r := rand.New(rand.NewPCG(2, 1))
			var asked [1 << 16]integer
			for i := range asked {
				asked[i].bits = r.Uint64N(every * count)
			}
			found := 0
			for i := 0; b.Loop(); i++ {
				if s.has(asked[i%len(asked)]) {
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
			s := new(integerSet)
			i := uint64(0)
			for b.Loop() {
				s.add(integer{bits: i*every + i*0x9e3779b9%every})
				i++
			}
		})
	}
}
