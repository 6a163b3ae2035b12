// Package slice makes a slice from another one, which package slices of the standard library does not.
package slice

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
