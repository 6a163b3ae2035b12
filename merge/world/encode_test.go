package world

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// form encodes a value behind other bytes, which must stay.
func form(t rapid.TB, encode encode, v any) []byte {
	t.Helper()
	got, err := encode([]byte("before"), v)
	if err != nil || !bytes.HasPrefix(got, []byte("before")) {
		t.Fatalf("%v: %x, %v", v, got, err)
	}
	return got[len("before"):]
}

// compareForms makes sure that two values compare as the numbers do that they
// stand for.
func compareForms(t rapid.TB, encode encode, x, y any, want int) {
	t.Helper()
	fx, fy := form(t, encode, x), form(t, encode, y)
	if got := bytes.Compare(fx, fy); got != want {
		t.Fatalf("%s and %s compare %d, want %d: %x and %x", x, y, got, want, fx, fy)
	}
}

func TestDecimalsCompareAsNumbers(t *testing.T) {
	t.Parallel()
	digits := rapid.StringMatching(`-?(0|00|[0-9]|[0-9]{1,40})(\.(0|[0-9]0?|[0-9]{1,30}))?`)
	rapid.Check(t, func(t *rapid.T) {
		x, y := digits.Draw(t, "x"), digits.Draw(t, "y")
		if rapid.Bool().Draw(t, "prefix") {
			y = x + rapid.StringMatching(`[0-9]{0,3}`).Draw(t, "more")
		}
		nx, _ := new(big.Rat).SetString(x)
		ny, _ := new(big.Rat).SetString(y)
		compareForms(t, encodeDecimal, []byte(x), []byte(y), nx.Cmp(ny))
	})
	for _, pair := range [][2]string{{"-1.5", "-1"}, {"-1.50", "-1.5"}, {"-10", "-9"}, {"-0.00", "0"}, {"007", "7.000"}, {"0.01", "0.1"}} {
		nx, _ := new(big.Rat).SetString(pair[0])
		ny, _ := new(big.Rat).SetString(pair[1])
		compareForms(t, encodeDecimal, []byte(pair[0]), []byte(pair[1]), nx.Cmp(ny))
	}
	for _, bad := range []any{[]byte("1e5"), []byte("1,5"), []byte("--1"), "1", 1.5, int64(1), bytes.Repeat([]byte("9"), 256)} {
		if got, err := encodeDecimal(nil, bad); err == nil {
			t.Errorf("%v: got %x", bad, got)
		}
	}
}

// Integers and floating point numbers compare by their exact values, as SQLite
// does it, also where a float64 cannot tell integers apart.
func TestAnyNumbersCompareExactly(t *testing.T) {
	t.Parallel()
	number := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any {
			return rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0, 1 << 53, -1 << 53, 1 << 62, -1 << 62}).Draw(t, "base") + rapid.Int64Range(-3, 3).Draw(t, "off")
		}),
		rapid.Custom(func(t *rapid.T) any { return rapid.Int64().Draw(t, "n") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64().Draw(t, "f") }),
		rapid.Custom(func(t *rapid.T) any {
			return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1 << 53, 1 << 63, -1 << 63, 1 << 62, math.Inf(1), math.Inf(-1), math.Nextafter(1<<63, 0)}).Draw(t, "edge")
		}),
	)
	exact := func(v any) *big.Float {
		if n, ok := v.(int64); ok {
			return new(big.Float).SetPrec(64).SetInt64(n)
		}
		return new(big.Float).SetPrec(64).SetFloat64(v.(float64))
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := number.Draw(t, "x"), number.Draw(t, "y")
		compareForms(t, encodeAnything, x, y, exact(x).Cmp(exact(y)))
		if x, ok := x.(float64); ok {
			if y, ok := y.(float64); ok {
				compareForms(t, encodeReal, x, y, cmp.Compare(x+0, y+0))
			}
		}
	})
	compareForms(t, encodeAnything, int64(math.MaxInt64), float64(1<<63), -1)
	compareForms(t, encodeAnything, int64(-1<<63), float64(-1<<63), 0)
	if got, err := encodeReal(nil, math.NaN()); err == nil {
		t.Errorf("NaN: got %x", got)
	}
	// Between kinds of values the order is that of SQLite.
	compareForms(t, encodeAnything, math.Inf(1), "", -1)
	compareForms(t, encodeAnything, "\xff\xff", []byte{}, -1)
}

func TestDurationsCompareAsTimes(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`-?[0-8][0-9]?[0-9]?:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?`)
	parse := func(s string) time.Duration {
		sign := time.Duration(1)
		if s[0] == '-' {
			sign, s = -1, s[1:]
		}
		hours, rest, _ := bytes.Cut([]byte(s), []byte(":"))
		minutes, seconds, _ := bytes.Cut(rest, []byte(":"))
		d, err := time.ParseDuration(string(hours) + "h" + string(minutes) + "m" + string(seconds) + "s")
		if err != nil {
			t.Fatal(err)
		}
		return sign * d
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := text.Draw(t, "x"), text.Draw(t, "y")
		compareForms(t, encodeDuration, []byte(x), []byte(y), cmp.Compare(parse(x), parse(y)))
	})
	for _, bad := range []any{[]byte(""), []byte("12:00"), []byte("1:2:3.1234567"), []byte("a:00:00"), "01:00:00"} {
		if got, err := encodeDuration(nil, bad); err == nil {
			t.Errorf("%v: got %x", bad, got)
		}
	}
}

// A padded form compares as weights do that are followed by spaces without
// end.
func TestPaddedCompareAsIfSpacesFollowed(t *testing.T) {
	t.Parallel()
	for _, space := range [][]byte{{2}, {0, 2}, {0, 0, 2}} {
		weights := rapid.Custom(func(t *rapid.T) (w []byte) {
			for range rapid.IntRange(0, 6).Draw(t, "n") {
				unit := bytes.Clone(space)
				unit[len(unit)-1] = byte(rapid.SampledFrom([]int{1, 2, 2, 3, 0xff}).Draw(t, "w"))
				w = append(w, unit...)
			}
			return w
		})
		rapid.Check(t, func(t *rapid.T) {
			x, y := weights.Draw(t, "x"), weights.Draw(t, "y")
			long := func(w []byte) []byte { return append(bytes.Clone(w), bytes.Repeat(space, 10)...)[:7*len(space)] }
			want := bytes.Compare(long(x), long(y))
			if got := bytes.Compare(appendPadded(nil, x, space), appendPadded(nil, y, space)); got != want {
				t.Fatalf("%x and %x compare %d, want %d", x, y, got, want)
			}
		})
	}
}

// Messages show a key as people write it.
func TestKeyTextForPeople(t *testing.T) {
	key, err := EncodeKey([]any{1.0, 0.1, float32(2.5), int64(-3), "a b", []byte{0xab}, nil})
	if err == nil {
		t.Fatalf("NULL is no key, got %s", key)
	}
	if key, err = EncodeKey([]any{1.0, 0.1, float32(2.5), int64(-3), "ab", []byte{0xab}}); err != nil {
		t.Fatal(err)
	}
	if got := KeyText(key); got != "1/0.1/2.5/-3/ab/ab" {
		t.Errorf("got %s", got)
	}
}
