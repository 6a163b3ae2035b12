package ledger

// The steps of a merge, as [job.Progress] names them.
const (
	StepCheck   = "check"   // the rules of the check
	StepMeasure = "measure" // counting and summing up
	StepRename  = "rename"  // of the target's own rows
	StepReset   = "reset"   // of tables: their rows are removed, or put back
	StepCopy    = "copy"
	StepOwn     = "own"    // copying the first world's rows into a new database
	StepIndex   = "index"  // of tables of a new database, as soon as their rows are there
	StepFinish  = "finish" // what is looked at and made when all rows are there: references, counters, views
	StepVerify  = "verify"
	StepResult  = "result"  // the rules of the check, over the merged database
	StepCompare = "compare" // of the copied rows with the sources, before an undo
	StepUndo    = "undo"
	StepRestore = "restore" // of the target's own rows that were renamed
)
