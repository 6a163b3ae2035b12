package keys

import (
	"errors"
	"fmt"
	"strings"
)

// bitsFormat are some bits of a number; bit 0 is the lowest:
//
//	bits 0..31                      the low half of a number of 64 bits
//	bits 0..31 tag 48..63=0x4000    the same, if the bits 48 to 63 are 0x4000
//
// Alone, it reads a cell that is a decimal number. After then, it takes the numbers as the
// format before it reads them. A negative number is taken in two's complement of 64 bits.
// It stays negative, and one that is not negative never becomes so.
//
// The key is a number from 0 that must fit into its bits. A number with another tag is no
// key: [Format.Others] returns it.
type bitsFormat struct {
	key    bitRange
	tagged bool
	tag    bitRange
	want   uint64 // the tag of a key
}

// bitRange is a run of bits, both ends included.
type bitRange struct{ low, high int }

func (r bitRange) mask() uint64 { return ^uint64(0) >> (63 - r.high + r.low) }

func (r bitRange) of(n uint64) uint64 { return n >> r.low & r.mask() }

// sql is the bits of a column of integers.
func (r bitRange) sql(column string) string {
	if r.mask()>>63 == 1 { // SQLite has no such literal
		return "(" + column + " >> 0)"
	}
	return fmt.Sprintf("((%s >> %d) & %d)", column, r.low, r.mask())
}

func (r bitRange) meets(other bitRange) bool { return r.low <= other.high && other.low <= r.high }

func parseBits(s *step) *bitsFormat {
	const right = "bits 0..31, or bits 0..31 tag 48..63=0x4000"
	b := &bitsFormat{}
	ok := len(s.words) == 1 || len(s.words) == 3
	if ok {
		ok = b.key.parse(s.words[0].name) && !s.words[0].valued
	}
	if ok && len(s.words) == 3 {
		tag := s.words[2]
		b.tagged = true
		b.want, ok = parseNumber(tag.value)
		ok = ok && !tag.quoted && s.words[1].name == "tag" && !s.words[1].valued && b.tag.parse(tag.name)
	}
	switch {
	case !ok:
		s.fail(s.at, "want two bits from 0 to 63, the lower one first; right is: %s", right)
	case b.tagged && b.want > b.tag.mask():
		s.fail(s.words[2].at, "the tag 0x%x does not fit into the bits %d..%d", b.want, b.tag.low, b.tag.high)
	case b.tagged && b.key.meets(b.tag):
		s.fail(s.words[2].at, "a bit cannot belong to both the key and the tag")
	}
	return b
}

func (r *bitRange) parse(text string) bool {
	low, high, ok := strings.Cut(text, "..")
	a, first := parseNumber(low)
	b, second := parseNumber(high)
	*r = bitRange{int(a & 63), int(b & 63)}
	return ok && first && second && a <= b && b <= 63
}

// take returns the key in a number, its tag, and whether that is another's.
func (b *bitsFormat) take(n Integer) (key Integer, tag uint64, other bool) {
	if b.tagged {
		tag = b.tag.of(n.Bits)
	}
	return Integer{Bits: b.key.of(n.Bits)}, tag, b.tagged && tag != b.want
}

// put returns the number with another key in it.
func (b *bitsFormat) put(n, key Integer) (Integer, error) {
	if key.Negative || key.Bits > b.key.mask() {
		return n, fmt.Errorf("does not fit into the bits %d..%d", b.key.low, b.key.high)
	}
	n.Bits = n.Bits&^(b.key.mask()<<b.key.low) | key.Bits<<b.key.low
	if n.Negative && n.Bits>>63 == 0 {
		return n, errors.New("the number would no longer be negative")
	}
	return n, nil
}
