package gameid

import (
	"reflect"
	"time"
)

// LeaseState says whether a node may mint.
type LeaseState string

// The states of a lease.
const (
	LeaseHeld    LeaseState = "held"    // renewed in time
	LeaseExpired LeaseState = "expired" // the registry could not be reached for longer than the lease; another process may take over
	LeaseLost    LeaseState = "lost"    // another process took over, the registry is gone, or the node was ended by Fail
	LeaseClosed  LeaseState = "closed"  // the node was closed
)

// Stats is the state of a node at one moment.
type Stats struct {
	Server ServerID

	// Minted counts the IDs issued since the node was opened, by the name of
	// the kind's Go type ("Player"). If two kinds have the same name, it is the name
	// with the package.
	Minted map[string]uint64

	// Newest is the time in the newest ID; before the first ID, the time after which the node
	// begins. Ahead is how far that is ahead of the wall clock, or 0. It is
	// up to Options.Window after the start, and then shrinks as the clock catches up.
	// More than that means that a clock was set back.
	Newest time.Time
	Ahead  time.Duration

	// Mark is the last time that is reserved, and Left how far it is ahead of the
	// newest ID and the clock: how long the node could mint without the registry, at
	// full speed. Right after the start Left is 16 ms: that is a million IDs, which
	// last for Options.Window if the node mints more slowly. Left grows to Window as
	// the clock catches up.
	Mark time.Time
	Left time.Duration

	// ClockSteps counts the steps of the wall clock of 10 ms or more, either
	// way, that were seen. RefusedClock is a wall clock that is not followed
	// because it is too far off the registry's; zero if there is none.
	ClockSteps   uint64
	RefusedClock time.Time

	// Renewals and Failures count the attempts to reserve times. LastFailure
	// is the cause of the newest one, nil after a success.
	Renewals, Failures uint64
	LastFailure        error

	// Waits counts the calls of generators that had to wait for the registry.
	Waits uint64

	// Lease is the state of the lease, and LeaseLeft how long it lasts if it
	// is not renewed, by the clock that leaves less: one of the clocks may have stood still
	// while the machine slept.
	Lease     LeaseState
	LeaseLeft time.Duration

	// LayoutYearsLeft is for how many more years the layout can hold the time.
	LayoutYearsLeft float64
}

// counts is what a node counts for its Stats. Node.mu guards it.
type counts struct {
	steps, renewals, failures, waits uint64

	refused time.Time
}

// Stats returns the state of the node. It takes a lock that minting does not.
func (n *Node) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.word.Load()
	if last >= stopped {
		last = n.final
	}
	last = min(last, wordOf(n.mark+1)-1) // beyond the mark nothing was issued
	newest := TimeOf(int64(last >> SequenceBits))
	wall := n.clock.Wall()
	mark := TimeOf(n.mark)
	s := Stats{
		Server:          n.server,
		Minted:          n.minted(),
		Newest:          newest,
		Ahead:           max(0, newest.Sub(wall)),
		Mark:            mark,
		Left:            max(0, mark.Sub(later(newest, TimeOf(int64(n.now()))))),
		ClockSteps:      n.counts.steps,
		RefusedClock:    n.counts.refused,
		Renewals:        n.counts.renewals,
		Failures:        n.counts.failures,
		LastFailure:     n.failure,
		Waits:           n.counts.waits,
		LeaseLeft:       n.until.after(moment{wall, n.clock.Elapsed()}),
		LayoutYearsLeft: yearsLeft(wall),
	}
	switch {
	case n.ended == ErrClosed:
		s.Lease, s.Left, s.LeaseLeft = LeaseClosed, 0, 0
	case n.ended != nil:
		s.Lease, s.Left, s.LeaseLeft = LeaseLost, 0, 0
	case s.LeaseLeft == 0:
		s.Lease = LeaseExpired
	default:
		s.Lease = LeaseHeld
	}
	return s
}

// yearsLeft counts in mean Gregorian years. The span may exceed what
// time.Duration can hold.
func yearsLeft(now time.Time) float64 {
	const yearSeconds = 365.2425 * 24 * 60 * 60
	return max(0, float64(Last().Unix()-now.Unix())/yearSeconds)
}

func (n *Node) minted() map[string]uint64 {
	names := make(map[string]int)
	for kind := range n.kinds {
		names[kind.Name()]++
	}
	minted := make(map[string]uint64, len(n.kinds))
	for kind, count := range n.kinds {
		minted[kindName(kind, names[kind.Name()] > 1)] = count.Load()
	}
	return minted
}

func kindName(kind reflect.Type, ambiguous bool) string {
	if ambiguous || kind.Name() == "" {
		return kind.String()
	}
	return kind.Name()
}
