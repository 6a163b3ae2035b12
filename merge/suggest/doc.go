// Package suggest proposes which worlds of a fleet to merge, and says why. It reads no database:
// it is given an inventory and what is wanted.
//
// # What is best
//
// Of two suggestions that keep all bounds of the [Wishes], the better one leaves fewer worlds. If
// both leave as many, it is the one with the smaller spread: the sum, over the worlds that are
// left, of the square of the distance between their active players and the wanted number. If that
// is equal too, it is the one that moves fewer rows.
//
// # How it is found
//
// The fewest worlds is bin packing with several bounds, which no known method solves exactly for
// hundreds of worlds in reasonable time. So this is a heuristic: a greedy packing by best fit,
// from several orders of the worlds. Then two groups become one, a world changes its group, or two
// worlds change places, as long as that makes the suggestion better. Of all results, the best is
// taken. There may be a better one. It draws no random numbers and looks at no clock: the same
// inventory and wishes give the same suggestion.
package suggest
