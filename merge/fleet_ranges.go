package merge

import (
	"cmp"
	"math"
	"slices"

	"mergesafe/merge/rekey"
)

// FleetRange is a range of numbers that the fleet registry gave to a world, or that a merge
// gives to one.
type FleetRange struct {
	World string      `json:"world"`
	Space string      `json:"space,omitempty"` // "": every space
	Range rekey.Range `json:"range"`
}

// concerns reports whether it is about the keys of a space.
func (r *FleetRange) concerns(space string, keys []string) bool {
	return r.Space == "" || r.Space == space || slices.Contains(keys, r.Space)
}

// counting is the world that goes on after the merge: the target, or the only source if
// the target has no key.
func (r *Rekeying) counting() string {
	target := r.Spaces[0].Target.Source
	if len(r.Spaces[0].Sources) > 1 || slices.ContainsFunc(r.Spaces, func(s RekeyedSpace) bool { return s.Target.Values.Any }) {
		return target
	}
	return r.Spaces[0].Sources[0].Source
}

// free is where a counter of a space goes on above the largest number.
func (r *Rekeying) free(space *RekeyedSpace, high uint64) uint64 {
	step, world := max(1, r.Step), r.counting()
	next, ok := multipleAbove(high, step)
	if home := r.home(space, high); home.Any && high < home.High.Bits {
		if ok && next <= home.High.Bits {
			return next
		}
		return high + 1
	}
	for i := 0; ok && i < len(r.Fleet); i++ {
		f := &r.Fleet[i]
		if f.World != world && (!space.Own || f.concerns(space.Name, space.Keys)) && f.Range.Meets(block(next, step)) {
			next, ok = multipleAbove(f.Range.High.Bits, step)
			i = -1 // it may meet one that was passed
		}
	}
	if !ok {
		return high
	}
	return next
}

// home is the range with a number that the world has which goes on.
func (r *Rekeying) home(space *RekeyedSpace, n uint64) rekey.Range {
	at, world := rekey.Integer{Bits: n}, r.counting()
	for _, f := range r.Fleet {
		if f.World == world && f.concerns(space.Name, space.Keys) && f.Range.Meets(rekey.Range{Low: at, High: at, Any: true}) {
			return f.Range
		}
	}
	return rekey.Range{}
}

// Gives are the ranges that the merge gives to worlds: to the keys of each source that get
// new values, and to the keys that the target counts from then on, up to the next multiple
// of the step.
func (r *Rekeying) Gives() (all []FleetRange) {
	if len(r.Spaces) == 0 {
		return nil
	}
	give := func(world string, space *RekeyedSpace, numbers rekey.Range) {
		of := FleetRange{World: world, Range: numbers}
		if space.Own {
			of.Space = space.Name
		}
		all = append(all, of)
	}
	for i := range r.Spaces[0].Sources {
		var together rekey.Range
		for j := range r.Spaces {
			switch of := r.Spaces[j].Sources[i]; {
			case of.Offset == 0 || !of.New.Any:
			case r.Spaces[j].Own:
				give(of.Source, &r.Spaces[j], of.New)
			default:
				together.Join(of.New)
			}
		}
		if together.Any {
			all = append(all, FleetRange{World: r.Spaces[0].Sources[i].Source, Range: together})
		}
	}
	for i := range r.Spaces {
		space := &r.Spaces[i]
		next := r.next(space)
		if next == 0 || len(space.Keys) == 0 {
			continue
		}
		numbers := block(next, max(1, r.Step))
		if home := r.home(space, next); home.Any && home.High.Less(numbers.High) {
			numbers.High = home.High
		}
		if of := (FleetRange{World: r.counting(), Range: numbers}); space.Own || !slices.Contains(all, of) {
			give(of.World, space, numbers)
		}
	}
	slices.SortStableFunc(all, func(a, b FleetRange) int { return cmp.Or(cmp.Compare(a.World, b.World), cmp.Compare(a.Space, b.Space)) })
	return all
}

// block are the numbers from one to the next multiple of a step.
func block(first, step uint64) rekey.Range {
	last := first - first%step
	if last += step - 1; last < first {
		last = math.MaxUint64
	}
	return rekey.Range{Low: rekey.Integer{Bits: first}, High: rekey.Integer{Bits: last}, Any: true}
}

// multipleAbove is the first multiple of a step above a number.
func multipleAbove(n, step uint64) (next uint64, ok bool) {
	next = n/step*step + step
	return next, next > n
}
