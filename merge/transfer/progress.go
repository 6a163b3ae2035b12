package transfer

// The steps of a merge, as [Progress] names them.
const (
	StepCheck   = "check"   // the rules of package merge
	StepMeasure = "measure" // counting and summing up
	StepRename  = "rename"  // of the target's own rows
	StepCopy    = "copy"
	StepVerify  = "verify"
	StepCompare = "compare" // what was copied with the sources, before an undo
	StepUndo    = "undo"
	StepRestore = "restore" // the target's own rows that were renamed
)

// Progress tells how far the work has come.
type Progress struct {
	Step        string
	Database    string // whose rows are read
	Table       string
	Rows, Total int64 // of the step, over all tables and databases
}
