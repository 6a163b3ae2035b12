package record

// The steps of a merge, as [job.Progress] names them.
const (
	StepCheck   = "check"   // the rules of the check
	StepMeasure = "measure" // counting and summing up
	StepCopy    = "copy"
	StepIndex   = "index"  // of tables, as soon as their rows are there
	StepFinish  = "finish" // what is looked at and made when all rows are there: references, counters, views
	StepVerify  = "verify"
	StepResult  = "result" // the rules of the check, over the merged database
)
