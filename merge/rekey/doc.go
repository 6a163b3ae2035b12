// Package rekey is about keys that are counted 1..N in every world, and about what
// happens to them in a merge: numbers, sets of keys, the values of a column that name
// nothing, and conditions on rows. It knows no database.
package rekey
