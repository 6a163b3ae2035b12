package transfer

import (
	"fmt"
	"slices"
)

// Range is some rows of a source in one table, one after the other in the order of
// their keys. Several ranges of a large table are copied at a time, each with its own
// checkpoint.
type Range struct {
	Rows int64 `json:"rows"`
	Sum  Sum   `json:"sum"` // over the rows as they are

	// Last is the key of the last row, in the form of [KeyText]; empty for the last
	// range, which has all rows after the one before.
	Last string `json:"last,omitempty"`
}

// How large ranges are: of so many rows, and more in a table that would have too many.
const (
	rangeRows  = 50_000
	mostRanges = 32
)

// ranger divides the rows of a table into ranges while they are read.
type ranger struct {
	size int64 // of a range, in rows
	all  []Range
	open Range
}

// add takes the next row, with its sum.
func (r *ranger) add(l *layout, row []any, sum Sum) (err error) {
	if r == nil {
		return nil
	}
	r.open.Rows, r.open.Sum = r.open.Rows+1, r.open.Sum.Add(sum)
	if r.open.Rows < r.size {
		return nil
	}
	if r.open.Last, err = encodeKey(l.keyOf(row)); err != nil {
		return err
	}
	r.all, r.open = append(r.all, r.open), Range{}
	if len(r.all) == mostRanges {
		for i := range r.all[:mostRanges/2] {
			a, b := r.all[2*i], r.all[2*i+1]
			r.all[i] = Range{Rows: a.Rows + b.Rows, Sum: a.Sum.Add(b.Sum), Last: b.Last}
		}
		r.all, r.size = r.all[:mostRanges/2], 2*r.size
	}
	return nil
}

// ranges returns the ranges, when all rows were added; none if one is enough.
func (r *ranger) ranges() []Range {
	all := r.all
	if r.open.Rows > 0 {
		all = append(all, r.open)
	}
	if len(all) < 2 {
		return nil
	}
	all[len(all)-1].Last = ""
	return all
}

// parts are the ranges; one if the rows are not divided.
func (c *Content) parts() []Range {
	if len(c.Ranges) > 0 {
		return c.Ranges
	}
	return []Range{{Rows: c.Rows, Sum: c.Sum}}
}

// begin returns the key after which a range begins; nil for the first one.
func (c *Content) begin(part int) ([]any, error) {
	if part == 0 {
		return nil, nil
	}
	return decodeKey(c.Ranges[part-1].Last)
}

// validateRanges returns an error unless the ranges are all rows.
func (c *Content) validateRanges(key []string) error {
	var all Range
	for i, r := range c.parts() {
		all.Rows, all.Sum = all.Rows+r.Rows, all.Sum.Add(r.Sum)
		if begin, err := c.begin(i); err != nil || begin != nil && len(begin) != len(key) {
			return fmt.Errorf("range %d does not begin at a key: %w", i, err)
		}
	}
	if all.Rows != c.Rows || all.Sum != c.Sum || slices.ContainsFunc(c.Ranges, func(r Range) bool { return r.Rows <= 0 }) {
		return fmt.Errorf("the ranges are not all rows")
	}
	return nil
}
