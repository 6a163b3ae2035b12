package ledger

import (
	"errors"
	"fmt"
	"strings"

	"mergesafe/merge/transfer/plan"
)

// ErrStopped: the work stopped, and the same call with the same plan resumes it.
// The error is a [*StoppedError].
var ErrStopped = errors.New("stopped, resumable")

// StoppedError says that the work stopped cleanly: because the context ended, or
// because a database could not be reached for longer than [job.Options.RetryFor]. The work
// done so far is kept, and the same call resumes there. errors.Is finds [ErrStopped] in
// it.
type StoppedError struct {
	Doing string // "copying table \"items\" of \"s2\""
	Cause error
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("transfer: stopped while %s: %v; run the same command again to resume", e.Doing, e.Cause)
}

// Unwrap returns [ErrStopped] and the cause.
func (e *StoppedError) Unwrap() []error { return []error{ErrStopped, e.Cause} }

// RefusedError has the reasons that block the work. Nothing was changed, unless it was the fleet registry that refused: then
// the same call continues.
type RefusedError struct {
	Doing    string // "apply", "undo"
	Refusals []plan.Refusal
}

func (e *RefusedError) Error() string {
	const most = 3
	var reasons []string
	for i, r := range e.Refusals {
		if i == most {
			reasons = append(reasons, fmt.Sprintf("and %d more", len(e.Refusals)-most))
			break
		}
		reasons = append(reasons, r.String())
	}
	return fmt.Sprintf("transfer: %s refused: %s", e.Doing, strings.Join(reasons, "; "))
}

// ChangedError says that the rows of a table were changed since the plan was made, or
// the new database since the merge began. The copied rows stay, but this plan cannot complete
// the merge: undo it and plan again.
type ChangedError struct {
	Database, Table string
	Rows, Want      int64  // now, and as planned
	Part            bool   // Rows are those that were read, perhaps not all of the table
	Reason          string // the change in the new database since the merge began; if it is in its registry, Table is empty
}

func (e *ChangedError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("transfer: database %q: %s: another process wrote to it since the merge began; undo the merge, then plan again", e.Database, e.Reason)
	}
	what := fmt.Sprintf("it has %s, and had %d", CountRows(e.Rows), e.Want)
	if e.Rows == e.Want {
		what = fmt.Sprintf("it has %s as before, but %s changed", CountRows(e.Rows), map[bool]string{true: "it has", false: "some have"}[e.Rows == 1])
	}
	switch {
	case e.Part && e.Rows > e.Want:
		what = fmt.Sprintf("it has %s or more, and had %d", CountRows(e.Rows), e.Want)
	case e.Part:
		what = "a part of " + what
	}
	return fmt.Sprintf("transfer: database %q, table %q was changed since the plan was made: %s; undo the merge and plan again", e.Database, e.Table, what)
}

// CountRows is a number of rows in a message.
func CountRows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// ErrNoMerge says that there is no record of the merge, and no fence of it.
var ErrNoMerge = errors.New("no such merge")
