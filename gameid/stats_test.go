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
		const delay = 2 * time.Second
		r := newRegistry()
		r.delay = delay
		n := open(t, r, gameid.Options{Lease: time.Minute})
		for range 2 {
			s, rec := n.Stats(), r.row(t)
			if s.LeaseLeft != time.Minute-delay || rec.LeaseUntil.Sub(rec.Now) != time.Minute {
				t.Errorf("the registry answers after %s; its lease lasts %s, ours %s", delay, rec.LeaseUntil.Sub(rec.Now), s.LeaseLeft)
			}
			time.Sleep(10*time.Second/3 + delay)
			synctest.Wait() // the first renewal is done
		}
	})
}
