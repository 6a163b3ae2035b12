package world

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// Content describes the rows of one database in one table.
type Content struct {
	Rows int64 `json:"rows"`
	Sum  Sum   `json:"sum"` // over the rows as they are there

	// Ranges divide the rows of a source in a large table; none if they are not divided.
	Ranges []Range `json:"ranges,omitempty"`
}

// Add takes a row in, as it is, by its sum.
func (c *Content) Add(sum Sum) { c.Rows, c.Sum = c.Rows+1, c.Sum.Add(sum) }

// add takes a row in, as it is.
func (c *Content) add(h *Hasher, row []any) error {
	sum, err := h.Row(row)
	c.Add(sum)
	return err
}

// Total adds up a number of each.
func Total[T any](all []T, of func(*T) int64) (n int64) {
	for i := range all {
		n += of(&all[i])
	}
	return n
}

// First returns the first that is wanted, or nil.
func First[T any](all []T, wanted func(*T) bool) *T {
	for i := range all {
		if wanted(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

func OrNil[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	return all
}

// Fingerprint is a hash of the JSON form of a value.
func Fingerprint(v any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		panic(err) // only of types that have no JSON form
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Parts are the ranges; one if the rows are not divided.
func (c *Content) Parts() []Range {
	if len(c.Ranges) > 0 {
		return c.Ranges
	}
	return []Range{{Rows: c.Rows, Sum: c.Sum}}
}

// Begin returns the key after which a range begins; nil for the first one.
func (c *Content) Begin(part int) ([]any, error) {
	if part == 0 {
		return nil, nil
	}
	return DecodeKey(c.Ranges[part-1].Last)
}

// ValidateRanges returns an error unless the ranges are all rows.
func (c *Content) ValidateRanges(key []string) error {
	var all Range
	for i, r := range c.Parts() {
		all.Rows, all.Sum = all.Rows+r.Rows, all.Sum.Add(r.Sum)
		if begin, err := c.Begin(i); err != nil || begin != nil && len(begin) != len(key) {
			return fmt.Errorf("range %d does not begin at a key: %w", i, err)
		}
	}
	if all.Rows != c.Rows || all.Sum != c.Sum || slices.ContainsFunc(c.Ranges, func(r Range) bool { return r.Rows <= 0 }) {
		return fmt.Errorf("the ranges are not all rows")
	}
	return nil
}
