package record

import (
	"errors"
	"fmt"
	"strings"

	"mergesafe/merge/plan"
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
	return fmt.Sprintf("merge: stopped while %s: %v; run the same command again to resume", e.Doing, e.Cause)
}

// Unwrap returns [ErrStopped] and the cause.
func (e *StoppedError) Unwrap() []error { return []error{ErrStopped, e.Cause} }

// RefusedError has the reasons that block the work. Nothing was changed, or what was done until then is kept, and the same call
// continues: if it was the fleet registry that refused, or if worlds were altered while rows were copied, or are gone.
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
	return fmt.Sprintf("merge: %s refused: %s", e.Doing, strings.Join(reasons, "; "))
}

// ChangedError says that the rows of a table were changed since the plan was made, or
// the new database since the merge began. The copied rows stay, but this plan cannot complete
// the merge: undo it and plan again.
type ChangedError struct {
	Database, Table string // Table is empty if it is the registry
	Rows, Want      int64  // now, and as planned
	Part            bool   // Rows are those that were read, perhaps not all of the table
	Reason          string // empty: Rows and Want tell
	Cause           error  // what the new database says of a row that it refuses
}

func (e *ChangedError) Error() string {
	reason := e.Reason
	switch {
	case reason == "":
		reason = "it was changed since the plan was made: " + e.counts()
	case e.Cause != nil:
		reason += ": " + e.Cause.Error()
	default:
		reason += ": another process has written to it since the merge began"
	}
	return "merge: " + plan.Refusal{Source: e.Database, Table: e.Table, Reason: reason, Next: plan.NextUndoPlan}.String()
}

func (e *ChangedError) Unwrap() error { return e.Cause }

// counts says how many rows the table has and had.
func (e *ChangedError) counts() string {
	switch {
	case e.Part && e.Rows > e.Want:
		return fmt.Sprintf("it has %s or more, but had %d", CountRows(e.Rows), e.Want)
	case e.Part:
		return "a part of " + (&ChangedError{Rows: e.Rows, Want: e.Want}).counts()
	case e.Rows != e.Want:
		return fmt.Sprintf("it has %s, but had %d", CountRows(e.Rows), e.Want)
	case e.Rows == 1:
		return "it has 1 row as before, but it has changed"
	}
	return fmt.Sprintf("it has %s as before, but some have changed", CountRows(e.Rows))
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
