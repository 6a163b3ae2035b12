package keys

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Set is a set of keys. Where at least one number in a few hundred is a key
// it takes at most two bytes and a half for each; a set whose keys are further apart
// than that, and are many, only knows its ends: it is sparse.
type Set struct {
	// Exact keeps every key, however far they are apart. It is set before the first.
	Exact bool

	// Small is sparse as soon as it takes more than a few hundred kilobytes, however close together its keys are. It is set
	// before the first.
	Small bool

	// Sparse tells that only the ends are known.
	Sparse bool

	// Kinds are those of the keys; "" for integers. It is set before the first key, which [Set.AddKey] adds if they are
	// others, and such a set is exact.
	Kinds Kinds

	values []string     // of [Key], sorted when the set is finished
	signs  [2]signedSet // of the numbers from 0 on, and of the negative ones
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

func (s *Set) of(n Integer) *signedSet {
	if n.Negative {
		return &s.signs[1]
	}
	return &s.signs[0]
}

// Add takes in a key; one that is there already counts once. Keys come in any order; ascending ones are the fastest.
func (s *Set) Add(n Integer) {
	set := s.of(n)
	if set.n == 0 {
		set.first, set.low, set.high = n.Bits, n.Bits, n.Bits
	}
	set.n++
	set.low, set.high = min(set.low, n.Bits), max(set.high, n.Bits)
	set.differ |= n.Bits ^ set.first
	if s.Sparse {
		return
	}
	if set.pending = append(set.pending, n.Bits); len(set.pending) == pendingValues {
		set.flush()
	}
	if !s.Exact && set.n%measureEvery == 0 && !(set.fits() && (!s.Small || set.keys.GetSizeInBytes() <= smallSet/4)) {
		s.drop()
	}
}

// Finish is called after the last key.
func (s *Set) Finish() {
	if s.Kinds != "" {
		s.finishValues()
	}
	for i := range s.signs {
		set := &s.signs[i]
		if s.Sparse || set.n == 0 {
			continue
		}
		set.flush()
		set.pending = nil
		set.keys.RunOptimize()
		set.keys = set.keys.Clone() // which has no room to grow
		set.n = int64(set.keys.GetCardinality())
	}
}

func (s *Set) drop() {
	s.Sparse = true
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

// Within reports whether the number is between the ends of the set.
func (s *Set) Within(n Integer) bool {
	set := s.of(n)
	return set.n > 0 && set.low <= n.Bits && n.Bits <= set.high
}

// Has reports whether the number is in the set, which is not sparse.
func (s *Set) Has(n Integer) bool {
	set := s.of(n)
	if set.n == 0 || n.Bits < set.low || n.Bits > set.high {
		return false
	}
	return (n.Bits^set.first)&(1<<set.shift-1) == 0 && set.keys.Contains(n.Bits>>set.shift)
}

// Len counts the keys.
func (s *Set) Len() int64 { return s.signs[0].n + s.signs[1].n + int64(len(s.values)) }

// Highest returns the largest key, 0 if there is none above that.
func (s *Set) Highest() uint64 {
	if s.signs[0].n == 0 {
		return 0
	}
	return s.signs[0].high
}

// Meets reports whether two sets may have a key in common.
func (s *Set) Meets(other *Set) bool {
	for i := range s.signs {
		a, b := &s.signs[i], &other.signs[i]
		switch {
		case a.n == 0 || b.n == 0 || a.high < b.low || b.high < a.low:
		case s.Sparse || other.Sparse:
			return true
		case a.shift == b.shift:
			low := uint64(1)<<a.shift - 1
			if (a.first^b.first)&low == 0 && a.keys.Intersects(b.keys) {
				return true
			}
		default:
			if a.shift > b.shift {
				a, b = b, a
			}
			low := b.first & (1<<b.shift - 1)
			for it := b.keys.Iterator(); it.HasNext(); {
				v := it.Next()<<b.shift | low
				if (v^a.first)&(1<<a.shift-1) == 0 && a.keys.Contains(v>>a.shift) {
					return true
				}
			}
		}
	}
	return false
}

// AnyNegative reports whether any key is below 0.
func (s *Set) AnyNegative() bool { return s.signs[1].n > 0 }

// Gaps counts the numbers between the keys, of those from 0 on, that are none.
func (s *Set) Gaps() uint64 {
	set := &s.signs[0]
	if set.n == 0 {
		return 0
	}
	return set.high - set.low + 1 - uint64(set.n)
}

// Equal reports whether two sets, which are not sparse, have the same keys. No set equals none only.
func (s *Set) Equal(other *Set) bool {
	if s == nil || other == nil {
		return s == other
	}
	if s.Kinds != other.Kinds || !slices.Equal(s.values, other.values) {
		return false
	}
	for i := range s.signs {
		a, b := &s.signs[i], &other.signs[i]
		if a.n != b.n || a.n > 0 && (a.low != b.low || a.high != b.high || a.shift != b.shift || !a.keys.Equals(b.keys)) {
			return false
		}
	}
	return true
}

// InRuns reports whether it tells of a number that the one before is a key: then chance
// fills or misses the gaps by whole runs.
func (s *Set) InRuns() bool {
	set := &s.signs[0]
	if s.Sparse || set.n < 20 || s.Gaps() == 0 {
		return false
	}
	const most = 1 << 17 // keys are enough to tell
	after, n, before := 0., 0., uint64(0)
	for it := set.keys.Iterator(); it.HasNext() && n < most; n++ {
		key := it.Next()
		if n > 0 && key == before+1 {
			after++
		}
		before = key
	}
	density := float64(set.n) / float64((set.high-set.low)>>set.shift+1)
	return density < 1 && (after/n-density)/(1-density) > 0.3
}

// window is how far the density of keys is measured on both sides of a number.
const window = 32

// Density is the share of keys among the numbers around v, without v; 0 beyond the ends
// of the set, which is not sparse.
func (s *Set) Density(v Integer) float64 {
	set := s.of(v)
	if v.Negative || set.n == 0 || v.Bits < set.low || v.Bits > set.high {
		return 0
	}
	low, high := set.low, set.high
	if v.Bits-low > window {
		low = v.Bits - window
	}
	if high-v.Bits > window {
		high = v.Bits + window
	}
	if high == low {
		return 0
	}
	keys := set.upTo(high)
	if low > 0 {
		keys -= set.upTo(low - 1)
	}
	if s.Has(v) {
		keys--
	}
	return float64(keys) / float64(high-low)
}

// upTo counts the keys that are not above a number.
func (s *signedSet) upTo(v uint64) uint64 {
	at := v >> s.shift
	if low := uint64(1)<<s.shift - 1; v&low < s.first&low {
		if at == 0 {
			return 0
		}
		at--
	}
	return s.keys.Rank(at)
}

// All gives the keys of a set that is finished and not sparse, ascending from the least.
func (s *Set) All() iter.Seq[Integer] {
	return func(yield func(Integer) bool) {
		for i, negative := range []bool{true, false} {
			set := &s.signs[1-i]
			if set.n == 0 {
				continue
			}
			low := set.first & (1<<set.shift - 1)
			for it := set.keys.Iterator(); it.HasNext(); {
				if !yield(Integer{negative, it.Next()<<set.shift | low}) {
					return
				}
			}
		}
	}
}

// Range is from the smallest key to the largest.
func (s *Set) Range() (r Range) {
	for i, negative := range []bool{false, true} {
		if set := &s.signs[i]; set.n > 0 {
			r.Join(Range{Integer{negative, set.low}, Integer{negative, set.high}, true})
		}
	}
	return r
}

// AppendBinary appends a form that [Set.UnmarshalBinary] reads. The set is finished and
// not sparse.
func (s *Set) AppendBinary(b []byte) ([]byte, error) {
	if s.Sparse {
		return b, errors.New("rekey: a sparse set does not know its keys")
	}
	start := len(b)
	if s.Kinds != "" {
		b = s.appendValues(append(b, valuesVersion))
		return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
	}
	b = append(b, setVersion)
	for i := range s.signs {
		set := &s.signs[i]
		b = binary.BigEndian.AppendUint64(b, uint64(set.n))
		if set.n == 0 {
			continue
		}
		keys, err := set.keys.ToBytes()
		if err != nil {
			return b, err
		}
		for _, v := range []uint64{set.low, set.high, set.first, uint64(set.shift), uint64(len(keys))} {
			b = binary.BigEndian.AppendUint64(b, v)
		}
		b = append(b, keys...)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
}

// castagnoli tells a damaged form from a whole one.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The first byte of the form: of integers, and of other keys.
const (
	setVersion    = 1
	valuesVersion = 2
)

// UnmarshalBinary reads what [Set.AppendBinary] wrote.
func (s *Set) UnmarshalBinary(b []byte) error {
	broken := errors.New("rekey: not a set of keys, or damaged")
	end := len(b) - 4
	if end < 1 || b[0] != setVersion && b[0] != valuesVersion || binary.BigEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) {
		return broken
	}
	version := b[0]
	if b, *s = b[1:end], (Set{Exact: true}); version == valuesVersion {
		return s.readValues(b)
	}
	next := func() (v uint64, ok bool) {
		if len(b) < 8 {
			return 0, false
		}
		v, b = binary.BigEndian.Uint64(b), b[8:]
		return v, true
	}
	for i := range s.signs {
		set := &s.signs[i]
		n, ok := next()
		if !ok || int64(n) < 0 {
			return broken
		}
		if set.n = int64(n); n == 0 {
			continue
		}
		var shift, size uint64
		for _, v := range []*uint64{&set.low, &set.high, &set.first, &shift, &size} {
			if *v, ok = next(); !ok {
				return broken
			}
		}
		if shift > 63 || size > uint64(len(b)) {
			return broken
		}
		set.shift, set.keys = int(shift), roaring64.New()
		if err := set.keys.UnmarshalBinary(b[:size]); err != nil || set.keys.GetCardinality() > n {
			return broken
		}
		b = b[size:]
	}
	if len(b) > 0 {
		return broken
	}
	return nil
}
