package gameidtest

import (
	"sync/atomic"
	"time"

	"mergesafe/gameid"
)

// Clock is the system clock with a wall clock that the test can step. It is
// right until Step is called.
type Clock struct {
	gameid.Clock
	offset atomic.Int64
}

// NewClock returns a clock that is right.
func NewClock() *Clock { return &Clock{Clock: gameid.SystemClock()} }

// Wall implements [gameid.Clock].
func (c *Clock) Wall() time.Time { return c.Clock.Wall().Add(time.Duration(c.offset.Load())) }

// Step moves the wall clock by d, forward or back.
func (c *Clock) Step(d time.Duration) { c.offset.Add(int64(d)) }
