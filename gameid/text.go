package gameid

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Parse reads the text of an ID: exactly 20 hexadecimal digits in either
// case, nothing around them, and a server that is not 0. Anything else is a
// [*ParseError]. It does not allocate unless it fails.
func Parse(s string) (ID, error) { return parse(s) }

// MustParse is [Parse] for constants and tests: it panics on bad text.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

func parse[T string | []byte](s T) (ID, error) {
	if len(s) != TextSize {
		return ID{}, textError(string(s))
	}
	a, badA := hex8(load8(s[0:8]))
	b, badB := hex8(load8(s[8:16]))
	// The last four digits, with four zeros in front of them.
	c, badC := hex8(load4(s[16:20])<<32 | 0x30303030)
	id := ID{hi: a<<32 | b, lo: uint16(c)}
	if badA|badB|badC != 0 || !id.IsValid() {
		return ID{}, textError(string(s))
	}
	return id, nil
}

// load8 and load4 read bytes as a little-endian number. The compiler makes one
// load of each.
func load8[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load4[T string | []byte](s T) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// hex8 reads eight hexadecimal digits, the first in the lowest byte, all at
// once: every step works on the eight bytes of x side by side, none of which
// overflows into the next. bad is not 0 if one of them is not a digit.
func hex8(x uint64) (value, bad uint64) {
	const each = 0x0101010101010101
	letter := x >> 6 & each          // 1 for letters: 0x41 to 0x46 and 0x61 to 0x66
	v := x&(each*0x0f) + letter*9    // the value, if it is a digit at all
	tens := (v + each*6) >> 4 & each // 1 where v is 10 or more
	kind := (x | letter<<5) & (each * 0xf0)
	bad = kind ^ (each*0x30 + letter*0x30) | tens ^ letter | v&(each*0x10)

	v = bits.ReverseBytes64(v)
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return v&0xffff | v>>16&0xffff0000, bad
}

// String returns the 20 digits of id, or "invalid gameid" for the zero ID.
func (id ID) String() string {
	if !id.IsValid() {
		return "invalid gameid"
	}
	var b [TextSize]byte
	id.putText(&b)
	return string(b[:])
}

func (id ID) putText(b *[TextSize]byte) {
	binary.BigEndian.PutUint64(b[0:8], digits8(uint32(id.hi>>32)))
	binary.BigEndian.PutUint64(b[8:16], digits8(uint32(id.hi)))
	binary.BigEndian.PutUint32(b[16:20], uint32(digits8(uint32(id.lo))))
}

// digits8 is the inverse of hex8: the eight digits of v, the first in the
// highest byte.
func digits8(v uint32) uint64 {
	const each = 0x0101010101010101
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letter := (x + each*6) >> 4 & each // 1 where the digit is 10 or more
	return x + each*'0' + letter*('a'-'0'-10)
}

// AppendText appends the 20 digits of id to b. The zero ID is an error. It
// allocates only what b lacks in capacity.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if !id.IsValid() {
		return b, ErrZeroID
	}
	var text [TextSize]byte
	id.putText(&text)
	return append(b, text[:]...), nil
}

// MarshalText returns the 20 digits of id. The zero ID is an error.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(make([]byte, 0, TextSize)) }

// UnmarshalText reads text as [Parse] does. On error *id becomes the zero ID.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = parse(text)
	return err
}

// MarshalJSON returns id as a JSON string. The zero ID is an error: use a
// pointer where an ID may be missing.
func (id ID) MarshalJSON() ([]byte, error) {
	if !id.IsValid() {
		return nil, ErrZeroID
	}
	b := make([]byte, 0, TextSize+2)
	b = append(b, '"')
	b, _ = id.AppendText(b)
	return append(b, '"'), nil
}

// UnmarshalJSON reads a JSON string as [Parse] does. A number, null or
// anything else is an error. Then *id becomes the zero ID. A field that
// may be null is a pointer.
func (id *ID) UnmarshalJSON(b []byte) (err error) {
	*id = ID{}
	// An ID needs no escapes, so what is between the quotes is the text.
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("gameid: JSON %s is not an ID: want a string of %d hexadecimal digits", quote(string(b)), TextSize)
	}
	return id.UnmarshalText(b[1 : len(b)-1])
}
