// Package transfer carries out a merge: it copies the rows of one or more worlds
// into the database of another, so that the merge can be interrupted at any
// moment, resumed, proved and undone.
//
//	plan, err := transfer.NewPlan(ctx, target, sources, transfer.PlanOptions{}) // reads only
//	if len(plan.Refusals) > 0 { ... }                                          // what blocks it
//	result, err := transfer.Apply(ctx, plan, target, sources, transfer.Options{})
//	if errors.Is(err, transfer.ErrStopped) { ... } // result says how far it came; the same call resumes
//	status, err := transfer.LookUp(ctx, plan, target, sources) // how far it is, at any time
//	proof, err := transfer.Verify(ctx, plan, target, sources, transfer.Options{})
//	undone, err := transfer.Undo(ctx, plan, target, sources, transfer.UndoOptions{})
//
// # How it is safe
//
// A [Plan] rests on a check of all databases by package merge, and records for
// every table and database the number of rows and a sum over their contents.
// [Apply] carries out that plan and no other, and refuses to begin if schema,
// registries or numbers of rows are not those of the plan.
//
// Rows are inserted by plain INSERT with every column named, so that a collision
// is an error and never an overwrite. A batch of rows and its checkpoint are one
// transaction in the target. Apply resumes at the checkpoint, so no row is copied
// twice or left out, and a COMMIT whose answer was lost is found there.
//
// Rows of a table without a key come in no such order: those of one source are one
// transaction, up to a limit. They are a multiset: what is proved and undone is how
// often each row is there.
//
// If the target takes several writers, tables, the rows of several sources, and
// ranges of a large table are copied in parallel ([Options.Parallel]), each with its
// own checkpoint. The ranges are those of the plan, so that a merge leaves the same
// in the target however it went.
// Foreign keys are checked in one go when all rows are there; before that, the
// merge is not completed.
//
// From the first write of Apply until the merge is completed or undone, the
// target's own servers are fenced in its registry: a game that wrote meanwhile
// would be mixed up with the merge. The fence of a target names the merge and is
// lifted when it is completed or undone, last of all. If a game wrote nevertheless,
// because there is no registry or the fence was removed, Apply notices other
// numbers of rows, or a mark that moved, when it resumes and before it completes
// the merge. Then undo it and plan again: [Undo] removes what came and leaves what
// is new, and names the rows that stand in its way because they reference what
// came.
//
// The sources are opened read-only. Only the fence in their registry may be
// written (see [store.Registry.Fence]), over a connection of its own.
//
// While a table is copied its rows are summed up again. If a row was changed in a
// source since the plan, the sum differs: a [*ChangedError].
//
// Inside JSON, MySQL has dates, times, bytes and DECIMAL, which a text does not
// have. A plan refuses the rows of which a text would make something else, by name.
// A DECIMAL that has the digits of an equal DOUBLE becomes one.
//
// [Verify] reads everything and compares sums: the target must hold its own rows
// and the copied rows, each exactly as planned. [Undo] needs the sources: they
// tell which rows were copied, and how. In a target that was restored from a backup
// it lifts the fences, and there is nothing else to undo.
//
// # Tables that are emptied
//
// Of a table of the policy reset no rows come, and those of the target are taken out: see
// [Reset]. They are kept in the target, in a table that a check does not see, and an undo puts
// them back.
//
// # Names
//
// A value that has to be unique and is in several worlds, such as the name of a
// player, blocks the merge, unless a [NamePolicy] says which row keeps it. The
// other rows get new values, which the plan lists before anything is written, and
// so do columns that repeat the old ones beside a key ([NameCopy]), and those that
// refer to them by a declared reference: there, a row follows the row of its own
// database, and one that names nobody stays as it is. Rows of the sources are
// renamed on their way, and stay as they are in the source; the target's own rows
// are renamed in place, and an undo gives them their old values back.
//
// # Keys
//
// Keys that every world counts from 1 get new values if the check is asked to judge
// that ([merge.Options.Rekey]): one number is added to all keys of a source, and to
// all that refers to them. A row goes through that before its INSERT; in the source
// it stays as it is. [Verify] gives the rows of each world their old keys back and
// compares them with that world: see [KeyProof]. [Whois] and [Whereis] ask the target
// where a key came from, and what became of one.
//
// Keys of rows that are the same thing in several worlds, as accounts of one name, become that of
// the first of these rows, if the space says so ([merge.Space.Match]): the plan has them in pairs,
// and the target remembers them in [MatchesTable]. A space may also move as it does by the plan
// of another merge ([MapFromPlan]).
//
// # What it leaves in the target
//
// [MergesTable] with the plan of every merge, [ProgressTable] with
// its checkpoints, and [RenamesTable] with every value that was changed: Undo
// removes them with the last merge. A table with the rows of each one that is emptied: Undo
// puts them back. [KeysTable] has the keys that got new values, and stays.
package transfer
