package verdict

import (
	"cmp"
	"math"
	"slices"

	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
)

// counting is the world that remains after the merge: the first, or the only other if
// the first has no key.
func (r *Rekeying) counting() string {
	worlds := r.Spaces[0].Worlds
	if len(worlds) == 2 && !slices.ContainsFunc(r.Spaces, func(s RekeyedSpace) bool { return s.Worlds[0].Values.Any }) {
		return worlds[1].World
	}
	return worlds[0].World
}

// free is the first multiple of a step above a number from which on no other world of the
// fleet has numbers, up to where the range ends that the merge gives; see [Rekeying.Gives].
func (r *Rekeying) free(space *RekeyedSpace, high, step uint64) (next uint64, ok bool) {
	world, given := r.counting(), r.Fleet
	if given != nil {
		given = append(slices.Clone(given), r.givesNew()...)
	}
	next, ok = multipleAbove(high, step)
	for i := 0; ok && i < len(given); i++ {
		f := &given[i]
		others := f.World != world && (!space.Own || f.Concerns(space.Name, space.Keys))
		if others && f.Range.Meets(r.block(space, next)) {
			next, ok = multipleAbove(f.Range.High.Bits, step)
			i = -1 // it may meet one that was passed
		}
	}
	return next, ok
}

// home is the range with a number of the world that remains.
func (r *Rekeying) home(space *RekeyedSpace, n uint64) rekey.Range {
	at, world := rekey.Integer{Bits: n}, r.counting()
	for _, f := range r.Fleet {
		if f.World == world && f.Concerns(space.Name, space.Keys) && f.Range.Meets(rekey.Range{Low: at, High: at, Any: true}) {
			return f.Range
		}
	}
	return rekey.Range{}
}

// Gives are the ranges that the merge gives to worlds: to the keys of each world that get
// new values, and to the keys that the merged world counts from then on, up to the next multiple
// of the step.
func (r *Rekeying) Gives() []declare.FleetRange {
	all := r.givesNew()
	for i := range r.Spaces {
		space := &r.Spaces[i]
		next := r.Next(space, 0)
		if next == 0 || len(space.Keys) == 0 {
			continue
		}
		numbers := r.block(space, next)
		if home := r.home(space, next); home.Any && home.High.Less(numbers.High) {
			numbers.High = home.High
		}
		if of := space.gives(r.counting(), numbers); space.Own || !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(a, b declare.FleetRange) int {
		return cmp.Or(cmp.Compare(a.World, b.World), cmp.Compare(a.Space, b.Space))
	})
	return all
}

// givesNew are the ranges of the new keys.
func (r *Rekeying) givesNew() (all []declare.FleetRange) {
	if len(r.Spaces) == 0 {
		return nil
	}
	for i := range r.Spaces[0].Worlds {
		var together rekey.Range
		for j := range r.Spaces {
			switch of := r.Spaces[j].Worlds[i]; {
			case of.Offset == 0 || !of.New.Any:
			case r.Spaces[j].Own:
				all = append(all, r.Spaces[j].gives(of.World, of.New))
			default:
				together.Join(of.New)
			}
		}
		if together.Any {
			all = append(all, declare.FleetRange{World: r.Spaces[0].Worlds[i].World, Range: together})
		}
	}
	return all
}

// gives is a range of a world: for this space alone, if its offsets are its own.
func (s *RekeyedSpace) gives(world string, numbers rekey.Range) declare.FleetRange {
	of := declare.FleetRange{World: world, Range: numbers}
	if s.Own {
		of.Space = s.Name
	}
	return of
}

// block are the numbers of a space from one to the next multiple of the step.
func (r *Rekeying) block(space *RekeyedSpace, first uint64) rekey.Range {
	step := cmp.Or(r.Step, 1)
	if space.Own {
		step = cmp.Or(space.Step, step)
	}
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
