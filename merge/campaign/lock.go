package campaign

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"
)

// errTaken: another process has the lock.
var errTaken = errors.New("taken")

// take takes the lock of a file, until the file is closed, or returns errTaken. It is the operating
// system's own, so that it ends with the process. A process that only looks whether it is held has it
// for a moment: for that it waits.
func take(ctx context.Context, path string) (*os.File, error) {
	patience, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		f, err := openLocked(path, alone)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errTaken) {
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

// isTaken reports whether a process has the lock of a file.
func isTaken(path string) bool {
	f, err := openLocked(path, looking)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, errTaken)
}
