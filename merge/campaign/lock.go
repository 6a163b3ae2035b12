package campaign

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"
)

// ErrTaken: another process has the lock.
var ErrTaken = errors.New("taken")

// Take takes the lock of a file, until the file is closed, or returns ErrTaken. It is the operating
// system's own, so that it ends with the process. A process that only looks whether it is held has it
// for a moment: for that it waits.
func Take(ctx context.Context, path string) (*os.File, error) {
	patience, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		f, err := openLocked(path, alone)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, ErrTaken) {
			return nil, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-patience.Done():
			return nil, cmp.Or(ctx.Err(), err)
		}
	}
}

// How a lock file is opened.
const (
	alone   = true
	looking = false // which others may do as well; the file must be there
)

// IsTaken reports whether a process has the lock of a file.
func IsTaken(path string) bool {
	f, err := openLocked(path, looking)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, ErrTaken)
}
