package keys

import (
	"math"
	"math/big"

	"mergesafe/internal/slice"
)

// Limit is a column of a space that ends somewhere: by its type, or by the limit
// of clients.
type Limit struct {
	Column string  `json:"column"` // "characters.guid"
	Most   Integer `json:"most"`   // the largest number that it takes
	High   Integer `json:"high"`   // the largest that the world has there
}

// Room is how much can be added before the column is too narrow.
func (l Limit) Room() *big.Int {
	return new(big.Int).Sub(l.Most.Whole(), l.High.Whole())
}

// Want is what one world asks of an offset.
type Want struct {
	Values Range   // everything that is shifted: keys, what refers to them, counters
	Limits []Limit // of the columns that have such values
}

// Narrow tells that there is no offset that every column has room for.
type Narrow struct {
	World int // among those that were asked about
	Limit Limit
	Need  *big.Int // the least offset that would keep the numbers apart
}

// DefaultStep is the smallest power of ten that is above all of the numbers, so that the
// old number can be read off the new one.
func DefaultStep(values ...Range) uint64 {
	step := uint64(1000)
	for _, r := range values {
		for r.Any && !r.High.Negative && r.High.Bits >= step && step <= math.MaxUint64/10 {
			step *= 10
		}
	}
	return step
}

// Choose returns for each world, in their order, the number to add to all its values, so that they
// are above those of the worlds before, or it says which column has no room. The first world keeps its
// values: 0 is added. A world whose values no other world has keeps them, too. An offset is a multiple of
// the step; if none is given, of the largest power of ten for which there is room, up to the [DefaultStep]
// of the numbers that move: those of the first world make no step larger, or each merge in a row would take
// ten times the numbers of the one before. Rounding takes at most a 64th of the numbers that the exact
// offset leaves, or an eighth of those that move: otherwise a narrow space would be full after a few
// merges. used is that step. given are offsets that the operator chose, by world.
func Choose(worlds []Want, step uint64, given map[int]uint64) (offsets []uint64, used uint64, narrow *Narrow) {
	if step > 0 {
		offsets, narrow = choose(worlds, step, given)
		return offsets, step, narrow
	}
	moved := slice.Map(worlds[1:], func(w Want) Range { return w.Values })
	exact, narrow := choose(worlds, 1, given)
	if narrow != nil {
		return exact, 1, narrow
	}
	for step = DefaultStep(moved...); step > 1; step /= 10 {
		offsets, narrow = choose(worlds, step, given)
		if narrow == nil && !wasteful(worlds, exact, offsets) {
			return offsets, step, nil
		}
	}
	return exact, 1, nil
}

// wasteful reports whether rounded offsets take more than a 64th of the numbers that the exact ones
// leave, and more than an eighth of those that move.
func wasteful(worlds []Want, exact, rounded []uint64) bool {
	has := new(big.Int) // up to this world, as offsets are
	for i, w := range worlds {
		if i == 0 {
			continue // it keeps its values
		}
		has.Add(has, new(big.Int).Sub(w.Values.High.Whole(), w.Values.Low.Whole()))
		for _, l := range w.Limits {
			left := new(big.Int).Sub(l.Room(), new(big.Int).SetUint64(exact[i]))
			taken := new(big.Int).SetUint64(max(rounded[i], exact[i]) - exact[i])
			if taken.Lsh(taken, 3).Cmp(has) > 0 && taken.Lsh(taken, 3).Cmp(left) > 0 {
				return true
			}
		}
	}
	return false
}

func choose(worlds []Want, step uint64, given map[int]uint64) ([]uint64, *Narrow) {
	offsets := make([]uint64, len(worlds))
	above := worlds[0].Values
	taken := []Range{above}
	for i, w := range worlds {
		if i == 0 {
			continue // it keeps its values
		}
		offset, chosen := given[i]
		meets := func(offset uint64) bool {
			r, ok := w.Values.Shift(offset)
			for _, t := range taken {
				if !ok || r.Meets(t) {
					return true
				}
			}
			return false
		}
		need := new(big.Int)
		if !chosen && meets(0) {
			need.Sub(above.High.Whole(), w.Values.Low.Whole())
			whole := new(big.Int).SetUint64(step)
			need.Add(need, whole) // rounded up: the least is one more than the difference
			need.Div(need, whole).Mul(need, whole)
		} else if chosen {
			need.SetUint64(offset)
		}
		if narrow := w.tooNarrow(i, need); narrow != nil {
			return nil, narrow
		}
		if offsets[i] = need.Uint64(); chosen && meets(offset) {
			return nil, &Narrow{World: i, Need: need} // it is in somebody's way
		}
		shifted, _ := w.Values.Shift(offsets[i])
		taken = append(taken, shifted)
		above.Join(shifted)
	}
	return offsets, nil
}

// tooNarrow returns the column that has the least room, if it is not enough.
func (w Want) tooNarrow(world int, need *big.Int) *Narrow {
	if need.Sign() == 0 {
		return nil // that its values do not fit as they are is for others to say
	}
	var worst *Narrow
	for _, l := range w.Limits {
		if l.Room().Cmp(need) < 0 && (worst == nil || l.Room().Cmp(worst.Limit.Room()) < 0) {
			worst = &Narrow{World: world, Limit: l, Need: need}
		}
	}
	if worst == nil {
		ok := need.IsUint64()
		if ok {
			_, ok = w.Values.Shift(need.Uint64())
		}
		if !ok {
			worst = &Narrow{World: world, Need: need}
		}
	}
	return worst
}
