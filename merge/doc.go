// Package merge decides whether several databases can become one.
//
// [Check] reads every database once per key, in sorted streams that it merges,
// so that its memory does not grow with the tables, and returns a [Report]:
// what each rule found in each table, with exact counts, samples and what to
// do. [Codes] lists the rules.
//
// The rules know nothing of SQL. They see each database as a [Source]; package
// sqlsource makes one from a database, package mergetest one in memory.
//
// # What a report promises
//
//   - A verdict is PASS, FAIL or NOT VERIFIED, and as bad as the worst of its
//     parts. PASS is said only of what was looked at in full.
//   - What could not be looked at is a [Gap] with its reason, and never PASS.
//   - If anything could not be read, Check returns an error and no report.
//   - Counts are exact. Samples are the first in key order, and capped.
//   - The same databases give the same report, in the same order.
package merge
