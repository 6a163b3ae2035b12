// Package slice has what package slices of the standard library does not.
package slice

import (
	"iter"
	"slices"
)

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

// Groups iterates over the elements with the same key together, in the order of the first of each key.
func Groups[E any, K comparable](all []E, key func(E) K) iter.Seq2[K, []E] {
	var keys []K
	groups := make(map[K][]E)
	for _, e := range all {
		k := key(e)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], e)
	}
	return func(yield func(K, []E) bool) {
		for _, k := range keys {
			if !yield(k, groups[k]) {
				return
			}
		}
	}
}
