package sqlsource

import "mergesafe/merge"

// encode appends the form of one value that a column is read in to dst. src is
// what the driver delivered, and never nil.
type encode func(dst []byte, src any) ([]byte, error)

// vector gathers the values of one column of a batch. It is the destination
// of [database/sql.Rows.Scan], so that values go from the driver's buffer
// into the batch without a copy between.
type vector struct {
	column string // its name
	encode encode
	merge.Vector
	nulls   []bool
	hasNull bool
	ragged  bool // the values have not all the same size
}

// Scan appends one value. What cannot be encoded is a [*merge.UnsupportedError].
func (v *vector) Scan(src any) error {
	start := len(v.Data)
	if src == nil {
		v.hasNull = true
	} else {
		data, err := v.encode(v.Data, src)
		if err != nil {
			return &merge.UnsupportedError{Column: v.column, Reason: err.Error()}
		}
		v.Data = data
	}
	v.ragged = v.ragged || len(v.Ends) > 0 && len(v.Data)-start != v.Ends[0]
	v.Ends = append(v.Ends, len(v.Data))
	v.nulls = append(v.nulls, src == nil)
	return nil
}

// finish makes the vector ready to be read.
func (v *vector) finish() merge.Vector {
	out := v.Vector
	if v.hasNull {
		out.Null = v.nulls
	}
	if !v.ragged && len(v.Ends) > 0 {
		out.Width = v.Ends[0] // 0 again if all values are empty
	}
	return out
}

// reset makes room for the next batch, which overwrites this one.
func (v *vector) reset() {
	v.Data, v.Ends, v.nulls = v.Data[:0], v.Ends[:0], v.nulls[:0]
	v.hasNull, v.ragged = false, false
}
