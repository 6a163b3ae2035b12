package merge

import (
	"errors"
	"fmt"
)

// ErrSources tells that the sources cannot be checked together: there are
// fewer than two, two have one name, the target is none of them, or they are
// different kinds of database.
var ErrSources = errors.New("unsuitable sources")

// ReadError tells that a source could not be read, or that what it returned
// contradicts itself. There is no verdict then.
type ReadError struct {
	Source string
	Table  string // empty: the database as a whole
	Doing  string // what was being read
	Err    error
}

func (e *ReadError) Error() string {
	if e.Table == "" {
		return fmt.Sprintf("merge: source %q: reading %s: %v", e.Source, e.Doing, e.Err)
	}
	return fmt.Sprintf("merge: source %q: table %q: reading %s: %v", e.Source, e.Table, e.Doing, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }
