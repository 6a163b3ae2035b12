// Package leave finds the rows of each world that stay behind when worlds are merged, by the conditions of the
// operator and by what refers to these rows.
//
// There is one answer, since it is found in strata: first [rules.Leave.Where] on each world as it is; then
// [rules.Leave.Best], once, among the rows that remain; then all rows whose reference says "drop", to the least
// fixpoint; then [rules.Leave.Fewer], once, whose rows start the drop again. References that say "none" are cleared
// last, and feed no condition.
package leave
