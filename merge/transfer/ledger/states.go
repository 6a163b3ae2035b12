package ledger

// State is the state of a merge.
type State string

// The states of a merge. [apply.Apply] resumes StatePreparing and StateCopying, [undo.Undo] takes
// back all except StateNone.
const (
	StateNone      State = "none"      // not begun, or undone
	StatePreparing State = "preparing" // the plan is being written to the record; nothing was copied
	StateCopying   State = "copying"
	StateMade      State = "made"    // all is there
	StateProved    State = "proved"  // [prove.Verify] found all as planned
	StateOpen      State = "open"    // [open.Open] let the game in
	StateUndoing   State = "undoing" // [undo.Undo] began, and resumes

	// Of a rehearsal, see [job.Options.Try]: from its first statement, whether it ended or not, and while
	// an undo drops it.
	StateTried    State = "tried"
	StateDropping State = "dropping"
)

// Begun reports whether rows may have been copied, and apply would resume or has ended.
func (s State) Begun() bool {
	return s == StateCopying || s == StateMade || s == StateProved || s == StateOpen
}

// Whole reports whether apply had come to its end: before that there is nothing that a game could use.
func (s State) Whole() bool { return s == StateMade || s == StateProved || s == StateOpen }

// Undoing reports whether an undo began.
func (s State) Undoing() bool { return s == StateUndoing || s == StateDropping }
