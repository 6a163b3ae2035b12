package gameid_test

import (
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/gameid"
)

func TestStats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = 9 * time.Second
		n := open(t, newRegistry(), gameid.Options{Window: window})
		g := gameid.NewGenerator[player](n)
		next(t, g)
		// It begins at the end of the window, but for the 16 ms it waited.
		s := n.Stats()
		if s.Left != 15*time.Millisecond || s.Ahead != window-15*time.Millisecond || !s.Mark.Equal(time.Now().Add(window)) || !s.Newest.Equal(s.Mark.Add(-s.Left)) {
			t.Errorf("at the start: %+v", s)
		}
		time.Sleep(2 * window) // six renewals, the last one at this moment
		synctest.Wait()
		next(t, g)
		s = n.Stats()
		if s.Server != server || s.Lease != gameid.LeaseHeld || s.LeaseLeft != window*3/2 || s.Left != window ||
			!s.Mark.Equal(time.Now().Add(window)) || !s.Newest.Equal(time.Now()) || s.Ahead != 0 || s.Renewals != 7 {
			t.Errorf("%+v", s)
		}
		if s.LayoutYearsLeft < 555 || s.LayoutYearsLeft > 556 {
			t.Errorf("years left: %f", s.LayoutYearsLeft)
		}
		time.Sleep(time.Hour)
		if s := n.Stats(); s.Renewals < 1000 || s.Left < 6*time.Second || s.LeaseLeft < 10*time.Second {
			t.Errorf("after an hour: %+v", s)
		}
	})
}

// The lease counts from when it was asked for, and so never ends in the
// registry before it does in the Stats.
func TestLeaseLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const delay, window = 2 * time.Second, 40 * time.Second
		r := newRegistry()
		r.delay = delay
		n := open(t, r, gameid.Options{Window: window})
		for range 2 {
			s, rec := n.Stats(), r.row(t)
			if s.LeaseLeft != time.Minute-delay || rec.LeaseUntil.Sub(rec.Now) != time.Minute {
				t.Errorf("the registry answers after %s; its lease lasts %s, ours %s", delay, rec.LeaseUntil.Sub(rec.Now), s.LeaseLeft)
			}
			time.Sleep(window/3 + delay)
			synctest.Wait() // the first renewal is done
		}
	})
}

// While the machine sleeps, the time that it measures stands still, and its wall clock
// runs. Its lease ends nevertheless.
func TestLeaseEndsWhileTheMachineSleeps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := &sleeper{Clock: gameid.SystemClock()}
		n := open(t, newRegistry(), gameid.Options{Clock: clock})
		clock.sleep = clock.Elapsed()
		time.Sleep(3 * time.Second) // less than a renewal takes: a machine that sleeps makes none
		clock.ahead = time.Hour
		if s := n.Stats(); s.Lease != gameid.LeaseExpired || s.LeaseLeft != 0 {
			t.Errorf("after an hour's sleep the lease is %s, %s left", s.Lease, s.LeaseLeft)
		}
	})
}

// sleeper is a clock whose measure of time stands still.
type sleeper struct {
	gameid.Clock
	sleep, ahead time.Duration
}

func (s *sleeper) Wall() time.Time { return s.Clock.Wall().Add(s.ahead) }

func (s *sleeper) Elapsed() time.Duration {
	if s.sleep > 0 {
		return s.sleep
	}
	return s.Clock.Elapsed()
}
