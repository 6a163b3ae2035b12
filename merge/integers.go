package merge

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// integer is a whole number of a database: from -2^63 to 2^64-1.
type integer struct {
	negative bool
	bits     uint64 // two's complement
}

// parseInteger reads decimal digits, as a database sends them.
func parseInteger(b []byte) (n integer, ok bool) {
	digits, negative := bytes.CutPrefix(b, []byte("-"))
	if len(digits) == 0 || len(digits) > 20 {
		return n, false
	}
	var v uint64
	for _, c := range digits {
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
		return integer{true, -v}, v <= 1<<63
	}
	return integer{false, v}, true
}

// parseWhole reads a number of any type, as a database sends it: digits, with a
// fraction of zeros, or with an exponent. Others are no whole numbers.
func parseWhole(b []byte) (n integer, ok bool) {
	if n, ok = parseInteger(b); ok || len(b) == 0 {
		return n, ok
	}
	rest, negative := bytes.CutPrefix(b, []byte("-"))
	whole, fraction, _ := bytes.Cut(rest, []byte("."))
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte("0")
	}
	if n, ok = parseInteger(whole); ok && len(rest) > 1 && len(bytes.Trim(fraction, "0")) == 0 {
		if negative && n.bits > 0 {
			return integer{true, -n.bits}, n.bits <= 1<<63
		}
		return n, true
	}
	if !bytes.ContainsAny(rest, "eE") {
		return integer{}, false
	}
	f, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return integer{}, false
	case f < 0 && f >= math.MinInt64:
		return integer{true, uint64(int64(f))}, true
	case f >= 0 && f < math.MaxUint64:
		return integer{bits: uint64(f)}, true
	default:
		return integer{}, false
	}
}

func (n integer) String() string {
	if n.negative {
		return strconv.FormatInt(int64(n.bits), 10)
	}
	return strconv.FormatUint(n.bits, 10)
}

// integerSet is a set of keys. Where at least one number in a few hundred is a key
// it takes at most two bytes and a half for each; a set whose keys lie further apart
// than that, and are many, only knows its ends: it is sparse.
type integerSet struct {
	signs  [2]signedSet // of the numbers from 0 on, and of the negative ones
	sparse bool
}

// signedSet are the numbers of one sign, by their bits, which ascend.
type signedSet struct {
	n         int64
	low, high uint64
	first     uint64
	differ    uint64 // bits in which any number differs from the first
	shift     int    // that many low bits are the same in all that are in keys
	keys      *roaring64.Bitmap
	pending   []uint64
}

// The measure of a set: how often its size is looked at, and what it may take
// for each key once it is not small.
const (
	measureEvery  = 1 << 16 // keys
	smallSet      = 1 << 20 // bytes
	sparseSet     = 4       // bytes a key
	pendingValues = 1 << 10
)

func (s *integerSet) of(n integer) *signedSet {
	if n.negative {
		return &s.signs[1]
	}
	return &s.signs[0]
}

// add takes in a key. Keys come in any order; ascending ones are the fastest.
func (s *integerSet) add(n integer) {
	set := s.of(n)
	if set.n == 0 {
		set.first, set.low, set.high = n.bits, n.bits, n.bits
	}
	set.n++
	set.low, set.high = min(set.low, n.bits), max(set.high, n.bits)
	set.differ |= n.bits ^ set.first
	if s.sparse {
		return
	}
	if set.pending = append(set.pending, n.bits); len(set.pending) == pendingValues {
		set.flush()
	}
	if set.n%measureEvery == 0 && !set.fits() {
		s.drop()
	}
}

// finish is called after the last key.
func (s *integerSet) finish() {
	for i := range s.signs {
		set := &s.signs[i]
		if s.sparse || set.n == 0 {
			continue
		}
		set.flush()
		set.pending = nil
		set.keys.RunOptimize()
	}
}

func (s *integerSet) drop() {
	s.sparse = true
	for i := range s.signs {
		s.signs[i].keys, s.signs[i].pending = nil, nil
	}
}

// flush puts the pending keys into the set. What all keys have in common at their
// low end is shifted away, so that keys such as time<<22 lie close together.
func (s *signedSet) flush() {
	if s.keys == nil {
		s.keys = roaring64.New()
	}
	if common := bits.TrailingZeros64(s.differ); s.shift > common {
		s.reshape(common)
	}
	for i := range s.pending {
		s.pending[i] >>= s.shift
	}
	s.keys.AddMany(s.pending)
	s.pending = s.pending[:0]
}

// reshape shifts the keys by another number of bits.
func (s *signedSet) reshape(shift int) {
	again := roaring64.New()
	values := make([]uint64, 0, pendingValues)
	low := s.first & (1<<s.shift - 1)
	for it := s.keys.Iterator(); it.HasNext(); {
		if values = append(values, (it.Next()<<s.shift|low)>>shift); len(values) == pendingValues {
			again.AddMany(values)
			values = values[:0]
		}
	}
	again.AddMany(values)
	s.keys, s.shift = again, shift
}

// fits reports whether the set is small, or its keys are close enough together.
func (s *signedSet) fits() bool {
	s.flush()
	fits := func() bool {
		size := s.keys.GetSizeInBytes()
		return size <= smallSet || size <= sparseSet*uint64(s.n)
	}
	if fits() {
		return true
	}
	common := bits.TrailingZeros64(s.differ)
	if common <= s.shift || common >= 64 {
		return false
	}
	s.reshape(common)
	return fits()
}

// within reports whether the number is between the ends of the set.
func (s *integerSet) within(n integer) bool {
	set := s.of(n)
	return set.n > 0 && set.low <= n.bits && n.bits <= set.high
}

// has reports whether the number is in the set, which is not sparse.
func (s *integerSet) has(n integer) bool {
	set := s.of(n)
	if set.n == 0 || n.bits < set.low || n.bits > set.high {
		return false
	}
	return (n.bits^set.first)&(1<<set.shift-1) == 0 && set.keys.Contains(n.bits>>set.shift)
}

// len counts the keys.
func (s *integerSet) len() int64 { return s.signs[0].n + s.signs[1].n }

// highest returns the largest key, 0 if there is none above that.
func (s *integerSet) highest() uint64 {
	if s.signs[0].n == 0 {
		return 0
	}
	return s.signs[0].high
}
