package propose

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// ValuesOf describes the values of a column in one database.
type ValuesOf struct {
	World string `json:"world"`
	Type  string `json:"type"` // as the database prints it
	Rows  int64  `json:"rows"`
	Nulls int64  `json:"nulls"`

	// Distinct is how many different values there are. With More there are more than
	// that, and Frequent covers only the first ones.
	Distinct int64 `json:"distinct"`
	More     bool  `json:"more,omitempty"`

	// Smallest and Largest are the ends, as numbers or as bytes; shortened, as all values here.
	Smallest string `json:"smallest,omitempty"`
	Largest  string `json:"largest,omitempty"`

	Frequent []ValueCount `json:"frequent,omitempty"` // those with the most rows
	Samples  []string     `json:"samples,omitempty"`  // of texts: others, the first that came

	Unread string `json:"unread,omitempty"` // why the values could not be read
}

// ValueCount is a value, for people, and how many rows have it.
type ValueCount struct {
	Value string `json:"value"`
	Rows  int64  `json:"rows"`
}

// The limits of what is shown of a column.
const (
	maxExplained   = 1 << 16 // different values that are counted
	shownFrequent  = 5
	shownSamples   = 3
	shownCharacter = 40 // of one value
)

// shownValue is a value of a column while its rows are counted.
type shownValue struct {
	ValueCount
	order int // in which it came
}

// explainValues reads a column of a database.
func explainValues(ctx context.Context, r *check.Reader, db *rules.Database, col *catalog.Column, at rules.ColumnName) (*ValuesOf, error) {
	found := &ValuesOf{World: db.Name, Type: col.Type}
	seen, seed := make(map[uint64]*shownValue), maphash.MakeSeed()
	var low, high []byte
	s := r.Stream(db, "explain", 0, catalog.Scan{Table: at.Table, Unsorted: true})
	carried := s.Carry(at.Column)
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			found.Rows++
			v := b.Carry[carried].At(row)
			if v == nil {
				found.Nulls++
				continue
			}
			if low == nil || compare(col, v, low) < 0 {
				low = append([]byte{}, v...)
			}
			if high == nil || compare(col, high, v) < 0 {
				high = append([]byte{}, v...)
			}
			hash := maphash.Bytes(seed, v)
			value := seen[hash]
			switch {
			case value != nil:
			case len(seen) == maxExplained:
				found.More = true
				continue
			default:
				value = &shownValue{ValueCount{Value: showCut(col, v)}, len(seen)}
				seen[hash] = value
			}
			value.Rows++
		}
	})
	err := s.Drain(ctx)
	if unsupported, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
		return &ValuesOf{World: db.Name, Type: col.Type, Unread: unsupported.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	if found.Distinct = int64(len(seen)); low != nil {
		found.Smallest, found.Largest = showCut(col, low), showCut(col, high)
	}
	rest := slices.SortedFunc(maps.Values(seen), func(a, b *shownValue) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), a.order-b.order)
	})
	if len(rest) > 0 && rest[0].Rows > 1 { // else none is frequent
		n := min(shownFrequent, len(rest))
		found.Frequent = slice.Map(rest[:n], func(v *shownValue) ValueCount { return v.ValueCount })
		rest = rest[n:]
	}
	if col.Kind != catalog.KindInteger && col.Kind != catalog.KindDecimal && col.Kind != catalog.KindReal {
		slices.SortFunc(rest, func(a, b *shownValue) int { return a.order - b.order })
		found.Samples = slice.Map(rest[:min(shownSamples, len(rest))], func(v *shownValue) string { return v.Value })
	}
	return found, nil
}

// compare orders two values for people: numbers by what they count, others by their bytes.
func compare(c *catalog.Column, a, b []byte) int {
	if x, ok := keys.ParseInteger(a); ok {
		if y, ok := keys.ParseInteger(b); ok {
			return x.Compare(y)
		}
	}
	if c.Kind == catalog.KindDecimal || c.Kind == catalog.KindReal {
		x, err1 := strconv.ParseFloat(string(a), 64)
		y, err2 := strconv.ParseFloat(string(b), 64)
		if err1 == nil && err2 == nil {
			return cmp.Compare(x, y)
		}
	}
	return bytes.Compare(a, b)
}

// showCut writes the beginning of a value for people.
func showCut(c *catalog.Column, v []byte) string {
	text := check.Show(c, v[:min(len(v), 4*shownCharacter)])
	if !utf8.Valid(v) || len(v) <= 4*shownCharacter { // a cut may be within a character
		text = check.Show(c, v)
	}
	if runes := []rune(text); len(runes) > shownCharacter {
		return string(runes[:shownCharacter]) + "…"
	} else if len(v) > 4*shownCharacter {
		return text + "…"
	}
	return text
}
