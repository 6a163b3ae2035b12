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
// from several orders of the worlds, and then local improvement. Groups are joined if they may be;
// a group is emptied into the others, where one of another group may have to make room; and then
// worlds change their group, or two worlds change places, as long as that makes the suggestion
// better. Of all results, the best is taken. It draws no random numbers and looks at no
// clock: the same inventory and wishes give the same suggestion.
//
// # How far it is from the best
//
// [Suggestion.Least] is a number of worlds below which no suggestion can come. It is counted from
// the bounds alone, so the distance to it is more than the distance to the best.
package suggest
