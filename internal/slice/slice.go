// Package slice has what package slices of the standard library does not.
package slice

import "slices"

// Map returns what of makes of each element, in their order; nil if there is none.
func Map[E, T any](all []E, of func(E) T) []T {
	if len(all) == 0 {
		return nil
	}
	made := make([]T, len(all))
	for i, e := range all {
		made[i] = of(e)
	}
	return made
}

// Foremost moves the elements of which something holds before the others. Both keep their order.
func Foremost[E any](all []E, holds func(E) bool) {
	rank := func(e E) int {
		if holds(e) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b E) int { return rank(a) - rank(b) })
}
