package sqlsource

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// kind is what the values of a column are, as far as comparing them goes.
type kind int

const (
	other   kind = iota // no sorting form
	raw                 // bytes
	integer             // signed or unsigned, up to 64 bits
	text                // characters under a collation
	moment              // a date, or a date and a time of day
)

func (k kind) String() string {
	return [...]string{"another kind of value", "bytes", "an integer", "text", "a date"}[k]
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
		return "a floating point number"
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

// encodeDecimal appends the decimal digits of an integer.
func encodeDecimal(dst []byte, src any) ([]byte, error) {
	switch n := src.(type) {
	case int64:
		return strconv.AppendInt(dst, n, 10), nil
	case uint64:
		return strconv.AppendUint(dst, n, 10), nil
	}
	return dst, &mismatch{integer, src}
}

// parseDecimal reads what encodeDecimal wrote, as an argument of a statement.
func parseDecimal(b []byte) (any, error) {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, nil
	}
	return strconv.ParseUint(string(b), 10, 64)
}
