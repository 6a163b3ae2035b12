package catalog

import (
	"errors"
	"fmt"
)

// ErrWorlds says that the worlds cannot be checked together: there are fewer than two,
// two have one name, or they are different kinds of database.
var ErrWorlds = errors.New("unsuitable worlds")

// ReadError says that a world could not be read, or returned contradictory data. There
// is no verdict then.
type ReadError struct {
	World string
	Table string // empty: the database as a whole
	Doing string // what was being read
	Err   error
}

func (e *ReadError) Error() string { return "merge: " + e.Reason() }

// Reason is the error as a report gives it.
func (e *ReadError) Reason() string {
	if e.Table == "" {
		return fmt.Sprintf("world %q: reading %s: %v", e.World, e.Doing, e.Err)
	}
	return fmt.Sprintf("world %q: table %q: reading %s: %v", e.World, e.Table, e.Doing, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// UnsupportedError is the error of [Source.Scan] if it cannot sort and compare the
// values of a column faithfully: their type has no sorting form yet, the collation is
// unknown to the database, or a value is not of the column's type. Checks that depend
// on that scan are not verified, for this reason; the rest of the check continues.
type UnsupportedError struct {
	Table, Column string
	Reason        string
}

func (e *UnsupportedError) Error() string {
	if e.Table == "" {
		return fmt.Sprintf("column %q: %s", e.Column, e.Reason)
	}
	return fmt.Sprintf("table %q, column %q: %s", e.Table, e.Column, e.Reason)
}
