// Package merge decides whether several databases can become one.
//
// [Check] finds out in seconds what takes no reading of rows: servers, schemas,
// counts and ranges. Then it reads every database once per key, in sorted
// streams that it merges, so that its memory does not grow with the tables. It
// returns a [Report]: what each rule found in each table, with exact counts,
// samples and what to do. [Codes] lists the rules. [Matrix] answers for every
// two of many databases what Check would say of them alone, and reads each only
// once. [Compare] tells what moved between two reports.
//
// Most game schemas say little of what the game relies on. [Options] declare
// the rest, and [Report.Proposals] suggest what to declare.
//
// The rules know nothing of SQL. They see each database as a [Source]; package
// sqlsource makes one from a database, package mergetest one in memory.
//
// # What a report promises
//
//   - A verdict is PASS, FAIL or NOT VERIFIED, and as bad as the worst of its
//     parts. PASS is said only of what was looked at in full.
//   - What could not be looked at is a [Gap] with its reason, and never PASS.
//   - If anything could not be read, there is an error, and the report says
//     that it is incomplete and has no verdict. What it does say is as exact.
//   - Counts are exact. Samples are the first in key order, and capped.
//   - A guess is called one, and never changes a verdict.
//   - The same databases give the same report, in the same order.
package merge
