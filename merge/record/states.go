package record

// State is the state of a merge.
type State string

// The states of a merge: see [Manifest]. What each command does in them is in docs/merging.md.
const (
	StateNone    State = "none"    // not begun, or undone
	StateCopying State = "copying" // from the record's first statement on
	StateMade    State = "made"    // all is there
	StateOpening State = "opening" // it was proved; what lets the game in is being written
	StateOpen    State = "open"
	StateUndoing State = "undoing" // [build.Undo] began, and resumes

	// StateTried is that of a rehearsal, whether it ended or not: see [job.Options.Try].
	StateTried State = "tried"

	// StatePlanAgain is that of a merge without a record whose worlds are not as planned any more, such as
	// after an undo that raised their counters. No record has it.
	StatePlanAgain State = "plan again"
)

// raised is noted in the place of the state that an undo left, when the worlds have learnt what was given in the
// new database. From then on its tables are dropped.
const raised State = "raised"

// Nothing reports whether there is no record of the merge, and no fence that says that there was one.
func (s State) Nothing() bool { return s == StateNone || s == StatePlanAgain }

// Whole reports whether apply had come to its end: before that there is nothing that a game could use.
func (s State) Whole() bool { return s == StateMade || s.Entered() }

// Entered reports whether a game may have used the new database.
func (s State) Entered() bool { return s == StateOpening || s == StateOpen || s == raised }
