package keys

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Integer is a whole number of a database: from -2^63 to 2^64-1.
type Integer struct {
	Negative bool
	Bits     uint64 // two's complement
}

// Signed returns a number of 64 bits with a sign.
func Signed(v int64) Integer { return Integer{Negative: v < 0, Bits: uint64(v)} }

// ParseInteger reads decimal digits, as a database sends them.
func ParseInteger(b []byte) (n Integer, ok bool) {
	digits, negative := b, false
	if len(b) > 0 && b[0] == '-' {
		digits, negative = b[1:], true
	}
	if len(digits) == 0 || len(digits) > 20 {
		return n, false
	}
	var v uint64
	sure := min(len(digits), 19) // so many always fit
	for _, c := range digits[:sure] {
		if c < '0' || c > '9' {
			return n, false
		}
		v = v*10 + uint64(c-'0')
	}
	for _, c := range digits[sure:] {
		if c < '0' || c > '9' {
			return n, false
		}
		high, low := bits.Mul64(v, 10)
		sum, carry := bits.Add64(low, uint64(c-'0'), 0)
		if high != 0 || carry != 0 {
			return n, false
		}
		v = sum
	}
	if negative && v > 0 {
		return Integer{true, -v}, v <= 1<<63
	}
	return Integer{false, v}, true
}

// ParseWhole reads a number of any type, as a database sends it: digits, with a
// fraction of zeros, or with an exponent. Others are no whole numbers.
func ParseWhole(b []byte) (n Integer, ok bool) {
	if n, ok = ParseInteger(b); ok || len(b) == 0 {
		return n, ok
	}
	rest, negative := bytes.CutPrefix(b, []byte("-"))
	whole, fraction, _ := bytes.Cut(rest, []byte("."))
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte("0")
	}
	if n, ok = ParseInteger(whole); ok && len(rest) > 1 && len(bytes.Trim(fraction, "0")) == 0 {
		if negative && n.Bits > 0 {
			return Integer{true, -n.Bits}, n.Bits <= 1<<63
		}
		return n, true
	}
	if !bytes.ContainsAny(rest, "eE") {
		return Integer{}, false
	}
	f, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return Integer{}, false
	case f < 0 && f >= math.MinInt64:
		return Integer{true, uint64(int64(f))}, true
	case f >= 0 && f < math.MaxUint64:
		return Integer{Bits: uint64(f)}, true
	default:
		return Integer{}, false
	}
}

func (n Integer) String() string {
	if n.Negative {
		return strconv.FormatInt(int64(n.Bits), 10)
	}
	return strconv.FormatUint(n.Bits, 10)
}

// Is reports whether a text is the number as String writes it.
func (n Integer) Is(text []byte) bool {
	var room [20]byte
	if n.Negative {
		return string(strconv.AppendInt(room[:0], int64(n.Bits), 10)) == string(text)
	}
	return string(strconv.AppendUint(room[:0], n.Bits, 10)) == string(text)
}

// Less reports whether it is the smaller number.
func (n Integer) Less(other Integer) bool { return n.Compare(other) < 0 }

// Compare orders numbers as [cmp.Compare] does.
func (n Integer) Compare(other Integer) int {
	if n.Negative != other.Negative {
		return map[bool]int{true: -1, false: 1}[n.Negative]
	}
	return cmp.Compare(n.Bits, other.Bits)
}

// Whole returns the number as one of any size.
func (n Integer) Whole() *big.Int {
	if n.Negative {
		return big.NewInt(int64(n.Bits))
	}
	return new(big.Int).SetUint64(n.Bits)
}

// Add returns the number with an offset added; ok is false if that is more than 2^64-1.
func (n Integer) Add(offset uint64) (sum Integer, ok bool) {
	bits, carry := bits.Add64(n.Bits, offset, 0)
	if n.Negative {
		return Integer{Negative: carry == 0, Bits: bits}, carry == 1 || bits > math.MaxInt64
	}
	return Integer{Bits: bits}, carry == 0
}

// Sub returns the number with an offset taken away; ok is false if that is less than
// -2^63.
func (n Integer) Sub(offset uint64) (difference Integer, ok bool) {
	bits, borrow := bits.Sub64(n.Bits, offset, 0)
	if n.Negative {
		return Integer{Negative: true, Bits: bits}, borrow == 0 && bits > math.MaxInt64
	}
	return Integer{Negative: borrow == 1, Bits: bits}, borrow == 0 || bits > math.MaxInt64
}

// MarshalText implements [encoding.TextMarshaler].
func (n Integer) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *Integer) UnmarshalText(text []byte) error {
	read, ok := ParseInteger(text)
	if !ok {
		return fmt.Errorf("%.40q is no whole number from -2^63 to 2^64-1", text)
	}
	*n = read
	return nil
}
