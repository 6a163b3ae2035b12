package gameid_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

// A wait ends with Close.
func TestWaitEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := open(t, newRegistry(), gameid.Options{})
		g := gameid.NewGenerator[player](n)
		ids := make([]gameid.Of[player], 1<<20)
		time.AfterFunc(301*time.Millisecond, func() { n.Close() })
		var err error
		for err == nil {
			err = g.Fill(ids)
		}
		if err != gameid.ErrClosed || n.Err() != gameid.ErrClosed || n.Stats().Lease != gameid.LeaseClosed || slices.ContainsFunc(ids, gameid.Of[player].IsValid) {
			t.Errorf("Close ended the wait with %v", err)
		}
		if _, err := g.Next(); err != gameid.ErrClosed {
			t.Errorf("Next after Close: %v", err)
		}
		<-n.Done()
	})
}

// A registry that answers slowly costs nothing as long as it answers within
// the window, and a hanging one does not block a caller for ever.
func TestSlowRegistry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		r.with(func(r *registry) { r.delay = 2 * time.Second })
		for range 1000 {
			time.Sleep(50 * time.Millisecond)
			start := time.Now()
			next(t, g)
			if time.Since(start) != 0 {
				t.Fatalf("Next took %s", time.Since(start))
			}
		}
		r.with(func(r *registry) { r.delay = time.Hour })
		time.Sleep(time.Minute)
		start := time.Now()
		if _, err := g.Next(); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 3*time.Second {
			t.Errorf("with a hanging registry: %v after %s", err, time.Since(start))
		}
	})
}

// Fail ends a wait for the registry at once.
func TestWaitEndsWithFail(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, clock, reason := newRegistry(), gameidtest.NewClock(), errors.New("the world runs elsewhere")
		n := open(t, r, gameid.Options{Clock: clock})
		g := gameid.NewGenerator[player](n)
		r.with(func(r *registry) { r.delay = 2 * time.Second })
		clock.Step(time.Minute)     // beyond all that is reserved
		time.Sleep(4 * time.Second) // the first renewal has begun
		time.AfterFunc(time.Second, func() { n.Fail(reason) })
		start := time.Now()
		if _, err := g.Next(); err != reason || time.Since(start) != time.Second {
			t.Errorf("Fail after 1s ended the wait after %s with %v", time.Since(start), err)
		}
	})
}
