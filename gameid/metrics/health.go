package metrics

import (
	"fmt"
	"log/slog"

	"mergesafe/gameid"
)

// Health returns nil while the node can make IDs, otherwise an error that says why it
// cannot: its lease expired, was lost or is closed, or it has used up the times that it
// reserved and the registry gives no more. Use it to answer a load balancer. A node whose
// registry cannot be reached is healthy for as long as it has reserved times left.
func Health(s gameid.Stats) error {
	switch {
	case s.Lease == gameid.LeaseHeld && (s.Left > 0 || s.LastFailure == nil):
		return nil
	case s.Lease == gameid.LeaseHeld:
		return fmt.Errorf("server %s has no reserved time left to make IDs: %w", s.Server, s.LastFailure)
	case s.LastFailure != nil:
		return fmt.Errorf("the lease of server %s is %s: %w", s.Server, s.Lease, s.LastFailure)
	}
	return fmt.Errorf("the lease of server %s is %s", s.Server, s.Lease)
}

// Attr returns s as a group of attributes with the key gameid, for a line in a
// log. Attributes of faults (the cause of a failure, a clock that is refused) are left
// out if there is none.
func Attr(s gameid.Stats) slog.Attr {
	var minted uint64
	for _, n := range s.Minted {
		minted += n
	}
	attrs := []any{
		slog.String("server", s.Server.String()), slog.String("lease", string(s.Lease)), slog.Uint64("minted", minted),
		slog.Duration("ahead", s.Ahead), slog.Duration("left", s.Left), slog.Duration("lease_left", s.LeaseLeft),
		slog.Uint64("renewals", s.Renewals), slog.Uint64("failures", s.Failures), slog.Uint64("waits", s.Waits), slog.Uint64("clock_steps", s.ClockSteps),
	}
	if s.LastFailure != nil {
		attrs = append(attrs, slog.String("last_failure", s.LastFailure.Error()))
	}
	if !s.RefusedClock.IsZero() {
		attrs = append(attrs, slog.Time("refused_clock", s.RefusedClock))
	}
	return slog.Group("gameid", attrs...)
}
