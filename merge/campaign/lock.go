package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errTaken: another process has the lock.
var errTaken = errors.New("taken")

// takeLock takes the lock of the one process that works on a campaign, until the file is closed, or
// returns errTaken. It is the operating system's own, so that it ends with the process. A process that
// only looks whether it is held has it for a moment: for that it waits.
func takeLock(ctx context.Context, path string) (*os.File, error) {
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

// isLocked reports whether a process has the lock.
func isLocked(path string) bool {
	f, err := openLocked(path, looking)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, errTaken)
}

// Holder is the process that works on a campaign.
type Holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Doing string    `json:"doing"` // see [progress.Status]
}

// HeldError tells that another process works on the campaign.
type HeldError struct {
	Campaign string // the file
	Holder   Holder // as far as it is known
}

func (e *HeldError) Error() string {
	who := "another process works on it"
	if h := e.Holder; h.PID != 0 {
		who = fmt.Sprintf("process %d on %s works on it (%s, since %s)", h.PID, h.Host, h.Doing, h.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("campaign %s: %s: wait for it, or end it first", e.Campaign, who)
}

// self is this process.
func self(doing string, now time.Time) Holder {
	host, _ := os.Hostname()
	return Holder{Host: host, PID: os.Getpid(), Since: now.UTC().Truncate(time.Second), Doing: doing}
}
