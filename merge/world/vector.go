package world

import (
	"database/sql/driver"
	"slices"
	"strconv"

	"mergesafe/merge/catalog"
)

// encode appends the form of one value that a column is read in to dst. src is
// what the driver delivered, and never nil.
type encode func(dst []byte, src any) ([]byte, error)

// vector gathers the values of one column of a batch, from the driver's buffer
// into the batch without a copy between.
type vector struct {
	column string // its name
	from   int    // where it is in a row of the driver
	encode encode
	plain  bool // encode appends bytes as they are
	digits bool // of an integer that a prepared statement delivers although it is beyond int64

	// instead is where its other form is, which is encoded if it is not NULL;
	// 0 if it has none, for the first is never that.
	instead       int
	encodeInstead encode

	asNumbers bool    // of integers: the batch may have numbers in the place of data
	spelled   bool    // it has data nevertheless
	numbers   []int64 // of all rows, unless spelled

	rows  int
	data  []byte
	width int    // of every value so far; ragged: they differ
	ends  []int  // only once they differ
	nulls []bool // only once there is one
}

// ragged is the width of values that have not all the same size.
const ragged = -1

// add appends the value in one row. What cannot be encoded is a
// [*catalog.UnsupportedError].
func (v *vector) add(row []driver.Value) error {
	src, encode := row[v.from], v.encode
	if b, ok := src.([]byte); ok && v.plain && len(b) == v.width && v.rows > 0 && len(v.nulls) == 0 {
		v.data = append(v.data, b...) // as most do, in a column of keys
		v.rows++
		return nil
	}
	if v.asNumbers && !v.spelled {
		switch n := src.(type) {
		case int64:
			v.addNumber(n, false)
			return nil
		case nil:
			v.addNumber(0, true)
			return nil
		}
		if err := v.spell(); err != nil {
			return err
		}
	}
	start := len(v.data)
	if v.instead > 0 && row[v.instead] != nil {
		src, encode = row[v.instead], v.encodeInstead
	}
	if b, ok := src.([]byte); ok && v.digits {
		if n, err := strconv.ParseUint(string(b), 10, 64); err == nil {
			src = n
		}
	}
	if src == nil {
		if len(v.nulls) == 0 {
			v.nulls = append(v.nulls, make([]bool, v.rows)...)
		}
		v.nulls = append(v.nulls, true)
	} else {
		data, err := encode(v.data, src)
		if err != nil {
			return &catalog.UnsupportedError{Column: v.column, Reason: err.Error()}
		}
		v.data = data
		if len(v.nulls) > 0 {
			v.nulls = append(v.nulls, false)
		}
	}
	size := len(v.data) - start
	switch {
	case v.width == ragged:
		v.ends = append(v.ends, len(v.data))
	case v.rows == 0:
		v.width = size
	case size != v.width:
		for i := range v.rows {
			v.ends = append(v.ends, (i+1)*v.width)
		}
		v.ends = append(v.ends, len(v.data))
		v.width = ragged
	}
	v.rows++
	return nil
}

// addNumber appends the value in one row, or NULL.
func (v *vector) addNumber(n int64, null bool) {
	if null && len(v.nulls) == 0 {
		v.nulls = append(v.nulls, make([]bool, v.rows)...)
	}
	if null || len(v.nulls) > 0 {
		v.nulls = append(v.nulls, null)
	}
	v.numbers = append(v.numbers, n)
	v.rows++
}

// spell adds the numbers of the batch again, as digits: a value has come that is none.
func (v *vector) spell() error {
	numbers, nulls := v.numbers, slices.Clone(v.nulls)
	v.reset()
	v.spelled = true
	row := make([]driver.Value, max(v.from, v.instead)+1)
	for i, n := range numbers {
		row[v.from] = n
		if len(nulls) > 0 && nulls[i] {
			row[v.from] = nil
		}
		if err := v.add(row); err != nil {
			return err
		}
	}
	return nil
}

// finish makes the vector ready to be read.
func (v *vector) finish() catalog.Vector {
	out := catalog.Vector{Data: v.data}
	switch {
	case v.asNumbers && !v.spelled:
		out.Numbers = v.numbers
	case v.width > 0:
		out.Width = v.width
	case v.width == 0: // all are empty
		v.ends = append(v.ends, make([]int, v.rows)...)
		out.Ends = v.ends
	default:
		out.Ends = v.ends
	}
	if len(v.nulls) > 0 {
		out.Null = v.nulls
	}
	return out
}

// reset makes room for the next batch, which overwrites this one.
func (v *vector) reset() {
	v.rows, v.width, v.spelled, v.numbers = 0, 0, false, v.numbers[:0]
	v.data, v.ends, v.nulls = v.data[:0], v.ends[:0], v.nulls[:0]
}
