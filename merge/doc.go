// Package merge checks whether several databases can be merged into one.
//
// [Check] first checks what takes no reading of rows, in seconds: servers,
// schemas, counts and ranges. Then it reads every database once per key, in
// sorted streams that it merges, so that its memory does not grow with the
// tables. It returns a [Report]: what each rule found in each table, with exact
// counts, samples and what to do. [Codes] lists the rules. [Matrix] reports for
// every two of many databases what Check reports for these two alone, and reads
// each only once. [Compare] tells what changed between two reports.
//
// Most game schemas say little of what the game relies on. [Options] declare
// the rest. [Report.Proposals] suggest what to declare, and [Report.WriteRules] writes
// what every column seems to be as a file of rules.
//
// Nothing here knows SQL. Each database is a [Source]; package sqlsource makes
// one from a database, package mergetest one in memory.
//
// Three parts share the work. A rule is a function from facts to results: what
// the databases say of themselves, what the operator declares, what was read. A
// reader reads rows and knows no rules. A run does the tasks of the rules in
// order and concludes the verdicts. A new rule is one file, and one line in the
// list of rules in rule.go.
//
// # What a report promises
//
//   - A verdict is PASS, FAIL or NOT VERIFIED, and as bad as the worst of its
//     parts. PASS means fully checked.
//   - What could not be checked is a [Gap] with its reason, and never PASS.
//   - If anything could not be read, there is an error, and the report says
//     that it is incomplete and has no verdict. What it does say is exact.
//   - Counts are exact. Samples are the first in key order, and capped.
//   - A guess is called one, and never changes a verdict.
//   - The same databases give the same report, in the same order.
package merge
