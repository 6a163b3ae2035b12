// Package transfer carries a merge out: it copies the rows of one or more
// worlds into the database of another, so that the merge can be broken off at
// any moment, gone on with, proved and taken back.
//
//	plan, err := transfer.NewPlan(ctx, target, sources, transfer.PlanOptions{}) // reads only
//	if len(plan.Refusals) > 0 { ... }                                          // why it would be refused
//	result, err := transfer.Apply(ctx, plan, target, sources, transfer.Options{})
//	if errors.Is(err, transfer.ErrStopped) { ... } // call Apply again with the same plan
//	status, err := transfer.LookUp(ctx, plan, target, sources) // how far it is, at any time
//	proof, err := transfer.Verify(ctx, plan, target, sources, transfer.Options{})
//	...
//	undone, err := transfer.Undo(ctx, plan, target, sources, transfer.UndoOptions{})
//
// # How it is safe
//
// A [Plan] rests on a check of all databases by package merge, and carries
// what it found: for every table and database the number of rows and a sum over
// their contents. [Apply] carries out that plan and no other, and refuses to
// begin if schema, registries or numbers of rows are not those of the plan.
//
// Rows are inserted by plain INSERT with every column named, so that a
// collision is an error and never an overwrite. A batch of rows and the note of
// how far it came are one transaction in the target. Whoever goes on begins at
// the note, so no row is copied twice or left out, whenever the work was broken
// off; and an answer to a COMMIT that was lost is found in the note.
//
// Where the target takes several writers, tables and the rows of several sources
// are copied side by side ([Options.Parallel]), each with a note of its own.
// Foreign keys are checked when all rows are there, in one go. Until then a merge
// is not completed.
//
// The sources are opened read-only. The one thing that may be written there is
// the fence in the registry (see [store.Registry.Fence]), through a connection
// of its own.
//
// While a table is copied its rows are summed up again. A row that was changed
// in a source since the plan makes another sum: a [*ChangedError].
//
// [Verify] reads all there is and compares sums: what is in the target must be
// the target's own rows and the copied rows, each exactly as planned.
//
// [Undo] needs the sources: they are the record of which rows were copied, and
// how they were.
//
// [LookUp] tells where a merge is from its notes alone, also while it runs: how
// many rows of each table were copied or removed, and which sources are fenced.
//
// # Names
//
// A value that has to be unique and is in several worlds, such as the name of a
// player, stands against the merge, unless a [NamePolicy] says which row keeps
// it. The others get new values, which the plan lists one by one before anything
// is written, and so do columns that repeat the old ones ([NameCopy]). Rows of
// the sources get them on their way, and in the source stay as they are; the
// target's own rows get them where they are, and their old ones back by an undo.
//
// # What it leaves in the target
//
// Three tables: [MergesTable] with the plan of every merge, [ProgressTable] with
// how far each came, and [RenamesTable] with every value that was changed on
// the way. Undo removes them with the last merge.
package transfer
