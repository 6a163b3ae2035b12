// Package merge checks whether several databases can be merged into one.
//
// [Check] first checks servers, schemas, counts and ranges, which takes seconds and
// reads no rows. Then it reads every database once per key, in sorted streams that it
// merges, so its memory does not grow with the tables. It returns a [verdict.Report]: the
// result of each rule in each table, with exact counts, samples and what to do. [verdict.Codes]
// lists the rules.
//
// Most game schemas declare few of the rules that the game relies on. [declare.Options] declare
// the rest. Proposals of a report suggest declarations, and [propose.WriteRules] writes a file
// of rules that says what every column seems to be. [propose.Explain] describes a column.
//
// It uses no SQL. Each database is a [catalog.Source]; package sqlsource makes one
// from a database, package mergetest one in memory.
//
// The packages below it do the work: catalog describes databases, declare resolves what the operator
// says of them, check carries out the rules, propose guesses, and verdict has the codes and reports.
//
// # What a report promises
//
//   - A verdict is PASS, FAIL or NOT VERIFIED, and as bad as the worst of its
//     parts. PASS means fully checked.
//   - Anything that was not checked is a [verdict.Gap] with its reason, and never PASS.
//   - If anything could not be read, there is an error, and the report says that it is
//     incomplete and has no verdict. The results that it has are exact.
//   - Counts are exact. Samples are the first in key order, and capped.
//   - A guess is called a guess, and never changes a verdict.
//   - The same databases give the same report, in the same order.
package merge
