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
// Rows of a table without a key have no such order: those of one source are one
// transaction, up to a limit. They are a multiset: Verify and Undo compare how often
// each row occurs.
//
// If the target allows several writers, tables, the rows of several sources, and ranges
// of a large table are copied in parallel ([Options.Parallel]), each with its own
// checkpoint. The ranges are those of the plan, so every run of a merge leaves the same
// in the target. Foreign keys are checked together after all rows are copied; before
// that, the merge is not completed.
//
// From the first write of Apply until the merge is completed or undone, the
// target's own servers are fenced in its registry: rows of a game that wrote meanwhile
// would mix with those of the merge. The fence of a target names the merge. It is
// lifted as the last step, when the merge is completed or undone. If a game still
// wrote, because there is no registry or the fence was removed, Apply notices other
// numbers of rows, or a mark that moved, when it resumes and before it completes the
// merge. Then undo it and plan again: [Undo] removes the rows that came and leaves new
// ones, and names the new rows that block it because they reference rows that came.
//
// The sources are opened read-only. Only the fence in their registry may be
// written (see [store.Registry.Fence]), over a connection of its own.
//
// While a table is copied the sum over its rows is computed again. If a row was changed
// in a source since the plan, the sum differs: a [*ChangedError].
//
// Inside JSON, MySQL has dates, times, bytes and DECIMAL, which a text cannot
// represent. A plan refuses the rows that a text would change, and names them. A
// DECIMAL that has the digits of an equal DOUBLE becomes one.
//
// [Verify] reads everything and compares sums: the target must hold its own rows
// and the copied rows, each exactly as planned. [Undo] needs the sources: they show
// which rows were copied, and how. At its end it proves by a reading of all tables that nothing of
// the merge is left; see [NotUndoneError].
//
// A target that was restored from a backup has no record of the merge, and neither has a wrong copy
// of the target, whose rows are elsewhere. There Undo lifts a fence only if the fence says that no row
// of the merge is in the target: [registry.FencePrepared] and [registry.FenceUndone]. Otherwise it
// is refused with the command that lifts each fence, and so is Apply. A copy that was made after the
// merge has the record too, and cannot be told from the target: do not undo in it while the sources are
// the real ones.
//
// # A new database
//
// If [PlanOptions.Into] is set, the merge is made in a database that did not exist, and all worlds are
// sources: the first keeps its names and keys, and the new database becomes that world. [Apply] makes
// its tables bare, brings the rows of all, then the indexes, the foreign keys, and what hangs on them.
// Of the worlds it writes only the fences. [Verify] compares the new database with the plan, row by row,
// and with the first world, object by object. Nobody can enter before [Open], if there is a registry: its
// servers have a fence there too. [Undo] drops what was made. Where the texts below speak of the
// target, rows and counters of the first world are meant, as they came.
//
// # Tables that are emptied
//
// For a table of the policy reset no rows are copied, and those of the target are removed: see
// [Reset]. They are kept in the target, in a table that a check does not see, and an undo puts
// them back.
//
// # Names
//
// A value that has to be unique and is in several worlds, such as the name of a
// player, blocks the merge, unless a [NamePolicy] says which row keeps it. The other
// rows get new values, which the plan lists before anything is written. So do columns
// that repeat the old value beside a key ([NameCopy]), and columns that name it by a
// declared reference: there, a row follows the row of its own database, and one that
// names no row stays unchanged. Rows of the sources are renamed as they are copied, and
// stay unchanged in the source; the target's own rows are renamed in place, and an undo
// restores their old values.
//
// # Keys
//
// Keys that every world counts from 1 get new values if [declare.Options.Rekey] is set:
// one number is added to all keys of a source, and to all references to them. A row is
// changed before its INSERT; in the source it stays unchanged. [Verify] gives the rows
// of each world their old keys back and compares them with that world: see [KeyProof].
// [Whois] and [Whereis] read the origin of a key from the target, and the new value
// of an old one.
//
// Keys of rows that are the same thing in several worlds, as accounts of one name, become that of
// the first of these rows, if the space says so ([declare.Space.Match]): the plan has them in pairs,
// and the target remembers them in [MatchesTable]. A space may also move as it does by the plan
// of another merge ([MapFromPlan]).
//
// # What it leaves in the target
//
// [MergesTable] with the plan of every merge (see [RecordedPlan]), [ProgressTable] with
// its checkpoints, and [RenamesTable] with every value that was changed: Undo
// removes them with the last merge. A table with the rows of each one that is emptied: Undo
// puts them back. [KeysTable] has the keys that got new values, and stays.
package transfer
