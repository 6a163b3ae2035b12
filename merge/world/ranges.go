package world

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
	RangeRows  = 50_000
	mostRanges = 32
)

// Ranger divides the rows of a table into ranges while they are read. A nil one does not.
type Ranger struct {
	Size int64 // of a range, in rows
	all  []Range
	open Range
}

// Add takes the next row, with its sum.
func (r *Ranger) Add(l *Layout, row []any, sum Sum) (err error) {
	if r == nil {
		return nil
	}
	r.open.Rows, r.open.Sum = r.open.Rows+1, r.open.Sum.Add(sum)
	if r.open.Rows < r.Size {
		return nil
	}
	if r.open.Last, err = EncodeKey(l.KeyOf(row)); err != nil {
		return err
	}
	r.all, r.open = append(r.all, r.open), Range{}
	if len(r.all) == mostRanges {
		for i := range r.all[:mostRanges/2] {
			a, b := r.all[2*i], r.all[2*i+1]
			r.all[i] = Range{Rows: a.Rows + b.Rows, Sum: a.Sum.Add(b.Sum), Last: b.Last}
		}
		r.all, r.Size = r.all[:mostRanges/2], 2*r.Size
	}
	return nil
}

// Ranges returns the ranges, when all rows were added; none if one is enough.
func (r *Ranger) Ranges() []Range {
	if r == nil {
		return nil
	}
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
