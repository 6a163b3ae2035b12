package gameid

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

var (
	// ErrZeroID is returned where the zero ID would be stored or sent.
	ErrZeroID = errors.New("gameid: the zero ID names nothing and cannot be stored or sent")

	// ErrClosed is returned by a generator whose node was closed.
	ErrClosed = errors.New("gameid: the node is closed")
)

// ParseError says why text or bytes are not an ID.
type ParseError struct {
	Input  string // what was given
	Offset int    // where in Input it went wrong; len(Input) if something is missing
	Reason string // what was wrong, and what would be right
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
		if values[s[e.Offset]] == notDigit {
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

func serverZeroError(b []byte) error {
	return &ParseError{Input: string(b), Offset: 5, Reason: zeroServer}
}

// ServerError is a server number that is not 1 to 1,048,575.
type ServerError struct {
	Server string // as it was given
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("gameid: server number %s is out of range: want 1 to %d", quote(e.Server), MaxServer)
}

// TimeError is a time that the layout cannot hold: before the epoch, or after
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
