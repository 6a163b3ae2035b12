package world

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// kind is what the values of a column are, as far as comparing them goes.
type kind int

const (
	other    kind = iota // no sorting form
	raw                  // bytes
	integer              // signed or unsigned, up to 64 bits
	text                 // characters under a collation
	moment               // a date, or a date and a time of day
	decimal              // digits, some of them behind a point
	real                 // floating point
	duration             // a time of day, or longer, or negative
	address              // bytes that are written in a way of their own: UUID, INET6
	anything             // whatever SQLite has in a column
)

func (k kind) String() string {
	return [...]string{"another kind of value", "bytes", "an integer", "text", "a date", "a decimal number",
		"a floating point number", "a time", "an address", "any value"}[k]
}

// shown is the kind as a catalogue has it.
func (k kind) shown() catalog.Kind {
	switch k {
	case raw, address:
		return catalog.KindBytes
	case integer:
		return catalog.KindInteger
	case text:
		return catalog.KindText
	case moment, duration:
		return catalog.KindTime
	case decimal:
		return catalog.KindDecimal
	case real:
		return catalog.KindReal
	case anything:
		return catalog.KindAny
	default:
		return catalog.KindOther
	}
}

// mismatch tells that a value is not what its column was declared to hold.
type mismatch struct {
	want kind
	got  any
}

func (e *mismatch) Error() string {
	return fmt.Sprintf("a value is %s, want %s", describe(e.got), e.want)
}

func describe(v any) string {
	switch v.(type) {
	case []byte:
		return raw.String()
	case string:
		return text.String()
	case int64, uint64:
		return integer.String()
	case float64, float32:
		return real.String()
	default:
		return fmt.Sprintf("a %T", v)
	}
}

// encodeRaw appends bytes as they are.
func encodeRaw(dst []byte, src any) ([]byte, error) {
	if b, ok := src.([]byte); ok {
		return append(dst, b...), nil
	}
	return dst, &mismatch{raw, src}
}

// encodeText appends the bytes of a text, whichever way the driver delivers
// it.
func encodeText(dst []byte, src any) ([]byte, error) {
	switch s := src.(type) {
	case string:
		return append(dst, s...), nil
	case []byte:
		return append(dst, s...), nil
	}
	return dst, &mismatch{text, src}
}

// encodeInteger appends 9 bytes that sort like the number, signed and unsigned
// columns alike: whether it is at least 0, then its 64 bits.
func encodeInteger(dst []byte, src any) ([]byte, error) {
	switch n := src.(type) {
	case int64:
		sign := byte(1)
		if n < 0 {
			sign = 0
		}
		return binary.BigEndian.AppendUint64(append(dst, sign), uint64(n)), nil
	case uint64:
		return binary.BigEndian.AppendUint64(append(dst, 1), n), nil
	}
	return dst, &mismatch{integer, src}
}

// encodeShifted is encodeInteger of what becomes of a number.
func encodeShifted(shift *keys.Shift) encode {
	return func(dst []byte, src any) ([]byte, error) {
		n, ok := AsInteger(src)
		if !ok {
			return dst, &mismatch{integer, src}
		}
		image, ok := shift.Image(n)
		if !ok { // one that means nobody: for the others there is room
			image = keys.Integer{Bits: math.MaxUint64}
		}
		if image.Negative {
			return encodeInteger(dst, int64(image.Bits))
		}
		return encodeInteger(dst, image.Bits)
	}
}

// encodeDigits appends the decimal digits of an integer.
func encodeDigits(dst []byte, src any) ([]byte, error) {
	switch n := src.(type) {
	case int64:
		return strconv.AppendInt(dst, n, 10), nil
	case uint64:
		return strconv.AppendUint(dst, n, 10), nil
	}
	return dst, &mismatch{integer, src}
}

// parseDigits reads what encodeDigits wrote, as an argument of a statement.
func parseDigits(b []byte) (any, error) {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, nil
	}
	return strconv.ParseUint(string(b), 10, 64)
}

// encodeReal appends 8 bytes that sort like the number. The two zeros are
// equal. NaN does not occur: databases have NULL in its place.
func encodeReal(dst []byte, src any) ([]byte, error) {
	f, ok := src.(float64)
	if !ok || f != f {
		return dst, &mismatch{real, src}
	}
	return binary.BigEndian.AppendUint64(dst, realBits(f)), nil
}

func realBits(f float64) uint64 {
	bits := math.Float64bits(f + 0) // of -0 makes 0
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// encodeRealText appends the shortest digits that stand for the number alone.
func encodeRealText(dst []byte, src any) ([]byte, error) {
	f, ok := src.(float64)
	if !ok {
		return dst, &mismatch{real, src}
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
}

// The first byte of the sorting form of a decimal number.
const (
	decimalNegative = iota
	decimalZero
	decimalPositive
)

// encodeDecimal appends a form that sorts like the number that the digits
// stand for: its sign, how many digits are before the point, and the digits
// without zeros at the ends. Of negative numbers all is inverted, and an end
// mark makes the longer one the smaller.
func encodeDecimal(dst []byte, src any) ([]byte, error) {
	digits, ok := src.([]byte)
	if !ok {
		return dst, &mismatch{decimal, src}
	}
	digits, negative := bytes.CutPrefix(digits, []byte("-"))
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	whole, fraction = bytes.TrimLeft(whole, "0"), bytes.TrimRight(fraction, "0")
	if len(whole) > math.MaxUint8 {
		return dst, fmt.Errorf("a decimal number has %d digits before the point, want at most %d", len(whole), math.MaxUint8)
	}
	if len(whole)+len(fraction) == 0 {
		return append(dst, decimalZero), nil
	}
	start := len(dst)
	dst = append(dst, decimalPositive, byte(len(whole)))
	dst = append(append(dst, whole...), fraction...)
	for _, c := range dst[start+2:] {
		if c < '0' || c > '9' {
			return dst[:start], &mismatch{decimal, src}
		}
	}
	if negative {
		dst[start] = decimalNegative
		for i := range dst[start+1:] {
			dst[start+1+i] ^= 0xff
		}
		dst = append(dst, 0xff)
	}
	return dst, nil
}

// encodeDuration appends the microseconds of a time like -838:59:59.000000 as
// encodeInteger does, whatever the digits behind its point.
func encodeDuration(dst []byte, src any) ([]byte, error) {
	s, ok := src.([]byte)
	if !ok {
		return dst, &mismatch{duration, src}
	}
	s, negative := bytes.CutPrefix(s, []byte("-"))
	whole, fraction, _ := strings.Cut(string(s), ".")
	parts := strings.Split(whole, ":")
	if len(parts) != 3 || len(fraction) > 6 {
		return dst, &mismatch{duration, src}
	}
	var n int64
	for i, part := range append(parts, (fraction + "000000")[:6]) {
		v, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return dst, &mismatch{duration, src}
		}
		n = n*[...]int64{1, 60, 60, 1e6}[i] + int64(v)
	}
	if negative {
		n = -n
	}
	return encodeInteger(dst, n)
}

// The first byte of the sorting form of what SQLite has in a column that may
// hold anything. Between kinds of values this is its order.
const (
	anyNumber = iota
	anyText
	anyBytes
)

// encodeAnything appends a form that sorts as SQLite does: numbers, integers
// and others alike, before texts, byte by byte, before bytes.
func encodeAnything(dst []byte, src any) ([]byte, error) {
	switch v := src.(type) {
	case int64:
		// The largest floating point number that is not above it, and how far above that it is.
		below := float64(v)
		if below >= 1<<63 || int64(below) > v {
			below = math.Nextafter(below, math.Inf(-1))
		}
		dst = binary.BigEndian.AppendUint64(append(dst, anyNumber), realBits(below))
		return binary.BigEndian.AppendUint16(dst, uint16(v-int64(below))), nil
	case float64:
		return append(binary.BigEndian.AppendUint64(append(dst, anyNumber), realBits(v)), 0, 0), nil
	case string:
		return append(append(dst, anyText), v...), nil
	case []byte:
		return append(append(dst, anyBytes), v...), nil
	}
	return dst, &mismatch{anything, src}
}
