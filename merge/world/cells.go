package world

import (
	"fmt"
	"math"
	"strconv"

	"mergesafe/merge/keys"
)

// AsInteger returns a value that is an integer.
func AsInteger(v any) (n keys.Integer, ok bool) {
	switch v := v.(type) {
	case int64:
		return keys.Signed(v), true
	case uint64:
		return keys.Integer{Bits: v}, true
	}
	return n, false
}

// As gives a number the type of another value.
func As(v any, n keys.Integer) (any, error) {
	switch v.(type) {
	case string:
		return n.String(), nil
	case []byte:
		return []byte(n.String()), nil
	case int64, uint64:
		if n.Negative || n.Bits <= math.MaxInt64 {
			return int64(n.Bits), nil
		}
		return n.Bits, nil
	default:
		return nil, fmt.Errorf("it is a %T, but only integers and texts get new values", v)
	}
}

// Printed is a value as a check sees it; nil for NULL.
func Printed(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return v
	case string:
		return []byte(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case uint64:
		return strconv.AppendUint(nil, v, 10)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	default:
		return fmt.Append(nil, v)
	}
}
