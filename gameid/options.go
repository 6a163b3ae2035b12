package gameid

import (
	"cmp"
	"fmt"
	"time"
)

// Options tune a node. The zero value is right for almost every game.
type Options struct {
	// Window is how far ahead of the clock times are reserved, and so how long the
	// node can mint while the registry cannot be reached. Default 10 s, at least
	// 100 ms, at most a minute. Every node begins that far ahead of the clock, beyond every
	// time that a predecessor can have reserved; its clock catches up. So the first IDs may
	// have times that are Window ahead.
	//
	// The node renews its lease three times per Window. A process that stopped renewing
	// keeps others from starting as its server for one and a half times Window. A
	// call to the registry may take a quarter of it.
	//
	// The row in the registry keeps the largest Window that was used, and later nodes
	// use that one if theirs is smaller. If the registry loses the row, the value is
	// lost: do not lower Window when you restore a database.
	Window time.Duration

	// MaxSkew is by how much the wall clock may disagree with the registry's,
	// and how far in the future an old mark may be. Default 5 minutes, at least
	// twice Window: a process that crashes leaves a mark that is Window ahead of its
	// clock, and its successor's clock may be behind that. For an old mark, the limit
	// is at least twice the Window that counts.
	MaxSkew time.Duration

	// Clock replaces the clock of this machine. Such a clock is read for every ID; the
	// machine's own clock is read less often. Within a testing/synctest bubble, where
	// time is not the machine's, give [SystemClock].
	Clock Clock
}

// maxWindow is the largest Window. The row keeps it for good, and all later nodes
// begin that far ahead of their clocks: a mistake can leave no more than this.
const maxWindow = time.Minute

// withDefaults fills in what was left out, or says what cannot be.
func (o Options) withDefaults() (Options, error) {
	o.Window = cmp.Or(o.Window, 10*time.Second)
	o.MaxSkew = cmp.Or(o.MaxSkew, 5*time.Minute)
	switch {
	case o.Window < 100*time.Millisecond || o.Window > maxWindow:
		return o, fmt.Errorf("gameid: Options.Window is %s, want 100ms to %s", o.Window, maxWindow)
	case o.MaxSkew < 2*o.Window:
		return o, fmt.Errorf("gameid: Options.MaxSkew is %s, want at least twice Window (%s)", o.MaxSkew, 2*o.Window)
	}
	return o, nil
}

// lease is how long a lease lasts, and timeout how long a call to the registry may
// take: a renewal that fails can be tried again before the window ends.
func (o Options) lease() time.Duration   { return o.Window * 3 / 2 }
func (o Options) timeout() time.Duration { return o.Window / 4 }
