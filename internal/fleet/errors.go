package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// What callers branch on, with errors.Is. Package store/fleet, which names them again for games, says what each of them means.
var (
	ErrNotClaimed = errors.New("server not claimed")
	ErrTaken      = errors.New("taken already")
	ErrRetired    = errors.New("server retired")
	ErrOtherWorld = errors.New("server of another world")
	ErrRunning    = errors.New("running elsewhere")
	ErrOlderCopy  = errors.New("older copy of the world")
	ErrSuperseded = errors.New("the world continues in another database")
	ErrOtherFleet = errors.New("bound in another fleet registry")
	ErrNotBound   = errors.New("never bound in the fleet registry")
)

// Error says why a server may not be claimed, changed or used.
type Error struct {
	Server gameid.ServerID
	Row    Server // its row in the fleet registry; zero if there is none or the registry was not asked

	kind   error // one of the sentinels
	reason string
	cause  error // may be nil
}

func (e *Error) Error() string {
	text := fmt.Sprintf("server %s %s", e.Server, e.reason)
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the sentinel and, if there is one, the cause.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.kind, e.cause}
	}
	return []error{e.kind}
}

// notClaimed says how to claim a server; which is the flag for it, or for the range that it is in.
func (f *Fleet) notClaimed(server gameid.ServerID, name, which string) error {
	return &Error{Server: server, kind: ErrNotClaimed, reason: fmt.Sprintf(
		"is not claimed in the fleet registry %q; claim it with: gameid servers claim -name %s %s", f, printable.Quoted(cmp.Or(name, "NAME")), which)}
}

// neverBound refuses a start while the fleet registry cannot be asked.
func neverBound(server gameid.ServerID, place string, away error) error {
	return &Error{Server: server, kind: ErrNotBound, cause: away, reason: fmt.Sprintf(
		"with the database %q was never bound in the fleet registry, so it does not start until that can be reached", place)}
}

// lastSeen describes who had the lease, for a message.
func (s *Server) lastSeen() string {
	if s.Holder.IsZero() {
		return "never seen running"
	}
	return fmt.Sprintf("last seen %s as %s with the database %q", printable.Time(s.SeenAt), s.Holder, s.Place)
}

// running describes who has the lease, for a message.
func (s *Server) running() string {
	return fmt.Sprintf("%s with the database %q, lease until %s (%s left)",
		s.Holder, s.Place, printable.Time(s.LeaseUntil), s.LeaseUntil.Sub(s.Now).Round(time.Second))
}
