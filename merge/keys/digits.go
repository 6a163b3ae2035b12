package keys

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// digits is a number in a text.
//
// Without a width, it is canonical: 0, or digits that do not begin with 0; a decimal one
// may have a minus sign before it. It is not canonical if a digit stands before or behind
// it, or a minus sign that belongs to it: then only a part of a number was found.
//
// With a width it has that many characters always: the pad character, as often as needed,
// and then the digits. It is not negative.
type digits struct {
	base  int // 10 or 16
	upper bool
	width int // 0: as many as it needs
	pad   byte
}

func (d digits) read(t part) (v Integer, any bool, err error) {
	b := t.bytes()
	if d.width > 0 {
		if len(b) != d.width {
			return v, false, t.fault(t.from, t.to, "want %d characters", d.width)
		}
		for len(b) > 1 && b[0] == d.pad {
			b = b[1:]
		}
	} else if d.cutBefore(t) || d.cutAfter(t) {
		return v, false, cutFault(t)
	}
	if v, ok := d.parse(b); ok {
		return v, true, nil
	}
	return v, false, t.fault(t.from, t.to, "want %s", d)
}

// String says what is right.
func (d digits) String() string {
	text := "a whole number, from -2^63 to 2^64-1, without leading zeros"
	if d.base == 16 && d.upper {
		text = "hexadecimal digits 0-9 and A-F, at most 16, without leading zeros"
	} else if d.base == 16 {
		text = "hexadecimal digits 0-9 and a-f, at most 16, without leading zeros"
	}
	if d.width > 0 {
		text += fmt.Sprintf(", padded with %+q to %d characters", string(d.pad), d.width)
	}
	return text
}

// parse reads a canonical number.
func (d digits) parse(b []byte) (v Integer, ok bool) {
	if d.base == 10 {
		v, ok = ParseInteger(b)
	} else {
		n, err := strconv.ParseUint(string(b), 16, 64)
		v, ok = Integer{Bits: n}, err == nil && !bytes.ContainsAny(b, d.otherCase())
	}
	zeros := ok && len(b) > 1 && bytes.TrimPrefix(b, []byte("-"))[0] == '0'
	return v, ok && !zeros && !(d.width > 0 && v.Negative)
}

// otherCase are the letters that are no digits.
func (d digits) otherCase() string {
	if d.upper {
		return "abcdef"
	}
	return "ABCDEF"
}

func (d digits) format(v Integer) []byte {
	if d.base == 10 {
		return []byte(v.String())
	}
	b := strconv.AppendUint(nil, v.Bits, 16)
	if d.upper {
		b = bytes.ToUpper(b)
	}
	return b
}

func (d digits) write(v Integer) ([]byte, error) {
	if v.Negative && (d.base == 16 || d.width > 0) {
		return nil, errors.New("cannot be negative here")
	}
	b := d.format(v)
	if d.width == 0 {
		return b, nil
	}
	if len(b) > d.width {
		return nil, fmt.Errorf("needs %d characters, but the format has %d", len(b), d.width)
	}
	return append(bytes.Repeat([]byte{d.pad}, d.width-len(b)), b...), nil
}

// most returns the largest number.
func (d digits) most() uint64 {
	if d.width == 0 {
		return math.MaxUint64
	}
	most, base := uint64(0), uint64(d.base)
	for range d.width {
		if most > (math.MaxUint64-base+1)/base {
			return math.MaxUint64
		}
		most = most*base + base - 1
	}
	return most
}

// cutBefore reports whether a digit or a sign before the part belongs to its number.
func (d digits) cutBefore(t part) bool {
	before := func(n int) byte {
		if t.from < n {
			return 0
		}
		return t.source[t.from-n]
	}
	if d.base == 10 && before(1) == '-' { // a sign, unless it stands in a word: guild-4711
		return !isLetter(before(2)) && !d.isDigit(before(2))
	}
	return d.isDigit(before(1))
}

// cutAfter reports whether a digit behind the part belongs to its number.
func (d digits) cutAfter(t part) bool { return t.to < len(t.source) && d.isDigit(t.source[t.to]) }

// cutFault is an error about a part that is only a part of a number.
func cutFault(t part) error {
	return t.fault(max(t.from-1, 0), min(t.to+1, len(t.source)), "this is longer than the number that was found, %s", quote(t.bytes()))
}

func (d digits) isDigit(c byte) bool {
	return c >= '0' && c <= '9' || d.base == 16 && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// parseDigits reads base=, upper, width= and pad=.
func parseDigits(s *step) digits {
	d := digits{base: 10, pad: '0'}
	if w := s.take("base"); w != nil {
		switch w.value {
		case "10":
		case "16":
			d.base = 16
		default:
			s.fail(w.at, "want base=10 or base=16")
		}
	}
	if d.upper = s.flag("upper"); d.upper && d.base == 10 {
		s.fail(s.at, "upper is for base=16")
	}
	width, _ := s.number("width", 1, math.MaxInt16)
	d.width = int(width)
	if pad, given := s.textOf("pad"); given {
		if len(pad) != 1 || pad[0] < ' ' || pad[0] > '~' || pad != "0" && (digits{base: 16}).isDigit(pad[0]) || pad == "-" || pad == `"` || pad == `\` {
			s.fail(s.at, "want pad= and one character, 0 or none of the digits: pad='0' or pad=' '")
		} else if d.pad = pad[0]; d.width == 0 {
			s.fail(s.at, "pad= needs width=")
		}
	}
	return d
}
