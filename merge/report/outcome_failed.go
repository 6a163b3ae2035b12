package report

import (
	"errors"
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// Fail takes the error of a command that writes into its outcome: what blocked it, what changed,
// or why it stopped. interrupted tells that the operator stopped it. It returns false if the
// error is none of these: then there is no outcome.
func (o *Outcome) Fail(err error, interrupted bool) bool {
	if refusal, ok := errors.AsType[*merge.RefusedError](err); ok {
		o.Ending, o.Refusals = Refused, refusal.Refusals
		return true
	}
	if changed, ok := errors.AsType[*merge.ChangedError](err); ok {
		o.Ending, o.Reason = Changed, Plainly(changed).Error()
		return true
	}
	if stop, ok := errors.AsType[*merge.StoppedError](err); ok {
		o.Ending, o.Reason = Stopped, "stopped while "+stop.Doing
		if !interrupted {
			o.Reason += ": " + stop.Cause.Error()
		}
		return true
	}
	return false
}

// Prove takes a proof into the outcome.
func (o *Outcome) Prove(proof *merge.Proof) {
	o.Proof = proof
	switch proof.Verdict {
	case verdict.Pass:
	case verdict.Fail:
		o.Ending = Differs
	default:
		o.Ending = NotVerified
	}
}

// Open takes into the outcome what open found, and whether the database is open.
func (o *Outcome) Open(found *merge.Opened, is bool) {
	if found.Proof != nil {
		o.Prove(found.Proof)
	}
	if is {
		o.Opened = found
	}
	o.Midway, o.Closed = found.Began, found.Closed
}

// Plainly leaves out of an error the name of the package, which the operator does not know.
func Plainly(err error) error { return &plainError{err} }

type plainError struct{ error }

func (e *plainError) Error() string { return strings.TrimPrefix(e.error.Error(), "merge: ") }
func (e *plainError) Unwrap() error { return e.error }
