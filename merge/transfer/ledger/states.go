package ledger

// State is the state of a merge.
type State string

// The states of a merge. [apply.Apply] resumes StatePreparing and StateCopying, [undo.Undo] takes
// back all except StateNone.
const (
	StateNone      State = "none"      // not begun, or undone
	StatePreparing State = "preparing" // the plan is being written to the target; nothing was copied
	StateCopying   State = "copying"
	StateCopied    State = "copied"  // completed
	StateUndoing   State = "undoing" // [undo.Undo] began, and resumes

	// Of a merge into a new database, which StateCopied says was opened.
	StateMade   State = "made"   // all is there
	StateProved State = "proved" // [prove.Verify] found all as planned
)
