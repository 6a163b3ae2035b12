package plan

// Part is what one worker does at a time: the rows of one database in one table, or
// one range of them.
type Part struct {
	Table  int // of the plan
	Source int // of the plan; or ofTarget
	Number int // of the range
}

const OfTarget = -1

// Whether the rows of a source in one table are one part, or several.
const (
	Whole   = false
	Divided = true
)
