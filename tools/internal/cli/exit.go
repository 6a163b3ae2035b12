package cli

import (
	"errors"
	"fmt"
)

// Code is the exit code of a tool. It is an error as well, so that an action
// can end with one other than OK: it prints nothing by itself.
type Code int

// The exit codes, the same for every tool. A script may rely on them: only OK
// means that all is well and that this was established.
const (
	OK          Code = 0 // it is safe, or the work is done
	Conflicts   Code = 1 // conflicts were found
	Incomplete  Code = 2 // no result: wrong usage or configuration, the database, or an interrupt
	NotVerified Code = 3 // nothing failed, but something could not be verified
	Stopped     Code = 4 // interrupted; nothing is lost, and the same command resumes
)

// Error makes a Code an error.
func (c Code) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Usage returns an error about how the program was called. It is printed with
// the way to the help, and ends with Incomplete.
func Usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// WithHint adds to err a sentence about what to do, printed on a line of its
// own. The text and the chain of err stay as they are.
func WithHint(err error, hint string) error { return &hintError{err, hint} }

type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// WithCode makes err end with another code than Incomplete. It is printed as it
// would be without; what it wraps is no longer found in it.
func WithCode(err error, c Code) error { return &codeError{err.Error(), c} }

type codeError struct {
	message string
	code    Code
}

func (e *codeError) Error() string { return e.message }
func (e *codeError) Unwrap() error { return e.code }

// code returns the exit code that err ends with.
func code(err error) Code {
	if err == nil {
		return OK
	}
	if c, ok := errors.AsType[Code](err); ok {
		return c
	}
	return Incomplete
}
