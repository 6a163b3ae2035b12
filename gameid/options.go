package gameid

import (
	"fmt"
	"time"
)

// Options tune a node. The zero value is right for almost every game.
type Options struct {
	// Window is how far ahead of the clock times are reserved, and so how long the
	// node can mint while the registry cannot be reached. Default 10 s, at least
	// 100 ms. Every node begins that far ahead of the clock, beyond every time that a
	// predecessor can have reserved; its clock catches up. So the first IDs may have
	// times that are Window ahead.
	//
	// The row in the registry keeps the largest Window that was used, and later nodes
	// use that one if theirs is smaller. If the registry loses the row, the value is
	// lost: do not lower Window when you restore a database.
	Window time.Duration

	// Ahead bounds how far a node that mints more than 65,536 IDs per
	// millisecond may run ahead of the clock before it waits. Default 1 s, at
	// most half of Window.
	Ahead time.Duration

	// Lease is how long a process that stopped renewing keeps others from starting
	// with its server number. Default 1.5 times Window, at least Window.
	Lease time.Duration

	// MaxSkew is by how much the wall clock may disagree with the registry's,
	// and how far in the future an old mark may be. Default 5 minutes, at least
	// twice Window: a process that crashes leaves a mark that is Window ahead of its
	// clock, and its successor's clock may be behind that. For an old mark, the limit
	// is at least twice the Window that counts.
	MaxSkew time.Duration

	// Timeout bounds each call to the registry. Default a quarter of Window.
	Timeout time.Duration

	// Clock replaces the clock of this machine. It is read for every ID; the
	// machine's own is not, see [Node]. Within a testing/synctest bubble, where
	// time is not the machine's, give [SystemClock].
	Clock Clock
}

// withDefaults fills in what was left out, or says what cannot be.
func (o Options) withDefaults() (Options, error) {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&o.Window, 10*time.Second)
	set(&o.Ahead, min(time.Second, o.Window/2))
	set(&o.Lease, o.Window*3/2)
	set(&o.MaxSkew, max(5*time.Minute, 2*o.Window))
	set(&o.Timeout, o.Window/4)
	switch {
	case o.Window < 100*time.Millisecond:
		return o, fmt.Errorf("gameid: Options.Window is %s, want at least 100ms", o.Window)
	case o.Ahead < time.Millisecond || o.Ahead > o.Window/2:
		return o, fmt.Errorf("gameid: Options.Ahead is %s, want 1ms to half of Window (%s)", o.Ahead, o.Window/2)
	case o.Lease < o.Window:
		return o, fmt.Errorf("gameid: Options.Lease is %s, want at least Window (%s)", o.Lease, o.Window)
	case o.MaxSkew < 2*o.Window:
		return o, fmt.Errorf("gameid: Options.MaxSkew is %s, want at least twice Window (%s)", o.MaxSkew, 2*o.Window)
	case o.Timeout < 0 || o.Timeout > o.Window/2:
		return o, fmt.Errorf("gameid: Options.Timeout is %s, want at most half of Window (%s)", o.Timeout, o.Window/2)
	}
	return o, nil
}
