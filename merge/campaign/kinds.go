package campaign

// The kinds of events. Hooks are called for those that they name.
const (
	KindBegan       = "began"        // a command begins to work
	KindEnded       = "ended"        // it ended, in whatever way but a kill
	KindWaiting     = "waiting"      // it waits, such as for the window of time
	KindPaused      = "paused"       // by the operator
	KindResumed     = "resumed"      // by the operator
	KindPlanned     = "planned"      // a merge has a plan that can be carried out
	KindRefused     = "refused"      // a plan, or apply, found what blocks the merge; or undo what keeps it open
	KindMerging     = "merging"      // apply of a merge begins
	KindMerged      = "merged"       // its new database is made
	KindVerified    = "verified"     // proved, and open: the world may be started
	KindNotVerified = "not-verified" // nothing is wrong, but not all could be proved
	KindRetry       = "retry"        // a merge that stopped is tried again later
	KindFailed      = "failed"       // a merge failed permanently
	KindUndoing     = "undoing"
	KindUndone      = "undone"
	KindSkipped     = "skipped" // by the operator
	KindTried       = "tried"   // a rehearsal made the new database of a merge
	KindHook        = "hook"    // a hook failed
)

// Kinds are what a hook may name: questions, and kinds of events.
var Kinds = []string{
	AskStopped, AskBackedUp, AskRoom, AskFenced,
	KindBegan, KindEnded, KindWaiting, KindPaused, KindResumed, KindPlanned, KindRefused, KindMerging, KindMerged,
	KindVerified, KindNotVerified, KindRetry, KindFailed, KindUndoing, KindUndone, KindSkipped, KindTried, KindHook,
}
