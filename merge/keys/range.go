package keys

// Range is from the smallest to the largest of some numbers. The zero Range has none.
type Range struct {
	Low  Integer `json:"low"`
	High Integer `json:"high"`
	Any  bool    `json:"any"`
}

// Add takes a number in.
func (r *Range) Add(n Integer) { r.Join(Range{n, n, true}) }

// Join takes the numbers of another range in.
func (r *Range) Join(other Range) {
	switch {
	case !other.Any:
	case !r.Any:
		*r = other
	default:
		if other.Low.Less(r.Low) {
			r.Low = other.Low
		}
		if r.High.Less(other.High) {
			r.High = other.High
		}
	}
}

// Meets reports whether any number may be in both.
func (r Range) Meets(other Range) bool {
	return r.Any && other.Any && !r.High.Less(other.Low) && !other.High.Less(r.Low)
}

// Shift returns the range with an offset added; ok is false if that is more than any
// column has room for.
func (r Range) Shift(offset uint64) (shifted Range, ok bool) {
	if !r.Any || offset == 0 {
		return r, true
	}
	low, lowOK := r.Low.Add(offset)
	high, highOK := r.High.Add(offset)
	return Range{low, high, true}, lowOK && highOK
}
