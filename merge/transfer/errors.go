package transfer

import (
	"errors"
	"fmt"
	"strings"
)

// ErrStopped: the work was broken off and can be gone on with by the same call
// with the same plan. The error is a [*StoppedError].
var ErrStopped = errors.New("stopped, resumable")

// StoppedError tells that the work was broken off cleanly: because the context
// ended, or because a database stayed away for longer than [Options.Patience].
// What was done until then is kept, and the same call goes on from there.
// errors.Is finds [ErrStopped] in it.
type StoppedError struct {
	Doing string // "copying table \"items\" of \"s2\""
	Cause error
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("transfer: stopped while %s: %v; run the same again to go on", e.Doing, e.Cause)
}

// Unwrap returns [ErrStopped] and the cause.
func (e *StoppedError) Unwrap() []error { return []error{ErrStopped, e.Cause} }

// RefusedError tells why the work was not begun. Nothing was changed.
type RefusedError struct {
	Doing    string // "apply", "undo"
	Refusals []Refusal
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
	return fmt.Sprintf("transfer: %s refused, nothing was changed: %s", e.Doing, strings.Join(reasons, "; "))
}

// ChangedError tells that the rows of a table are not those that the plan was
// made for: somebody wrote to it in between. What was copied stays, and the
// merge cannot be completed by this plan: undo it and plan again.
type ChangedError struct {
	Database, Table string
	Rows, Want      int64 // now, and as planned
}

func (e *ChangedError) Error() string {
	what := fmt.Sprintf("it has %d rows, and had %d", e.Rows, e.Want)
	if e.Rows == e.Want {
		what = fmt.Sprintf("it has %d rows as before, but not all are the same", e.Rows)
	}
	return fmt.Sprintf("transfer: database %q, table %q was changed since the plan was made: %s; undo the merge and plan again", e.Database, e.Table, what)
}
