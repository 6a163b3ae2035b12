package mergetest

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mergesafe/gameid"
	"mergesafe/merge/catalog"
)

// raw is the value as a database would send it.
func raw(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case gameid.ID:
		b := v.Bytes()
		return b[:]
	case []byte:
		return append([]byte{}, v...)
	case string:
		return []byte(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	default:
		panic(fmt.Sprintf("mergetest: a value of type %T", v))
	}
}

// text is the value as people read it.
func text(v any) string {
	switch v := v.(type) {
	case gameid.ID:
		return v.String()
	case []byte:
		return strings.ToUpper(hex.EncodeToString(v))
	default:
		return string(raw(v))
	}
}

// numbers gives the values as numbers if all are.
func numbers(v catalog.Vector, rows int) catalog.Vector {
	all := catalog.Vector{Null: v.Null, Numbers: make([]int64, rows)}
	for i := range rows {
		if v.IsNull(i) {
			continue
		}
		n, err := strconv.ParseInt(string(v.At(i)), 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != string(v.At(i)) {
			return v
		}
		all.Numbers[i] = n
	}
	return all
}

// packed packs the values of rows: in fixed width where all have one, so that both forms
// come up.
func packed(rows int, of func(row int) []byte) catalog.Vector {
	var v catalog.Vector
	width, fixed := len(of(0)), true
	for i := range rows {
		value := of(i)
		if value == nil {
			if v.Null == nil {
				v.Null = make([]bool, rows)
			}
			v.Null[i] = true
		}
		fixed = fixed && len(value) == width
		v.Data = append(v.Data, value...)
		v.Ends = append(v.Ends, len(v.Data))
	}
	if fixed && width > 0 {
		v.Width, v.Ends = width, nil
	}
	return v
}

// spoil overwrites a batch that is no longer valid.
func spoil(b *catalog.Batch) {
	for _, vectors := range [][]catalog.Vector{b.Order, b.Carry} {
		for _, v := range vectors {
			for i := range v.Data {
				v.Data[i] = 0xa5
			}
			clear(v.Ends)
			for i := range v.Numbers {
				v.Numbers[i] = math.MinInt64
			}
		}
	}
}
