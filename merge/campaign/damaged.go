package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mergesafe/internal/sqldb"
)

// DamagedError tells that the state of a campaign cannot be used any more. It is a log: the plans
// and the databases know the merges, so it may be moved away, and [Plan] finds those that
// have begun. Lost is what only the state knows: a pause, which merges were skipped or undone,
// measured times, and the events.
type DamagedError struct {
	Campaign string // the file
	State    string // the file of the state; SQLite may keep two more, whose names end in -wal and -shm
	Cause    error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("campaign: the state %s is damaged: %v", e.State, e.Cause)
}

func (e *DamagedError) Unwrap() error { return e.Cause }

// fault is the error of a state that cannot be read or written: doing is "read" or "written".
func (b *Book) fault(doing string, err error) error {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, typ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case sqldb.Says(err, sqldb.Damaged), sqldb.Says(err, sqldb.Refused), errors.Is(err, sqldb.ErrNotFound), syntax, typ, errors.Is(err, io.ErrUnexpectedEOF):
		return &DamagedError{b.file, b.statePath(), err}
	case errors.Is(err, sqldb.ErrReadOnly):
		return fmt.Errorf("campaign: the state %s cannot be %s: %w: give this account the right to write to it, and to its folder", b.statePath(), doing, err)
	}
	return fmt.Errorf("campaign: the state %s cannot be %s: %w", b.statePath(), doing, err)
}

// lookAtFile looks at the file of the state before it is opened: an SQLite file that is missing,
// or empty, would be made. lost tells that there were plans, and so a state.
func (b *Book) lookAtFile() (lost bool, err error) {
	info, err := os.Stat(b.statePath())
	switch {
	case err == nil && !info.Mode().IsRegular():
		return false, &DamagedError{b.file, b.statePath(), errors.New("it is not a file")}
	case err == nil && info.Size() > 0:
		return false, nil
	}
	plans, err := filepath.Glob(filepath.Join(b.Plans(), "*.json"))
	return len(plans) > 0, err
}
