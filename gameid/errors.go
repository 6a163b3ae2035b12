package gameid

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrZeroID is returned instead of storing or sending the zero ID.
	ErrZeroID = errors.New("gameid: the zero ID is not valid and cannot be stored or sent")

	// ErrRegistryGone is the error of a [Reserver] that has found that other processes no longer
	// reserve from it, such as a file that was replaced: two processes could reserve
	// the same times. The node ends with it.
	ErrRegistryGone = errors.New("gameid: the registry is gone, so this process must not create any more IDs")

	// ErrClosed is returned by a generator whose node was closed.
	ErrClosed = errors.New("gameid: the node is closed")
)

// ParseError says why text or bytes are not an ID.
type ParseError struct {
	Input  string // the text or bytes that were read
	Offset int    // of the error in Input; len(Input) if something is missing
	Reason string // the error, and what is expected instead
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("gameid: %s is not an ID: %s", quote(e.Input), e.Reason)
}

// quote keeps messages short whatever the input: an attacker chooses it.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

const zeroServer = "server 0 is not valid (digits 12 to 16)"

func textError(s string) error {
	e := &ParseError{Input: s}
	for ; e.Offset < len(s) && e.Offset < TextSize; e.Offset++ {
		if strings.IndexByte("0123456789abcdefABCDEF", s[e.Offset]) < 0 {
			e.Reason = fmt.Sprintf("%s at position %d is not a hexadecimal digit", strconv.QuoteToASCII(s[e.Offset:e.Offset+1]), e.Offset+1)
			return e
		}
	}
	if len(s) == TextSize {
		e.Offset = (EraBits + TimeBits) / 4
		e.Reason = zeroServer
	} else {
		e.Reason = fmt.Sprintf("it has %d characters, want %d hexadecimal digits", len(s), TextSize)
	}
	return e
}

func sizeError(b []byte) error {
	return &ParseError{
		Input:  string(b),
		Offset: min(len(b), Size),
		Reason: fmt.Sprintf("it has %d bytes, want %d bytes or %d hexadecimal digits", len(b), Size, TextSize),
	}
}

// ServerError says that a server is not a number from 1 to 1,048,575.
type ServerError struct {
	Server string // as it was given
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("gameid: server %s is out of range: want 1 to %d", quote(e.Server), MaxServer)
}

// TimeError says that the layout cannot hold a time: it is before the epoch, or after
// the last era.
type TimeError struct {
	Time time.Time
}

func (e *TimeError) Error() string {
	return fmt.Sprintf("gameid: time %s is outside the layout, which lasts from %s to %s",
		stamp(e.Time), stamp(Epoch()), stamp(Last()))
}

// stamp is how times are written in messages.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// HeldError says why a node was not opened: another live process has the lease of
// the server.
type HeldError struct {
	Server ServerID
	Holder Holder

	// LeaseUntil is when the lease ends if Holder does not renew it, and Now
	// the time at which that was read, both by the registry's clock.
	LeaseUntil, Now time.Time
}

func (e *HeldError) Error() string {
	advice := "stop that process, or give this process another server number"
	if e.Holder.Process != "" && e.Holder.Process == processName(os.Getpid()) {
		advice = "that is this process: close its open node; if none is open, wait until the lease ends"
	}
	return fmt.Sprintf("gameid: server %d is already running: %s, lease until %s (%s left); %s",
		e.Server, e.Holder, stamp(e.LeaseUntil), round(e.LeaseUntil.Sub(e.Now)), advice)
}

// LostError says why a node ended: another process, or an operator, changed the row
// of the server in the registry. The node mints no more IDs. The IDs that it minted
// before stay unique.
type LostError struct {
	Server ServerID
	Holder Holder // the process that has the lease now; zero if none has
}

func (e *LostError) Error() string {
	if e.Holder.IsZero() {
		return fmt.Sprintf("gameid: the lease of server %d was taken away, and no process has it now: restart this process to get it back", e.Server)
	}
	return fmt.Sprintf("gameid: the lease of server %d was lost to %s: this process creates no more IDs", e.Server, e.Holder)
}

// ExhaustedError says that the node has used up all times that it had reserved, and could
// reserve no more. The node keeps trying, and mints again as soon as the
// registry answers.
type ExhaustedError struct {
	Server ServerID
	Until  time.Time // the mark: the last time that was reserved
	Cause  error     // why no more could be reserved
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("gameid: server %d has used up its reservation, which ended at %s: %v", e.Server, stamp(e.Until), e.Cause)
}

func (e *ExhaustedError) Unwrap() error { return e.Cause }

// ClockError says that the wall clock disagrees with the registry's clock by more
// than a limit.
type ClockError struct {
	Local, Registry time.Time
	Limit           time.Duration
}

func (e *ClockError) Error() string {
	return fmt.Sprintf("gameid: this machine's clock says %s, the registry's says %s: they differ by %s; at most %s is allowed; correct the wrong clock first",
		stamp(e.Local), stamp(e.Registry), round(e.Local.Sub(e.Registry).Abs()), e.Limit)
}

// MarkError says why a node was not opened: its server has reserved times far in
// the future, perhaps because a clock was wrong, and every new ID would carry a
// date beyond that mark.
type MarkError struct {
	Server ServerID
	Mark   time.Time // times up to this one may have been used
	Now    time.Time // the later of the local and the registry's clock
	Limit  time.Duration
}

func (e *MarkError) Error() string {
	return fmt.Sprintf("gameid: times of server %d may have been used up to %s, which is %s ahead of the clock (%s); at most %s is allowed; a clock was wrong earlier",
		e.Server, stamp(e.Mark), round(e.Mark.Sub(e.Now)), stamp(e.Now), e.Limit)
}

func round(d time.Duration) time.Duration {
	if d.Abs() >= 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}
