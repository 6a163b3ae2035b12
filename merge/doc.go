// Package merge checks whether databases of MariaDB, MySQL and SQLite can be merged, and merges them into a new one. A merge can be
// interrupted at any moment, resumed, proved, opened and undone.
//
//	plan, err := merge.NewPlan(ctx, into, worlds, merge.PlanOptions{Check: declared}) // reads only
//	fmt.Println(plan.Rows(), plan.Refusals, err)                                      // the reasons that block it
//
//	made, err := merge.Apply(ctx, plan, into, worlds, merge.Options{}) // merge.ErrStopped: the same call resumes
//	fmt.Println(made.Rows, err)
//
//	opened, err := merge.Open(ctx, plan, into, worlds, merge.OpenOptions{}) // proves every row, and lets the game in
//	fmt.Println(opened.Proof.Verdict, err)
//
//	undone, err := merge.Undo(ctx, plan, into, worlds, merge.UndoOptions{})
//	fmt.Println(undone.Dropped, err)
//
// [LookUp] says how far a merge is, and [Verify] proves it without opening.
//
// # The check
//
// [Check] first looks at servers, schemas, counts and ranges, which takes seconds and reads no rows. Then it
// reads every database once per key, in sorted streams that it merges, so its memory does not grow with the
// tables. It returns a [verdict.Report]: the result of each rule in each table, with exact counts, samples and
// what to do. [verdict.Codes] lists the rules.
//
// Most game schemas declare few of the rules that the game relies on. [rules.Options] declare
// the rest. [propose.WriteRules] writes a rules file that says what every column seems to be, and
// [propose.Explain] describes a column.
//
// It uses no SQL. Each database is a [catalog.Source]; package world makes one
// from a database, package mergetest one in memory.
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
//
// # How it is safe
//
// Worlds are a list. The first one keeps its keys and names, and gives the schema, the registry and
// the counters; the new database becomes that world. All are read, fenced, counted and summed in the
// same way. Until [Open], nothing that exists is written but fences.
//
// A [Plan] rests on a check of all worlds, and records for every table and world the
// number of rows and a sum over their contents. [Apply] carries out that plan and no other, and refuses
// to begin if schema, registries or counters are not those of the plan; other rows than those of the plan are noticed
// as they are copied.
//
// [Apply] makes the tables bare, brings the rows of all worlds, then the indexes, the foreign keys,
// and what hangs on them. Rows are inserted by plain INSERT with every column named, so that a collision
// is an error and never an overwrite. A batch of rows and its checkpoint are one transaction, so a COMMIT
// whose answer was lost is found there. If the process ends, the next one keeps the tables that are
// finished, and empties and fills all others.
//
// Rows of a table without a key are a multiset: Verify compares how often each row occurs.
//
// If the database allows several writers, tables, the rows of several worlds, and ranges of a large
// table are copied in parallel ([Options.Parallel]), each with its own checkpoint. The ranges are those
// of the plan, so every run of a merge makes the same. No row is read twice.
//
// The worlds are opened read-only. Only the fence in their registry is written (see
// [store.Registry.Fence]), over a connection of its own. It keeps their servers from being started
// from then on. In the new registry the servers of the first world have a fence too, the gate: no game server
// can start there before [Open]. If a game still wrote to a world, because there is no registry or the fence
// was removed, sums or marks differ from the plan. Then undo the merge and plan again.
//
// Inside JSON, MySQL has dates, times, bytes and DECIMAL, which a text cannot
// represent. A plan refuses the rows that a text would change, and names them. A
// DECIMAL that has the digits of an equal DOUBLE becomes one.
//
// [Verify] reads everything and compares sums: the new database must hold the rows of the worlds, each
// exactly as planned, and be made as the first world is, object by object. [Undo] drops what was made.
//
// # Names
//
// A value that has to be unique and is in several worlds, such as the name of a
// player, blocks the merge, unless a [NamePolicy] says which row keeps it. The other
// rows get new values, which the plan lists before anything is written. So do columns
// that repeat the old value beside a key ([NameCopy]), and columns that name it by a
// declared reference: there, a row follows the row of its own database, and one that
// names no row stays unchanged. Rows are renamed as they are copied, and stay unchanged in
// their world.
//
// # Keys
//
// Keys that every world counts from 1 get new values if [rules.Options.Rekey] is set:
// one number is added to all keys of a world, and to all references to them. A row is
// changed before its INSERT; in its world it stays unchanged. [Verify] gives the rows
// of each world their old keys back and compares them with that world: see [KeyProof].
// [Whois] and [Whereis] read the origin of a key from the new database, and the new value
// of an old one.
//
// Keys of rows that are the same thing in several worlds, as accounts of one name, become that of
// the first of these rows, if the space says so ([rules.Space.Match]): the plan has them in pairs,
// and the new database remembers them in [MatchesTable]. A space may also move as it does by the plan
// of another merge ([MapFromPlan]).
//
// # What it leaves in the new database
//
// [RecordTable] with the plan of this merge (see [RecordedPlan]), [MergesTable] with those of earlier
// merges that made its worlds, [ProgressTable] with its checkpoints, and [RenamesTable] with every value that was
// changed. [KeysTable] and [MatchesTable] say which keys came and what they were.
package merge
