// Package change has what a merge does beside copying rows, each with what it does at each step: see [Change].
//
//   - leave holds the rows that stay behind by the operator's statements: they are the same at the plan,
//     before the first write, and at the proof, which finds them anew.
//   - same holds rows that are the same in every world: those of the first one come.
//   - reset empties a table, whatever rows the worlds have.
//   - counters raise what counts keys above the keys that come: counters of tables, counters in rows, sequences.
//   - names give new names and numbers to rows whose own are taken.
//   - combine makes one row of those with one key in several worlds; the head of merge/plan/combine.go says how.
//   - keys record which keys of the worlds became which, and which were matched, so that later merges
//     and people can follow them.
package change
