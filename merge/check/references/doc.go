// Package references judges whether rows still refer to what they referred to: to nothing, to a row of another world, or to a
// key that a reference takes for none.
package references
