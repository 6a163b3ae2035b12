//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/registry"
)

// Config says what a process does. It goes to the process through its standard
// input, so that a password in DSN does not appear in a list of processes.
type Config struct {
	DSN    string
	Server gameid.ServerID

	// AnyOf is the range of which the process takes any free server, instead of
	// Server.
	AnyOf store.ServerRange

	// Options are those of the node, without a Clock. Offset is how far the
	// wall clock of the process is off; at 0 it has the clock of the machine.
	Options gameid.Options
	Offset  time.Duration

	// Batch is how many IDs each of the goroutines mints every Pause. The defaults
	// are 100 and idsEvery.
	Batch int
	Pause time.Duration

	// Rows makes one more goroutine insert a player and three items every rowsEvery.
	Rows bool

	// Guard makes its transactions fail once another process has the lease.
	Guard bool

	// Numbers makes one more goroutine take 20 short numbers and 20 keys every 10 ms. Two
	// processes of a world take none twice.
	Numbers bool

	// AcceptLossy opens the node also on a database that may lose what it
	// confirmed.
	AcceptLossy bool

	// Hold makes the process wait for [Process.Go] before it opens anything.
	Hold bool
}

// order is the first line that a process reads.
type order struct {
	Config
	Log string // the path of its logs, without the goroutine, and with * for the server
}

// What a process tells of itself.
const (
	Ready      = "ready"       // waits for Process.Go
	Opened     = "opened"      // has a node and mints
	Refused    = "refused"     // could not open the database or the node, and ends
	Exhausted  = "exhausted"   // an ID was asked for and there was none
	Recovered  = "recovered"   // there is one again
	Lost       = "lost"        // the lease is lost; the process ends
	RowsFailed = "rows failed" // rows were not inserted, or perhaps
	RowsAgain  = "rows again"  // rows are inserted again
	Closed     = "closed"      // the node was closed; the process ends
)

// Event is a line that a process writes to its standard output.
type Event struct {
	What  string
	At    time.Time // by the clock of the machine
	Error string    `json:",omitempty"`

	// Of Opened: the server that the process is, and how long it took from the
	// call of Process.Go, or the start, until it could mint.
	Server gameid.ServerID `json:",omitzero"`
	Took   time.Duration   `json:",omitzero"`

	// Of Refused, if no server was free: the processes that hold one.
	Held []gameid.HeldError `json:",omitempty"`

	// What the error is: the Go type of gameid's error in it, what gameid's
	// error says in its fields, and which errors callers branch on are in it.
	Type   string        `json:",omitempty"`
	Holder gameid.Holder `json:",omitzero"`
	Until  time.Time     `json:",omitzero"`
	Is     []string      `json:",omitempty"`
}

// event describes err for the one who reads it in another process.
func event(what string, err error) Event {
	e := Event{What: what, At: time.Now()}
	if err == nil {
		return e
	}
	e.Error = err.Error()
	if held, ok := errors.AsType[*gameid.HeldError](err); ok {
		e.Type, e.Holder = fmt.Sprintf("%T", held), held.Holder
	}
	if full, ok := errors.AsType[*registry.NoneFreeError](err); ok {
		e.Type = fmt.Sprintf("%T", full)
		for _, held := range full.Holders() {
			e.Held = append(e.Held, *held)
		}
	}
	if lost, ok := errors.AsType[*gameid.LostError](err); ok {
		e.Type, e.Holder = fmt.Sprintf("%T", lost), lost.Holder
	}
	if clock, ok := errors.AsType[*gameid.ClockError](err); ok {
		e.Type = fmt.Sprintf("%T", clock)
	}
	if exhausted, ok := errors.AsType[*gameid.ExhaustedError](err); ok {
		e.Type, e.Until = fmt.Sprintf("%T", exhausted), exhausted.Until
	}
	for _, sentinel := range []error{store.ErrUnavailable, store.ErrRetryable, store.ErrOutcomeUnknown, store.ErrDuplicate, context.DeadlineExceeded} {
		if errors.Is(err, sentinel) {
			e.Is = append(e.Is, sentinel.Error())
		}
	}
	return e
}
